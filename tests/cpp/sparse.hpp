// More bytes of address space than of memory.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#include <cstddef>

#include "check.hpp"

namespace cases {

/// Address space of this size. A byte has memory once use_sparse() was called for it.
inline char* sparse_memory(std::size_t bytes) {
#ifdef _WIN32
  void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_READWRITE);
  CHECK(memory != nullptr);
#else
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
#endif
  return static_cast<char*>(memory);
}

inline char& use_sparse(char* byte) {
#ifdef _WIN32
  CHECK(VirtualAlloc(byte, 1, MEM_COMMIT, PAGE_READWRITE) != nullptr);
#endif
  return *byte;
}

}  // namespace cases
