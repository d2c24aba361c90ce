/// @file
/// The element types, one list for tables, names, bindings and tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmlcpu {

/// An IEEE 754 binary16 value as its bits; DirectML's FLOAT16.
struct Float16 {
  std::uint16_t bits;
};

/// A bfloat16 value (the upper half of a float32) as its bits. Beyond DirectML.
struct BFloat16 {
  std::uint16_t bits;
};

/// A truth value as its byte: 0 is false, and any other byte is true, equal to every other one. C++
/// itself, whose bool this is where the byte is 0 or 1, leaves others undefined.
struct Bool {
  std::uint8_t byte;
};

/// X(enumerator, name, storage type, NumPy kind). A row here is all that a new element type needs,
/// as long as kernels/order-inl.hpp can order its storage type.
#define DMLCPU_DATA_TYPES(X)               \
  X(kFloat32, "float32", float, 'f')       \
  X(kFloat16, "float16", Float16, 'f')     \
  X(kFloat64, "float64", double, 'f')      \
  X(kBFloat16, "bfloat16", BFloat16, 'V')  \
  X(kInt8, "int8", std::int8_t, 'i')       \
  X(kInt16, "int16", std::int16_t, 'i')    \
  X(kInt32, "int32", std::int32_t, 'i')    \
  X(kInt64, "int64", std::int64_t, 'i')    \
  X(kUInt8, "uint8", std::uint8_t, 'u')    \
  X(kUInt16, "uint16", std::uint16_t, 'u') \
  X(kUInt32, "uint32", std::uint32_t, 'u') \
  X(kUInt64, "uint64", std::uint64_t, 'u') \
  X(kBool, "bool", Bool, 'b')

enum class DataType : std::uint8_t {
#define DMLCPU_ENUMERATOR(enumerator, name, storage, kind) enumerator,
  DMLCPU_DATA_TYPES(DMLCPU_ENUMERATOR)
#undef DMLCPU_ENUMERATOR
};

/// What the library knows of an element type: its name, its size in bytes and NumPy's kind letter.
struct DataTypeInfo {
  const char* name;
  std::size_t size;
  char kind;
};

// Hidden: g++ makes an inline variable that a plugin exports a reason never to unload it.
#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
inline constexpr DataTypeInfo kDataTypeInfo[] = {
#define DMLCPU_INFO(enumerator, name, storage, kind) {name, sizeof(storage), kind},
    DMLCPU_DATA_TYPES(DMLCPU_INFO)
#undef DMLCPU_INFO
};

inline constexpr int kDataTypeCount = sizeof kDataTypeInfo / sizeof kDataTypeInfo[0];

constexpr const DataTypeInfo& info(DataType type) {
  return kDataTypeInfo[static_cast<std::size_t>(type)];
}

/// Whether argmin and argmax can write indices of the type: integers of 8 to 64 bits.
constexpr bool is_arg_index_type(DataType type) {
  return info(type).kind == 'u' || info(type).kind == 'i';
}

/// Whether top-k can write indices of the type, and gather read them: uint32, int32, uint64, int64.
constexpr bool is_index_type(DataType type) {
  return is_arg_index_type(type) && info(type).size >= sizeof(std::uint32_t);
}

}  // namespace dmlcpu
