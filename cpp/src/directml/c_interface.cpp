// The C interface: exceptions become statuses, their texts are kept for the thread that asks.
#include <cstdio>
#include <new>

#include "core/error.hpp"
#include "directml/compiled.hpp"
#include "dmlcpu/directml.hpp"
#include "dmlcpu/runtime.hpp"

struct dmlcpu_operator {
  dmlcpu::directml::AnyProgram program;
};

namespace dmlcpu::directml {
namespace {

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
    *compiled = new dmlcpu_operator{
        directml::compile(*desc, options == nullptr ? defaults : *options, naming)};
  });
}

dmlcpu_status detail::feature_level_required(const DML_OPERATOR_DESC* desc, Naming naming,
                                             DML_FEATURE_LEVEL* level) {
  return guarded([&] {
    check_given("desc", desc);
    check_given("level", level);
    *level = static_cast<DML_FEATURE_LEVEL>(required_level(*desc, naming));
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
    dmlcpu::directml::dispatch(compiled->program, inputs, input_count, outputs, output_count);
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
