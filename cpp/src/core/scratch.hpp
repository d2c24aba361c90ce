// Memory that a call needs only while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "core/text.hpp"
#include "core/tuning.hpp"

namespace dmlcpu {

/// Cache-line aligned bytes, on the stack if they are at most kScratchStackBytes.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes)
      : bytes_(bytes <= tuning::kScratchStackBytes
                   ? few_
                   : static_cast<char*>(::operator new(static_cast<std::size_t>(bytes),
                                                       std::align_val_t{kAlignment}))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (bytes_ != few_) ::operator delete(bytes_, std::align_val_t{kAlignment});
  }
  char* at(std::int64_t offset) const { return bytes_ + offset; }

 private:
  static constexpr std::size_t kAlignment = 64;

  alignas(kAlignment) char few_[tuning::kScratchStackBytes];
  char* bytes_;
};

/// Scratch memory in a plan's text.
inline std::string scratch_text(std::int64_t bytes) { return text("scratch ", bytes, " bytes\n"); }

}  // namespace dmlcpu
