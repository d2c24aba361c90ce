// Reading operator descriptors: every rule of the operators' references, then the library's own
// descriptors.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "directml/names.hpp"
#include "dmlcpu/operators.hpp"

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

/// An operator's descriptor: its fields, by name, and the feature level that what was read needs.
struct Reader {
  const detail::Operator& op;
  const void* desc;
  Naming naming;
  Level required = op.appears;
  // What needs that level: the operator itself, this tensor's data type, or, where `types` is
  // null, its number of dimensions.
  TensorDesc tensor{};
  const detail::TypeLevels* types = nullptr;

  /// The field's value; `otherwise` where the operator has no such field.
  template <class T = std::uint32_t>
  T get(Field field, T otherwise = {}) const {
    for (const detail::FieldAt& at : op.fields) {
      if (at.field != field) continue;
      std::memcpy(static_cast<void*>(&otherwise), static_cast<const char*>(desc) + at.offset,
                  sizeof(T));
      break;
    }
    return otherwise;
  }

  const char* name(Field field) const { return name_of(field, naming); }

  /// The direction, `otherwise` where the operator has no such field. Throws ValueError for a
  /// number that is no direction's.
  AxisDirection axis_direction(std::uint32_t otherwise) const {
    const std::uint32_t direction = get(Field::kAxisDirection, otherwise);
    check_enumerator(name(Field::kAxisDirection), direction, detail::kDirections);
    return static_cast<AxisDirection>(direction);
  }

  /// Finds the level that a tensor needs. Throws ValueError for what no level has.
  void check_level(const TensorDesc& of, const detail::TypeLevels& its_types);

  /// Throws FeatureLevelError when the target is an older level, ValueError when it is none.
  void check_target(Level target) const;
};

/// The tensors whose memory a dispatch brings: inputs first, then outputs, in the order of
/// DirectML's fields.
struct Tensors {
  std::array<TensorDesc, 3> tensors{};
  std::uint32_t input_count = 0;
  std::uint32_t output_count = 0;
};

/// A descriptor without memory, and its tensors. Options that DirectML does not have are the
/// default.
template <class Descriptor>
struct Described : Tensors {
  Descriptor descriptor;
};

/// Each throws ValueError that names the field and its rule.
Described<ArgDescriptor> read_arg(Reader& fields);
Described<TopKDescriptor> read_top_k(Reader& fields);
Described<GatherNdDescriptor> read_gather_nd(Reader& fields);

}  // namespace dmlcpu::directml
