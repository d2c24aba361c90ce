// Reading DML_TENSOR_DESC, with every rule that concerns one tensor alone.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "directml/names.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu::directml {

/// A tensor as a descriptor has it.
struct TensorDesc {
  const char* name = "";  ///< the descriptor's field: "InputTensor"
  Naming naming{};
  std::uint32_t dml_type = 0;   ///< DML_TENSOR_DATA_TYPE
  Tensor layout;                ///< without its memory
  std::int64_t used_bytes = 0;  ///< from its first element to its last one's end
};

/// Throws ValueError for a broken rule of the tensor in this field of an operator's descriptor.
/// Feature levels are not looked at.
TensorDesc read_tensor(Field name, Naming naming, const DML_TENSOR_DESC* desc);

/// "InputTensor.Sizes".
std::string field(const TensorDesc& tensor, Field name);

}  // namespace dmlcpu::directml
