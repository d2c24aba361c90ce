// Texts of plans, for tests and for people.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace dmlcpu {

/// Texts and numbers, one after the other.
inline void append(std::string& to, const std::string& text) { to += text; }
inline void append(std::string& to, std::int64_t number) { to += std::to_string(number); }
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  (append(all, parts), ...);
  return all;
}

/// Writes the first `size` characters and returns how many there are: callers' standard library may
/// not be this one's.
inline std::size_t copy_text(const std::string& from, char* to, std::size_t size) {
  from.copy(to, std::min(size, from.size()));
  return from.size();
}

}  // namespace dmlcpu
