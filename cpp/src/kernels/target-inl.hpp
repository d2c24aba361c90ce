// What every kernel file starts from.
//
// Kernel code is compiled once per instruction set, and the linker keeps one copy of each weak
// symbol for the whole program, from whichever it likes. So everything here lives in the
// instruction set's own namespace, unnamed inside, and std algorithms are only given types from
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "interface/tuning.hpp"
#include "kernels/kernel_table.hpp"

#ifndef DMLCPU_TARGET
#error "kernel sources are compiled by cmake/InstructionSets.cmake, which names the instruction set"
#endif

namespace dmlcpu {
DMLCPU_DECLARE_TARGET(DMLCPU_TARGET)
}  // namespace dmlcpu

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Bytes of a vector register.
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
constexpr std::int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::int64_t kVectorBytes = 32;
#else
constexpr std::int64_t kVectorBytes = 16;
#endif

/// Of numbers, or of vectors element by element. By themselves, not as selections by a mask that is
/// used again, so that compilers know them as minima and maxima.
template <class T>
constexpr T min_of(T a, T b) {
  return a < b ? a : b;
}

template <class T>
constexpr T max_of(T a, T b) {
  return a > b ? a : b;
}

template <class T>
constexpr auto kSizeOf = static_cast<std::int64_t>(sizeof(T));

/// A number that is known to compilers.
template <std::int64_t kNumber>
using Constant = std::integral_constant<std::int64_t, kNumber>;

#define DMLCPU_NOINLINE __attribute__((noinline))
#define DMLCPU_INLINE inline __attribute__((always_inline))

/// The integers of kBytes bytes.
template <int kBytes>
struct IntegersOf {
  using All = std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  using Signed = std::tuple_element_t<kBytes / 2 - kBytes / 8, All>;  // 0, 1, 2, 3 of 1, 2, 4, 8
  using Unsigned = std::make_unsigned_t<Signed>;
};

/// Prefetches a cache line that will be read soon; any address will do. To L1, or with kLocality 2
/// to L2: for what is read so much later that it would have left L1. To g++ a function that does
/// only this has no effect, and unless it is inlined early its calls go; an empty asm statement is
/// an effect.
template <int kLocality = 3>
void prefetch(const void* p) {
  __builtin_prefetch(p, 0, kLocality);
  __asm__ volatile("");
}

/// Keeps what was loaded in a register. Compilers may load it again for each of its uses, which
/// takes longer, and may give another value than the one that was checked if another thread writes.
template <class V>
V loaded(V v) {
#if defined(__SSE2__)
  __asm__("" : "+v"(v));
#elif defined(__aarch64__)
  __asm__("" : "+w"(v));
#endif
  return v;
}
inline std::int64_t loaded(std::int64_t v) {
  __asm__("" : "+r"(v));
  return v;
}

/// The highest bits of a vector's elements of kSize bytes: bit i is that of element i.
template <int kSize>
std::conditional_t<kVectorBytes == 64, std::uint64_t, std::uint32_t> high_bits(const void* vector) {
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
  const __m512i v = _mm512_loadu_si512(vector);
  if constexpr (kSize == 1) return _mm512_movepi8_mask(v);
  if constexpr (kSize == 2) return _mm512_movepi16_mask(v);
  if constexpr (kSize == 4) return _mm512_movepi32_mask(v);
  if constexpr (kSize == 8) return _mm512_movepi64_mask(v);
#elif defined(__AVX2__)
  const __m256i v = _mm256_loadu_si256(static_cast<const __m256i*>(vector));
  const auto halves = [v] {
    return _mm_packs_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  };
  if constexpr (kSize == 1) return _mm256_movemask_epi8(v);
  if constexpr (kSize == 2) return _mm_movemask_epi8(halves());
  if constexpr (kSize == 4) return _mm256_movemask_ps(_mm256_castsi256_ps(v));
  if constexpr (kSize == 8) return _mm256_movemask_pd(_mm256_castsi256_pd(v));
#elif defined(__SSE2__)
  const __m128i v = _mm_loadu_si128(static_cast<const __m128i*>(vector));
  if constexpr (kSize == 1) return _mm_movemask_epi8(v);
  if constexpr (kSize == 2) return _mm_movemask_epi8(_mm_packs_epi16(v, _mm_setzero_si128()));
  if constexpr (kSize == 4) return _mm_movemask_ps(_mm_castsi128_ps(v));
  if constexpr (kSize == 8) return _mm_movemask_pd(_mm_castsi128_pd(v));
#elif defined(__aarch64__)
  // Each element's bit of its byte of the sum; of bytes, the upper eight in the upper byte.
  if constexpr (kSize == 1) {
    constexpr std::int8_t kBits[] = {1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128};
    const int8x16_t bits =
        vandq_s8(vshrq_n_s8(vld1q_s8(static_cast<const std::int8_t*>(vector)), 7), vld1q_s8(kBits));
    const int8x16_t halves = vzip1q_s8(bits, vextq_s8(bits, bits, 8));
    return vaddvq_u16(vreinterpretq_u16_s8(halves));
  } else if constexpr (kSize == 2) {
    constexpr std::uint16_t kBits[] = {1, 2, 4, 8, 16, 32, 64, 128};
    const int16x8_t v = vld1q_s16(static_cast<const std::int16_t*>(vector));
    return vaddvq_u16(vandq_u16(vreinterpretq_u16_s16(vshrq_n_s16(v, 15)), vld1q_u16(kBits)));
  } else if constexpr (kSize == 4) {
    constexpr std::uint32_t kBits[] = {1, 2, 4, 8};
    const int32x4_t v = vld1q_s32(static_cast<const std::int32_t*>(vector));
    return vaddvq_u32(vandq_u32(vreinterpretq_u32_s32(vshrq_n_s32(v, 31)), vld1q_u32(kBits)));
  } else {
    constexpr std::uint64_t kBits[] = {1, 2};
    const int64x2_t v = vld1q_s64(static_cast<const std::int64_t*>(vector));
    const uint64x2_t signs = vreinterpretq_u64_s64(vshrq_n_s64(v, 63));
    return static_cast<std::uint32_t>(vaddvq_u64(vandq_u64(signs, vld1q_u64(kBits))));
  }
#else
  typename IntegersOf<kSize>::Unsigned elements[kVectorBytes / kSize];
  std::memcpy(elements, vector, sizeof elements);
  std::uint32_t bits = 0;
  for (int i = 0; i < kVectorBytes / kSize; ++i) {
    bits |= static_cast<std::uint32_t>(elements[i] >> (8 * kSize - 1)) << i;
  }
  return bits;
#endif
}

/// Whether any element of a vector is set: all of its bits, or none, are.
inline bool any_set(const void* vector) {
#ifdef __aarch64__
  // Four bits of each byte.
  const uint8x8_t some = vshrn_n_u16(vld1q_u16(static_cast<const std::uint16_t*>(vector)), 4);
  return vget_lane_u64(vreinterpret_u64_u8(some), 0) != 0;
#else
  return high_bits<1>(vector) != 0;
#endif
}

/// Copies 16 bytes to an aligned address by a non-temporal store, where there is one.
/// stream_fence() makes what was copied so visible to others.
inline void stream_16_bytes(void* to, const void* from) {
#ifdef __SSE2__
  _mm_stream_si128(static_cast<__m128i*>(to), _mm_loadu_si128(static_cast<const __m128i*>(from)));
#else
  std::memcpy(to, from, 16);
#endif
}
inline void stream_fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Copies count elements, stride apart, to consecutive ones. Compilers make vector code of strides
/// that they know: every other element, channels of pixels, backwards; and of integers, not of
/// structs, which the half-precision types are.
template <class T>
void pack(const T* source, std::int64_t stride, std::int64_t count, T* target) {
  using Bits __attribute__((may_alias)) = typename IntegersOf<sizeof(T)>::Unsigned;
  // Not `auto`, which would lose the attribute.
  const Bits* const from = reinterpret_cast<const Bits*>(source);
  Bits* const to = reinterpret_cast<Bits*>(target);
  const auto by = [&](auto apart) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * apart];
  };
  if (stride == -1) return by(Constant<-1>());
  if (stride == 2) return by(Constant<2>());
  if (stride == 3) return by(Constant<3>());
  if (stride == 4) return by(Constant<4>());
  by(stride);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
