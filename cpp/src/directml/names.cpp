#include "directml/names.hpp"

#include <algorithm>

namespace dmlcpu::directml {

std::string data_type_name(std::uint32_t type) {
  return type < detail::kDataTypeEnd ? detail::kDataTypes[type].name : std::to_string(type);
}

bool find_data_type(std::uint32_t type, DataType* found) {
  if (type >= detail::kDataTypeEnd) return false;
  const std::string name = detail::plain_name(detail::kDataTypes[type]);
  const auto* const same = std::find_if(std::begin(kDataTypeInfo), std::end(kDataTypeInfo),
                                        [&name](const auto& info) { return info.name == name; });
  if (same == std::end(kDataTypeInfo)) return false;
  *found = static_cast<DataType>(same - std::begin(kDataTypeInfo));
  return true;
}

std::string level_name(Level level) { return text(level >> 12, ".", level >> 8 & 15); }

std::string enumerator_text(const Enumerator& enumerator) {
  return text(enumerator.name, " (", enumerator.value, ")");
}

void Alternatives::add(const std::string& text) {
  if (!last_.empty()) first_ += (first_.empty() ? "" : ", ") + last_;
  last_ = text;
}

}  // namespace dmlcpu::directml
