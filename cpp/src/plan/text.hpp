// Texts of plans, for tests and for people.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

namespace dmlcpu {

/// Texts and numbers, one after the other.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream all;
  (all << ... << parts);
  return all.str();
}

/// Writes the first `size` characters and returns how many there are: callers' standard library may
/// not be this one's.
inline std::size_t copy_text(const std::string& from, char* to, std::size_t size) {
  from.copy(to, std::min(size, from.size()));
  return from.size();
}

}  // namespace dmlcpu
