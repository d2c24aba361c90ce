// What turning squares over in registers is made of: vectors filled 16 bytes at a time from several
// places, and elements interleaved within each 16 bytes, which is how far most processors move
// them.
#pragma once

#include <type_traits>

#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

#ifdef __AVX512BW__
/// A mask of all elements. Without one, g++ 12 warns of a value that its own headers leave open.
template <int kElements>
constexpr auto kAll = static_cast<std::conditional_t<
    kElements == 64, __mmask64,
    std::conditional_t<kElements == 32, __mmask32,
                       std::conditional_t<kElements == 16, __mmask16, __mmask8>>>>(-1);
#endif

/// 16 bytes from each of as many places as the vector has room for, stride_bytes apart.
template <class U, std::int64_t kBytes>
typename Vector<U, kBytes>::Type load_parts(const void* first,
                                            [[maybe_unused]] std::int64_t stride_bytes) {
  using V [[maybe_unused]] = typename Vector<U, kBytes>::Type;
  const auto* const p = static_cast<const char*>(first);
#ifdef __AVX2__
  const auto part = [p, stride_bytes](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * stride_bytes));
  };
  if constexpr (kBytes == 32) {
    return reinterpret_cast<V>(
        _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1));
  }
#endif
#ifdef __AVX512BW__
  if constexpr (kBytes == 64) {
    __m512i v = _mm512_castsi128_si512(part(0));
    v = _mm512_maskz_inserti32x4(kAll<16>, v, part(1), 1);
    v = _mm512_maskz_inserti32x4(kAll<16>, v, part(2), 2);
    return reinterpret_cast<V>(_mm512_maskz_inserti32x4(kAll<16>, v, part(3), 3));
  }
#endif
  if constexpr (kBytes == 16) return Vector<U, 16>::load(reinterpret_cast<const U*>(p));
}

// interleave_low and interleave_high: of each 16 bytes of two vectors the first and the second
// halves, element by element.
#define DMLCPU_INTERLEAVE_16(U, low, high)                                                   \
  inline Vector<U, 16>::Type interleave_low(Vector<U, 16>::Type a, Vector<U, 16>::Type b) {  \
    return DMLCPU_SHUFFLE(DMLCPU_PASS(Vector<U, 16>::Type), a, b, DMLCPU_PASS low);          \
  }                                                                                          \
  inline Vector<U, 16>::Type interleave_high(Vector<U, 16>::Type a, Vector<U, 16>::Type b) { \
    return DMLCPU_SHUFFLE(DMLCPU_PASS(Vector<U, 16>::Type), a, b, DMLCPU_PASS high);         \
  }
#define DMLCPU_PASS(...) __VA_ARGS__
DMLCPU_INTERLEAVE_16(std::uint8_t, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                     (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
DMLCPU_INTERLEAVE_16(std::uint16_t, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
DMLCPU_INTERLEAVE_16(std::uint32_t, (0, 4, 1, 5), (2, 6, 3, 7))
DMLCPU_INTERLEAVE_16(std::uint64_t, (0, 2), (1, 3))
#undef DMLCPU_INTERLEAVE_16
#undef DMLCPU_PASS

#define DMLCPU_INTERLEAVE(U, kBytes, Register, low, high)                     \
  inline Vector<U, kBytes>::Type interleave_low(Vector<U, kBytes>::Type a,    \
                                                Vector<U, kBytes>::Type b) {  \
    return reinterpret_cast<Vector<U, kBytes>::Type>(                         \
        low(reinterpret_cast<Register>(a), reinterpret_cast<Register>(b)));   \
  }                                                                           \
  inline Vector<U, kBytes>::Type interleave_high(Vector<U, kBytes>::Type a,   \
                                                 Vector<U, kBytes>::Type b) { \
    return reinterpret_cast<Vector<U, kBytes>::Type>(                         \
        high(reinterpret_cast<Register>(a), reinterpret_cast<Register>(b)));  \
  }
#ifdef __AVX2__
DMLCPU_INTERLEAVE(std::uint8_t, 32, __m256i, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8)
DMLCPU_INTERLEAVE(std::uint16_t, 32, __m256i, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16)
DMLCPU_INTERLEAVE(std::uint32_t, 32, __m256i, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32)
DMLCPU_INTERLEAVE(std::uint64_t, 32, __m256i, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64)
#endif
#ifdef __AVX512BW__
#define DMLCPU_ALL(elements, operation) \
  [](__m512i x, __m512i y) { return _mm512_maskz_##operation(kAll<elements>, x, y); }
DMLCPU_INTERLEAVE(std::uint8_t, 64, __m512i, DMLCPU_ALL(64, unpacklo_epi8),
                  DMLCPU_ALL(64, unpackhi_epi8))
DMLCPU_INTERLEAVE(std::uint16_t, 64, __m512i, DMLCPU_ALL(32, unpacklo_epi16),
                  DMLCPU_ALL(32, unpackhi_epi16))
DMLCPU_INTERLEAVE(std::uint32_t, 64, __m512i, DMLCPU_ALL(16, unpacklo_epi32),
                  DMLCPU_ALL(16, unpackhi_epi32))
DMLCPU_INTERLEAVE(std::uint64_t, 64, __m512i, DMLCPU_ALL(8, unpacklo_epi64),
                  DMLCPU_ALL(8, unpackhi_epi64))
#undef DMLCPU_ALL
#endif
#undef DMLCPU_INTERLEAVE

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
