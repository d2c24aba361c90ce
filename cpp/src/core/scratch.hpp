// Memory that a call needs only while it runs.
#pragma once

#include <cstdint>

#include "core/tuning.hpp"

namespace dmlcpu {

/// Cache-line aligned bytes: on the stack if they are few, in huge pages if they are many and the
/// system has them.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes)
      : bytes_(bytes <= tuning::kScratchStackBytes ? few_ : allocate(bytes)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (bytes_ != few_) release(bytes_);
  }
  char* at(std::int64_t offset) const { return bytes_ + offset; }

 private:
  static constexpr std::int64_t kAlignment = 64;
  static char* allocate(std::int64_t bytes);
  static void release(char* bytes);

  alignas(kAlignment) char few_[tuning::kScratchStackBytes];
  char* bytes_;
};

}  // namespace dmlcpu
