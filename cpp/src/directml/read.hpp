// Reading operator descriptors: every rule of the operators' references, then the library's own
// descriptors.
#pragma once

#include <array>
#include <cstring>

#include "directml/feature_levels.hpp"
#include "directml/tensor_desc.hpp"
#include "dmlcpu/operators.hpp"

namespace dmlcpu::directml {

/// The fields of an operator's descriptor, by name.
struct Fields {
  const detail::Operator& op;
  const void* desc;
  Naming naming;

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

/// Each throws ValueError that names the field and its rule; the level it needs is in `levels`.
Described<ArgDescriptor> read_arg(const Fields& fields, LevelCheck& levels);
Described<TopKDescriptor> read_top_k(const Fields& fields, LevelCheck& levels);
Described<GatherNdDescriptor> read_gather_nd(const Fields& fields, LevelCheck& levels);

}  // namespace dmlcpu::directml
