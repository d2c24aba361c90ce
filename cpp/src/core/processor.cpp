#include "core/processor.hpp"

#include <initializer_list>

#ifdef __x86_64__
#include <cpuid.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__linux__)
#include <fstream>
#include <string>
#endif

namespace dmlcpu {

#ifdef __x86_64__
namespace {

/// What the instruction cpuid tells; zeros of what it does not know. Source: the vendors' manuals.
struct Cpuid {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;

  explicit Cpuid(std::uint32_t leaf, std::uint32_t part = 0) {
    __get_cpuid_count(leaf, part, &a, &b, &c, &d);
  }
};

constexpr bool has_bits(std::uint32_t word, std::initializer_list<int> bits) {
  for (const int bit : bits) {
    if ((word >> bit & 1) == 0) return false;
  }
  return true;
}

/// The registers that the operating system saves: bit 1 those of SSE, 2 of AVX, 5 to 7 of AVX-512.
std::uint32_t saved_registers() {
  if (!has_bits(Cpuid(1).c, {27})) return 0;  // xgetbv may not be used
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// The level of x86-64 that is supported, 1 to 4, as far as kernels make use of it.
int level() {
  const Cpuid basic(1);
  const Cpuid extended(7);
  // SSSE3, SSE4.1, SSE4.2, POPCNT.
  if (!has_bits(basic.c, {9, 19, 20, 23})) return 1;
  const std::uint32_t saved = saved_registers();
  // FMA, AVX; BMI1, AVX2, BMI2.
  if (!has_bits(basic.c, {12, 28}) || !has_bits(extended.b, {3, 5, 8}) ||
      !has_bits(saved, {1, 2})) {
    return 2;
  }
  // AVX512F, DQ, CD, BW, VL.
  return has_bits(extended.b, {16, 17, 28, 30, 31}) && has_bits(saved, {5, 6, 7}) ? 4 : 3;
}

}  // namespace

bool is_amd() {
  const Cpuid vendor(0);
  return vendor.b == 0x68747541 && vendor.d == 0x69746e65 &&
         vendor.c == 0x444d4163;  // AuthenticAMD
}

bool has_isa(std::string_view name) {
  static const int supported = level();
  return (name == "x86-64-v2" && supported >= 2) || (name == "x86-64-v3" && supported >= 3) ||
         (name == "x86-64-v4" && supported >= 4);
}

Caches read_caches() {
  Caches caches;
  // One leaf describes a cache in each part, on Intel's processors and on AMD's.
  for (const std::uint32_t leaf : {0x4U, 0x8000001dU}) {
    for (std::uint32_t part = 0; caches.l2 == 0 || caches.l3 == 0; ++part) {
      const Cpuid cache(leaf, part);
      const std::uint32_t type = cache.a & 31;
      if (type == 0 || part == 16) break;
      const std::uint32_t of_level = cache.a >> 5 & 7;
      const std::int64_t bytes = ((cache.b >> 22) + std::int64_t{1}) *
                                 ((cache.b >> 12 & 1023) + 1) * ((cache.b & 4095) + 1) *
                                 (cache.c + std::int64_t{1});
      if (of_level == 2) caches.l2 = bytes;
      if (of_level == 3) caches.l3 = bytes;
    }
  }
  return caches;
}

#else

bool is_amd() { return false; }

bool has_isa(std::string_view name) { return name == "generic"; }

Caches read_caches() {
  Caches caches;
#if defined(__APPLE__)
  const auto bytes_of = [](const char* name) {
    std::int64_t bytes = 0;
    std::size_t size = sizeof bytes;
    return sysctlbyname(name, &bytes, &size, nullptr, 0) == 0 ? bytes : 0;
  };
  caches.l2 = bytes_of("hw.perflevel0.l2cachesize");
  caches.l3 = bytes_of("hw.l3cachesize");
#elif defined(__linux__)
  for (int number = 0; number < 8; ++number) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(number) + "/";
    int of_level = 0;
    std::int64_t kib = 0;
    std::ifstream(folder + "level") >> of_level;
    std::ifstream(folder + "size") >> kib;
    if (of_level == 2) caches.l2 = kib * 1024;
    if (of_level == 3) caches.l3 = kib * 1024;
  }
#endif
  return caches;
}

#endif

}  // namespace dmlcpu
