// Memory that shows what is written outside of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cases {

constexpr char kGuard = 0x5a;
constexpr std::int64_t kGuardBytes = 192;

/// Bytes between guards, aligned to 64 bytes.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes)
      : bytes_(bytes), memory_(static_cast<std::size_t>(bytes + 3 * kGuardBytes), kGuard) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    first_ = memory_.data() + kGuardBytes + (64 - address % 64) % 64;
  }
  char* data() { return first_; }
  bool is_intact() const {
    const auto is_guard = [](char byte) { return byte == kGuard; };
    return std::all_of(memory_.data(), static_cast<const char*>(first_), is_guard) &&
           std::all_of(static_cast<const char*>(first_) + bytes_, memory_.data() + memory_.size(),
                       is_guard);
  }

 private:
  std::int64_t bytes_;
  std::vector<char> memory_;
  char* first_;
};

}  // namespace cases
