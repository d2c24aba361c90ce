// Writing indices in the output's own type.
#pragma once

#include <cstdint>

#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// A tensor of uint32, int32, uint64 or int64. Signed and unsigned indices of a width have the same
/// bits, since none is negative and all were found to fit.
class IndexOutput {
 public:
  IndexOutput(DataType type, void* data, std::int64_t offset)
      : wide_(info(type).size == 8), data_(data), offset_(offset) {}

  /// Writes indices[i] to the element at offset + i * stride, for i in [0, count).
  void write(std::int64_t offset, std::int64_t stride, const std::int64_t* indices,
             std::int64_t count) const {
    write_each(offset, stride, count, [indices](std::int64_t i) { return indices[i]; });
  }

  /// The same for what index(i) returns.
  template <class Index>
  void write_each(std::int64_t offset, std::int64_t stride, std::int64_t count,
                  Index&& index) const {
    if (wide_) {
      write_as<std::int64_t>(offset, stride, count, index);
    } else {
      write_as<std::uint32_t>(offset, stride, count, index);
    }
  }

  std::int64_t read(std::int64_t offset) const {
    return wide_ ? static_cast<const std::int64_t*>(data_)[offset_ + offset]
                 : std::int64_t{static_cast<const std::uint32_t*>(data_)[offset_ + offset]};
  }

 private:
  template <class I, class Index>
  void write_as(std::int64_t offset, std::int64_t stride, std::int64_t count,
                const Index& index) const {
    I* to = static_cast<I*>(data_) + offset_ + offset;
    if (stride == 1) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<I>(index(i));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i * stride] = static_cast<I>(index(i));
    }
  }

  bool wide_;
  void* data_;
  std::int64_t offset_;
};

}  // namespace dmlcpu
