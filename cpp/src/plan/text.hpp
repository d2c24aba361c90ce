// Texts of plans, for tests and for people.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/text.hpp"

namespace dmlcpu {

/// Writes the first `size` characters and returns how many there are: callers' standard library may
/// not be this one's.
inline std::size_t copy_text(const std::string& from, char* to, std::size_t size) {
  from.copy(to, std::min(size, from.size()));
  return from.size();
}

}  // namespace dmlcpu
