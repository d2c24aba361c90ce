// Memory that a call needs only while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "core/text.hpp"
#include "core/tuning.hpp"

namespace dmlcpu {

/// Cache-line aligned bytes, on the stack if they are at most kStackBytes.
template <std::int64_t kStackBytes>
class BasicScratch {
 public:
  explicit BasicScratch(std::int64_t bytes)
      : bytes_(bytes <= kStackBytes
                   ? few_
                   : static_cast<char*>(::operator new(static_cast<std::size_t>(bytes),
                                                       std::align_val_t{kAlignment}))) {}
  BasicScratch(const BasicScratch&) = delete;
  BasicScratch& operator=(const BasicScratch&) = delete;
  ~BasicScratch() {
    if (bytes_ != few_) ::operator delete(bytes_, std::align_val_t{kAlignment});
  }
  char* at(std::int64_t offset) const { return bytes_ + offset; }

 private:
  static constexpr std::size_t kAlignment = 64;

  alignas(kAlignment) char few_[kStackBytes];
  char* bytes_;
};

using Scratch = BasicScratch<tuning::kScratchStackBytes>;
/// Where it is large anyway, and the stack has other use for the bytes.
using LargeScratch = BasicScratch<64>;

/// The row of a plan's text.
inline std::string scratch_text(std::int64_t bytes) { return text("scratch ", bytes, " bytes\n"); }

}  // namespace dmlcpu
