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
///
/// Others are aligned here, not by operator new: what glibc before 2.38 frees of aligned memory is
/// too small for the next call's, which then takes other pages, and the system clears them first.
class Scratch {
 public:
  static constexpr std::size_t kAlignment = 64;
  /// What is allocated besides, to align the rest.
  static constexpr std::size_t kSlack = kAlignment - __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  explicit Scratch(std::int64_t bytes)
      : allocated_(bytes <= tuning::kScratchStackBytes
                       ? nullptr
                       : ::operator new(static_cast<std::size_t>(bytes) + kSlack)) {
    if (allocated_ == nullptr) return;
    const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(allocated_) % kAlignment;
    bytes_ = static_cast<char*>(allocated_) + (kAlignment - past) % kAlignment;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete(allocated_); }
  char* at(std::int64_t offset) const { return bytes_ + offset; }

 private:
  alignas(kAlignment) char few_[tuning::kScratchStackBytes];
  char* bytes_ = few_;
  void* allocated_;
};

/// Scratch memory in a plan's text.
inline std::string scratch_text(std::int64_t bytes) { return text("scratch ", bytes, " bytes\n"); }

}  // namespace dmlcpu
