// The C interface: compiled operators, which are read, planned, and dispatched on memory of the
// caller. Exceptions become statuses, their texts are kept for the thread that asks.
#include <cstdio>
#include <functional>
#include <new>
#include <type_traits>

#include "core/error.hpp"
#include "directml/read.hpp"
#include "dmlcpu/directml.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"
#include "ops/planned.hpp"
#include "ops/validate.hpp"

/// `run` runs it on valid memory.
struct dmlcpu_operator {
  dmlcpu::directml::Tensors tensors;
  std::function<void(const dmlcpu_input* inputs, const dmlcpu_output* outputs)> run;
};

namespace dmlcpu::directml {
namespace {

/// Calls use(described, reader) with what the operator's reader makes of the descriptor.
template <class Use>
auto with_described(const DML_OPERATOR_DESC& desc, Naming naming, Use&& use) {
  const detail::Operator& op =
      check_enumerator(name_of(Field::kType, naming), number(desc.Type), detail::kOperators);
  check_given(name_of(Field::kDesc, naming), desc.Desc);
  Reader reader{op, desc.Desc, naming};
  switch (op.family) {
    case detail::Family::kArg:
      return use(read_arg(reader), reader);
    case detail::Family::kTopK:
      return use(read_top_k(reader), reader);
    default:
      return use(read_gather_nd(reader), reader);
  }
}

constexpr Enumerator kNanPolicies[] = {{"OMIT", DMLCPU_NAN_OMIT},
                                       {"PROPAGATE", DMLCPU_NAN_PROPAGATE}};
constexpr Enumerator kIndexModes[] = {{"CLIP", DMLCPU_INDEX_CLIP}, {"RAISE", DMLCPU_INDEX_RAISE}};

void check_options(const dmlcpu_compile_options& options) {
  // First: a struct of another size may have other fields.
  if (options.struct_size != sizeof options) {
    fail<ValueError>("struct_size",
                     text("must be ", sizeof options,
                          " (sizeof(dmlcpu_compile_options), see DMLCPU_COMPILE_OPTIONS_INIT)"),
                     options.struct_size);
  }
  check_enumerator("nan_policy", number(options.nan_policy), kNanPolicies);
  check_enumerator("index_mode", number(options.index_mode), kIndexModes);
}

auto runner(const Described<ArgDescriptor>& of) {
  return [descriptor = of.descriptor, planned = plan(of.descriptor)](const dmlcpu_input* inputs,
                                                                     const dmlcpu_output* outputs) {
    run_planned(descriptor, planned, inputs[0].data, outputs[0].data);
  };
}
auto runner(const Described<TopKDescriptor>& of) {
  return [descriptor = of.descriptor, planned = plan(of.descriptor)](const dmlcpu_input* inputs,
                                                                     const dmlcpu_output* outputs) {
    run_planned(descriptor, planned, inputs[0].data, outputs[0].data, outputs[1].data);
  };
}
auto runner(const Described<GatherNdDescriptor>& of) {
  return [descriptor = of.descriptor, planned = plan(of.descriptor), name = of.tensors[1].name](
             const dmlcpu_input* inputs, const dmlcpu_output* outputs) {
    run_planned(descriptor, planned, inputs[0].data, inputs[1].data, outputs[0].data, name);
  };
}

void check_count(const char* name, std::uint32_t count, const void* buffers, std::uint32_t needed) {
  if (count != needed) fail<ValueError>(name, text("must be ", needed), count);
  check_given(name, buffers);
}

void check_memory(const TensorDesc& tensor, const void* data, std::uint64_t size) {
  if (size < static_cast<std::uint64_t>(tensor.used_bytes)) {
    fail<ValueError>(tensor.name,
                     text("must have the ", tensor.used_bytes, " bytes up to its last element"),
                     size);
  }
  check_pointer(tensor.name, tensor.layout.type, data);
}

/// Sizes and strides only tell whether tensors overlap where their bounds do.
void check_disjoint(const TensorDesc& output, void* data, const TensorDesc& other,
                    const void* other_data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto other_begin = reinterpret_cast<std::uintptr_t>(other_data);
  if (begin + static_cast<std::uint64_t>(output.used_bytes) <= other_begin ||
      other_begin + static_cast<std::uint64_t>(other.used_bytes) <= begin) {
    return;
  }
  Tensor tensor = output.layout;
  tensor.data = data;
  ConstTensor other_tensor = as_const(other.layout);
  other_tensor.data = other_data;
  check_disjoint(output.name, tensor, other.name, other_tensor);
}

void check_memory(const Tensors& needed, const dmlcpu_input* inputs, std::uint32_t input_count,
                  const dmlcpu_output* outputs, std::uint32_t output_count) {
  check_count("inputs", input_count, inputs, needed.input_count);
  check_count("outputs", output_count, outputs, needed.output_count);
  const TensorDesc* const input = needed.tensors.data();
  const TensorDesc* const output = input + input_count;
  for (std::uint32_t i = 0; i < input_count; ++i) {
    check_memory(input[i], inputs[i].data, inputs[i].size_in_bytes);
  }
  for (std::uint32_t o = 0; o < output_count; ++o) {
    check_memory(output[o], outputs[o].data, outputs[o].size_in_bytes);
    for (std::uint32_t i = 0; i < input_count; ++i) {
      check_disjoint(output[o], outputs[o].data, input[i], inputs[i].data);
    }
    for (std::uint32_t before = 0; before < o; ++before) {
      check_disjoint(output[o], outputs[o].data, output[before], outputs[before].data);
    }
  }
}

// Without a destructor: one that a thread has yet to run keeps a plugin from being unloaded.
thread_local char message[1024] = "";

dmlcpu_status failed(dmlcpu_status status, const char* text) noexcept {
  std::snprintf(message, sizeof message, "%s", text);
  return status;
}

/// Calls body(): DMLCPU_OK if it returns, the status of what it throws otherwise.
template <class Body>
dmlcpu_status guarded(Body&& body) noexcept {
  try {
    body();
    return DMLCPU_OK;
  } catch (const FeatureLevelError& error) {
    return failed(DMLCPU_FEATURE_LEVEL, error.what());
  } catch (const ValueError& error) {
    return failed(DMLCPU_INVALID_VALUE, error.what());
  } catch (const IndexError& error) {
    return failed(DMLCPU_INDEX_OUT_OF_RANGE, error.what());
  } catch (const std::bad_alloc&) {
    return failed(DMLCPU_OUT_OF_MEMORY, "memory: must suffice, got none");
  } catch (const std::exception& error) {
    return failed(DMLCPU_INTERNAL_ERROR, error.what());
  } catch (...) {
    return failed(DMLCPU_INTERNAL_ERROR, "an unknown exception");
  }
}

}  // namespace

dmlcpu_status detail::compile(const DML_OPERATOR_DESC* desc, const dmlcpu_compile_options* options,
                              Naming naming, dmlcpu_operator** compiled) {
  if (compiled != nullptr) *compiled = nullptr;
  return guarded([&] {
    check_given("desc", desc);
    check_given("compiled", static_cast<const void*>(compiled));
    const dmlcpu_compile_options defaults = DMLCPU_COMPILE_OPTIONS_INIT;
    const dmlcpu_compile_options& own = options == nullptr ? defaults : *options;
    check_options(own);
    kernels();  // throws for an instruction set that this machine lacks; dispatching should not
    *compiled = with_described(*desc, naming, [&own](auto described, const Reader& reader) {
      const Level level = number(own.feature_level);
      reader.check_target(level == 0 ? detail::kNewestLevel : level);
      auto& descriptor = described.descriptor;
      if constexpr (std::is_same_v<decltype(descriptor), GatherNdDescriptor&>) {
        const bool clips = own.index_mode == DMLCPU_INDEX_CLIP;
        descriptor.mode = clips ? IndexMode::kClip : IndexMode::kRaise;
      } else {
        const bool omits = own.nan_policy == DMLCPU_NAN_OMIT;
        descriptor.nan_policy = omits ? NanPolicy::kOmit : NanPolicy::kPropagate;
      }
      return new dmlcpu_operator{described, runner(described)};
    });
  });
}

dmlcpu_status detail::feature_level_required(const DML_OPERATOR_DESC* desc, Naming naming,
                                             DML_FEATURE_LEVEL* level) {
  return guarded([&] {
    check_given("desc", desc);
    check_given("level", level);
    *level = static_cast<DML_FEATURE_LEVEL>(with_described(
        *desc, naming, [](const auto&, const Reader& reader) { return reader.required; }));
  });
}

}  // namespace dmlcpu::directml

using dmlcpu::directml::check_given;
using dmlcpu::directml::guarded;
using dmlcpu::directml::Naming;

dmlcpu_status dmlcpu_compile(const DML_OPERATOR_DESC* desc, const dmlcpu_compile_options* options,
                             dmlcpu_operator** compiled) {
  return dmlcpu::directml::detail::compile(desc, options, Naming::kDirectMl, compiled);
}

dmlcpu_status dmlcpu_feature_level_required(const DML_OPERATOR_DESC* desc,
                                            DML_FEATURE_LEVEL* level) {
  return dmlcpu::directml::detail::feature_level_required(desc, Naming::kDirectMl, level);
}

dmlcpu_status dmlcpu_dispatch(const dmlcpu_operator* compiled, const dmlcpu_input* inputs,
                              uint32_t input_count, const dmlcpu_output* outputs,
                              uint32_t output_count) {
  return guarded([&] {
    check_given("compiled", static_cast<const void*>(compiled));
    dmlcpu::directml::check_memory(compiled->tensors, inputs, input_count, outputs, output_count);
    compiled->run(inputs, outputs);
  });
}

void dmlcpu_release(dmlcpu_operator* compiled) { delete compiled; }

uint64_t dmlcpu_buffer_tensor_size(DML_TENSOR_DATA_TYPE data_type, uint32_t dimension_count,
                                   const uint32_t* sizes, const uint32_t* strides) {
  dmlcpu::DataType type{};
  if (!dmlcpu::directml::find_data_type(dmlcpu::directml::number(data_type), &type)) return 0;
  const uint64_t element_size = dmlcpu::info(type).size;
  uint64_t bytes = element_size + 3;  // capacity for rounding up
  uint64_t stride = element_size;     // bytes from one to the next of this dimension
  bool fits = true;
  for (uint32_t d = dimension_count; d-- > 0;) {
    if (sizes[d] == 0) return 0;
    uint64_t steps = strides == nullptr ? stride : strides[d] * element_size;
    fits = !__builtin_mul_overflow(steps, sizes[d] - uint64_t{1}, &steps) && fits;
    fits = !__builtin_add_overflow(bytes, steps, &bytes) && fits;
    stride *= sizes[d];  // a product that wraps is of no use, but then so does `bytes`
  }
  return fits ? bytes / 4 * 4 : UINT64_MAX;
}

dmlcpu_status dmlcpu_set_num_threads(int count) {
  return guarded([&] { dmlcpu::set_num_threads(count); });
}

dmlcpu_status dmlcpu_use_instruction_set(const char* name) {
  return guarded([&] {
    check_given("name", name);
    dmlcpu::use_instruction_set(name);
  });
}

const char* dmlcpu_message(void) { return dmlcpu::directml::message; }

int dmlcpu_version(void) { return DMLCPU_VERSION; }
