// Building texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace dmlcpu {

/// Texts and integers, one after the other; whatever the program's locale, without separators.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  const auto add = [&all](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
      all += std::to_string(part);
    } else {
      all += part;
    }
  };
  (add(parts), ...);
  return all;
}

/// Writes the first `size` characters and returns how many there are: callers' standard library may
/// not be this one's.
inline std::size_t copy_text(const std::string& from, char* to, std::size_t size) {
  from.copy(to, std::min(size, from.size()));
  return from.size();
}

}  // namespace dmlcpu
