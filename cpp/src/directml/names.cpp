#include "directml/names.hpp"

namespace dmlcpu::directml {

std::string data_type_name(std::uint32_t type) {
  return type < detail::kDataTypeEnd ? detail::kDataTypes[type].name : std::to_string(type);
}

bool find_data_type(std::uint32_t type, DataType* found) {
  if (type >= detail::kDataTypeEnd) return false;
  const std::string name = detail::plain_name(detail::kDataTypes[type]);
  for (int i = 0; i < kDataTypeCount; ++i) {
    *found = static_cast<DataType>(i);
    if (info(*found).name == name) return true;
  }
  return false;
}

std::string level_name(Level level) { return text(level >> 12, ".", level >> 8 & 15); }

}  // namespace dmlcpu::directml
