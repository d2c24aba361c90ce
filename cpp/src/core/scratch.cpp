#include "core/scratch.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace dmlcpu {
namespace {

/// Asks the system to back whole pages among these bytes by huge ones, which it may do or not. As
/// with NumPy's arrays it remembers that for memory that is reused later.
void ask_for_huge_pages([[maybe_unused]] char* bytes, [[maybe_unused]] std::int64_t count) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const auto before = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(bytes) %
                                                static_cast<std::uintptr_t>(page));
  const std::int64_t skipped = before == 0 ? 0 : page - before;
  const std::int64_t whole = (count - skipped) / page * page;
  madvise(bytes + skipped, static_cast<std::size_t>(whole), MADV_HUGEPAGE);
#endif
}

}  // namespace

char* Scratch::allocate(std::int64_t bytes) {
  void* const memory =
      ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{kAlignment});
  auto* const allocated = static_cast<char*>(memory);
  if (bytes >= tuning::kScratchHugePageBytes) ask_for_huge_pages(allocated, bytes);
  return allocated;
}

void Scratch::release(char* bytes) { ::operator delete(bytes, std::align_val_t{kAlignment}); }

}  // namespace dmlcpu
