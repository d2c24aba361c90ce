// Writing indices in the output's own type.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dmlcpu {

/// Writes index(i) to element i * stride of an output of uint32, int32, uint64 or int64, for i in
/// [0, count). Signed and unsigned indices of a width have the same bits, since none is negative
/// and all were found to fit.
template <class Index>
void write_indices(void* to, std::int64_t index_size, std::int64_t stride, std::int64_t count,
                   const Index& index) {
  const auto write = [&](auto* out) {
    using I = std::remove_reference_t<decltype(*out)>;
    if (stride == 1) {
      for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<I>(index(i));
    } else {
      for (std::int64_t i = 0; i < count; ++i) out[i * stride] = static_cast<I>(index(i));
    }
  };
  if (index_size == 8) {
    write(static_cast<std::uint64_t*>(to));
  } else {
    write(static_cast<std::uint32_t*>(to));
  }
}

}  // namespace dmlcpu
