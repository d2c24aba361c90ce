/// @file
/// The types of C++ that tensors' elements can have.
#pragma once

#include <type_traits>

#include "dmlcpu/data_type.hpp"

namespace dmlcpu {

namespace detail {

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

/// The standard integer types: characters are none, two of them may be one type of <cstdint>.
template <class T>
inline constexpr bool is_number =
    is_one_of<T, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned,
              unsigned long, unsigned long long>;

// The compiler's own 16-bit types, of which std::float16_t and std::bfloat16_t are names.
struct None;
// g++ before 13 has the type on Arm in C alone.
#if defined(__FLT16_MANT_DIG__) && (!defined(__aarch64__) || defined(__clang__) || __GNUC__ >= 13)
__extension__ using NativeFloat16 = _Float16;
#else
using NativeFloat16 = None;
#endif
#ifdef __BFLT16_MANT_DIG__
__extension__ using NativeBFloat16 = __bf16;
#else
using NativeBFloat16 = None;
#endif

/// Whether elements T are what a tensor of that storage type holds.
template <class T, class Storage>
constexpr bool is_stored_as() {
  if constexpr (is_number<T> && is_number<Storage>) {
    return sizeof(T) == sizeof(Storage) && std::is_signed_v<T> == std::is_signed_v<Storage>;
  } else {
    return std::is_same_v<T, Storage> ||
           (std::is_same_v<T, bool> && std::is_same_v<Storage, Bool>) ||
           (std::is_same_v<T, NativeFloat16> && std::is_same_v<Storage, Float16>) ||
           (std::is_same_v<T, NativeBFloat16> && std::is_same_v<Storage, BFloat16>);
  }
}

}  // namespace detail

/// Whether tensors can be of elements T.
template <class T>
inline constexpr bool is_element =
#define DMLCPU_IS(enumerator, name, storage, kind) detail::is_stored_as<T, storage>() ||
    DMLCPU_DATA_TYPES(DMLCPU_IS) false;
#undef DMLCPU_IS

/// The DataType of elements T.
template <class T>
constexpr DataType data_type_of() {
  static_assert(is_element<T>, "not an element type of dmlcpu");
#define DMLCPU_IF(enumerator, name, storage, kind) \
  if (detail::is_stored_as<T, storage>()) return DataType::enumerator;
  DMLCPU_DATA_TYPES(DMLCPU_IF)
#undef DMLCPU_IF
  return DataType{};
}

}  // namespace dmlcpu
