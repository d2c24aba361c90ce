// Building texts.
#pragma once

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

}  // namespace dmlcpu
