// DirectML's enumerators, as numbers and as texts without their prefix.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "dmlcpu/data_type.hpp"
#include "dmlcpu/directml_descriptors.h"

namespace dmlcpu::directml {

/// The number in an enum's memory, which may be none of its enumerators: reading it as the enum
/// would be undefined.
template <class Enum>
std::uint32_t number(const Enum& value) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(std::uint32_t));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Data types of DirectML are numbers below this, of which 0 is none.
inline constexpr std::uint32_t kDataTypeEnd = DML_TENSOR_DATA_TYPE_INT4 + 1;

/// "FLOAT32", or the number of what is none.
std::string data_type_name(std::uint32_t type);

/// The library's type for one of DirectML's, of which two have none.
bool find_data_type(std::uint32_t type, DataType* found);

/// "ARGMAX", null for an operator that is none of ours.
const char* operator_name(std::uint32_t type);

/// "4.1" for 0x4100.
std::string level_name(std::uint32_t level);

}  // namespace dmlcpu::directml
