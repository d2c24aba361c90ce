// What errors call DirectML's fields and enumerators.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "core/error.hpp"
#include "dmlcpu/data_type.hpp"
#include "dmlcpu/directml_table.hpp"

namespace dmlcpu::directml {

using detail::Enumerator;
using detail::Field;
using detail::Level;
using detail::name_of;
using detail::Naming;

/// The number in an enum's memory, which may be none of its enumerators: reading it as the enum
/// would be undefined.
template <class Enum>
std::uint32_t number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(std::uint32_t));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// "FLOAT32", or the number of what is none.
std::string data_type_name(std::uint32_t type);

/// The library's type for one of DirectML's, if it has one.
bool find_data_type(std::uint32_t type, DataType* found);

/// "4.1" for 0x4100.
std::string level_name(Level level);

/// The texts with commas between them, and "or" before the last.
class Alternatives {
 public:
  void add(const std::string& text) {
    if (!last_.empty()) first_ += (first_.empty() ? "" : ", ") + last_;
    last_ = text;
  }
  std::string text() const { return first_.empty() ? last_ : first_ + " or " + last_; }

 private:
  std::string first_;
  std::string last_;
};

/// Throws ValueError for null.
inline void check_given(const char* name, const void* pointer) {
  if (pointer == nullptr) fail<ValueError>(name, "must be given", "null");
}

/// The enumerator of that value. Throws ValueError for a number that is none's.
template <class Each, std::size_t kCount>
const Each& check_enumerator(const std::string& name, std::uint32_t value,
                             const Each (&enumerators)[kCount]) {
  Alternatives all;
  for (const Each& each : enumerators) {
    if (each.value == value) return each;
    all.add(text(each.name, " (", each.value, ")"));
  }
  fail<ValueError>(name, "must be " + all.text(), value);
}

}  // namespace dmlcpu::directml
