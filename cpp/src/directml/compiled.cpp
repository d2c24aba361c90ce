#include "directml/compiled.hpp"

#include <string>
#include <type_traits>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"

namespace dmlcpu::directml {
namespace {

/// Calls use(described, levels) with what the operator's reader makes of the descriptor.
template <class Use>
auto with_described(const DML_OPERATOR_DESC& desc, Naming naming, Use&& use) {
  const std::uint32_t type = number(desc.Type);
  const detail::Operator* const op = detail::find_operator(type);
  if (op == nullptr) {
    Alternatives types;
    for (const detail::Operator& each : detail::kOperators) types.add(enumerator_text(each.type));
    fail<ValueError>(name_of(Field::kType, naming), "must be " + types.text(), type);
  }
  check_given(name_of(Field::kDesc, naming), desc.Desc);
  const Fields fields{*op, desc.Desc, naming};
  LevelCheck levels(*op, naming);
  switch (op->family) {
    case detail::Family::kArg:
      return use(read_arg(fields, levels), levels);
    case detail::Family::kTopK:
      return use(read_top_k(fields, levels), levels);
    default:
      return use(read_gather_nd(fields, levels), levels);
  }
}

struct Options {
  NanPolicy nan_policy;
  IndexMode index_mode;
};

constexpr Enumerator kNanPolicies[] = {{"OMIT", DMLCPU_NAN_OMIT},
                                       {"PROPAGATE", DMLCPU_NAN_PROPAGATE}};
constexpr Enumerator kIndexModes[] = {{"CLIP", DMLCPU_INDEX_CLIP}, {"RAISE", DMLCPU_INDEX_RAISE}};

Options read_options(const dmlcpu_compile_options& options) {
  // First: a struct of another size may have other fields.
  if (options.struct_size != sizeof options) {
    fail<ValueError>("struct_size",
                     text("must be ", sizeof options,
                          " (sizeof(dmlcpu_compile_options), see DMLCPU_COMPILE_OPTIONS_INIT)"),
                     options.struct_size);
  }
  const auto nan_policy = check_enumerator("nan_policy", number(options.nan_policy), kNanPolicies);
  const auto index_mode = check_enumerator("index_mode", number(options.index_mode), kIndexModes);
  return {nan_policy == DMLCPU_NAN_OMIT ? NanPolicy::kOmit : NanPolicy::kPropagate,
          index_mode == DMLCPU_INDEX_CLIP ? IndexMode::kClip : IndexMode::kRaise};
}

void check_count(const char* name, std::uint32_t count, const void* buffers, std::uint32_t needed) {
  if (count != needed) fail<ValueError>(name, text("must be ", needed), count);
  check_given(name, buffers);
}

void check_memory(const TensorDesc& tensor, const void* data, std::uint64_t size) {
  if (size < static_cast<std::uint64_t>(tensor.used_bytes)) {
    fail<ValueError>(tensor.name,
                     text("must have the ", tensor.used_bytes, " bytes up to its last element"),
                     std::to_string(size));
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

template <class Descriptor>
void check_memory(const Described<Descriptor>& described, const dmlcpu_input* inputs,
                  std::uint32_t input_count, const dmlcpu_output* outputs,
                  std::uint32_t output_count) {
  check_count("inputs", input_count, inputs, described.input_count);
  check_count("outputs", output_count, outputs, described.output_count);
  const TensorDesc* const input = described.tensors.data();
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

void run_on(const Program<ArgDescriptor, ArgPlan>& program, const dmlcpu_input* inputs,
            const dmlcpu_output* outputs) {
  run_planned(program.described.descriptor, program.plan, inputs[0].data, outputs[0].data);
}
void run_on(const Program<TopKDescriptor, TopKProgram>& program, const dmlcpu_input* inputs,
            const dmlcpu_output* outputs) {
  run_planned(program.described.descriptor, program.plan, inputs[0].data, outputs[0].data,
              outputs[1].data);
}
void run_on(const Program<GatherNdDescriptor, GatherNdPlan>& program, const dmlcpu_input* inputs,
            const dmlcpu_output* outputs) {
  run_planned(program.described.descriptor, program.plan, inputs[0].data, inputs[1].data,
              outputs[0].data, program.described.tensors[1].name);
}

}  // namespace

AnyProgram compile(const DML_OPERATOR_DESC& desc, const dmlcpu_compile_options& options,
                   Naming naming) {
  const Options own = read_options(options);
  const Level level = number(options.feature_level);
  kernels();  // throws for an instruction set that this machine lacks; dispatching should not
  return with_described(
      desc, naming, [&own, level](auto described, const LevelCheck& levels) -> AnyProgram {
        levels.check_target(level == 0 ? detail::kNewestLevel : level);
        auto& descriptor = described.descriptor;
        if constexpr (std::is_same_v<decltype(descriptor), GatherNdDescriptor&>) {
          descriptor.mode = own.index_mode;
        } else {
          descriptor.nan_policy = own.nan_policy;
        }
        return Program<decltype(described.descriptor), decltype(plan(descriptor))>{
            described, plan(descriptor)};
      });
}

Level required_level(const DML_OPERATOR_DESC& desc, Naming naming) {
  return with_described(desc, naming,
                        [](const auto&, const LevelCheck& levels) { return levels.required(); });
}

void dispatch(const AnyProgram& any, const dmlcpu_input* inputs, std::uint32_t input_count,
              const dmlcpu_output* outputs, std::uint32_t output_count) {
  std::visit(
      [&](const auto& program) {
        check_memory(program.described, inputs, input_count, outputs, output_count);
        run_on(program, inputs, outputs);
      },
      any);
}

}  // namespace dmlcpu::directml
