// Elements and indices of every type of C++ that has a size of the library's. Compiled with every
// warning on; the exit status tells what failed.
#include <dmlcpu/dmlcpu.hpp>

#if __has_include(<stdfloat>)
#include <stdfloat>
#endif

namespace {

using dmlcpu::data_type_of;
using dmlcpu::DataType;

static_assert(data_type_of<signed char>() == DataType::kInt8);
static_assert(data_type_of<unsigned char>() == DataType::kUInt8);
static_assert(data_type_of<short>() == DataType::kInt16);
static_assert(data_type_of<unsigned short>() == DataType::kUInt16);
static_assert(data_type_of<int>() == DataType::kInt32);
static_assert(data_type_of<unsigned>() == DataType::kUInt32);
static_assert(data_type_of<long>() == (sizeof(long) == 8 ? DataType::kInt64 : DataType::kInt32));
static_assert(data_type_of<unsigned long>() ==
              (sizeof(long) == 8 ? DataType::kUInt64 : DataType::kUInt32));
static_assert(data_type_of<long long>() == DataType::kInt64);
static_assert(data_type_of<unsigned long long>() == DataType::kUInt64);
static_assert(data_type_of<bool>() == DataType::kBool);
static_assert(data_type_of<float>() == DataType::kFloat32);
static_assert(data_type_of<double>() == DataType::kFloat64);
static_assert(data_type_of<dmlcpu::Float16>() == DataType::kFloat16);
static_assert(data_type_of<dmlcpu::BFloat16>() == DataType::kBFloat16);
static_assert(!dmlcpu::is_element<char> && !dmlcpu::is_element<wchar_t>);
static_assert(!dmlcpu::is_element<long double> && !dmlcpu::is_element<float*>);
#ifdef __FLT16_MANT_DIG__
static_assert(data_type_of<_Float16>() == DataType::kFloat16);
#endif
#ifdef __STDCPP_FLOAT16_T__
static_assert(data_type_of<std::float16_t>() == DataType::kFloat16);
#endif
#ifdef __STDCPP_BFLOAT16_T__
static_assert(data_type_of<std::bfloat16_t>() == DataType::kBFloat16);
#endif

/// All operators on elements T, with indices of that type.
template <class T, class Index>
bool runs() {
  const T x[] = {T(1), T(3), T(2), T(0)};
  Index at[2] = {9, 9};
  T values[2] = {};
  dmlcpu::argmax<T, Index>({x, {4}}, {0}, {at, {1}});
  if (at[0] != 1) return false;
  dmlcpu::top_k<T, Index>({x, {4}}, 2, 0, {values, {2}}, {at, {2}});
  if (at[0] != 1 || at[1] != 2 || values[0] != T(3) || values[1] != T(2)) return false;
  dmlcpu::gather_nd<T, Index>({x, {4}}, {at, {1, 1}}, {values, {1}});
  return values[0] == T(3);
}

/// argmax with indices of that type.
template <class Index>
bool writes() {
  const int x[] = {1, 3, 2, 0};
  Index at = 9;
  dmlcpu::argmax<int, Index>({x, {4}}, {0}, {&at, {1}});
  return at == 1;
}

}  // namespace

int main() {
  if (!writes<signed char>() || !writes<unsigned char>()) return 8;
  if (!writes<short>() || !writes<unsigned short>()) return 9;
  if (!runs<int, long long>() || !runs<int, unsigned long long>()) return 1;
  if (!runs<int, long>() || !runs<int, unsigned long>()) return 2;
  if (!runs<long long, unsigned>() || !runs<unsigned long long, int>()) return 3;
  if (!runs<long, int>() || !runs<unsigned long, int>()) return 4;
#ifdef __FLT16_MANT_DIG__
  if (!runs<_Float16, unsigned>()) return 5;
#endif
#ifdef __STDCPP_FLOAT16_T__
  if (!runs<std::float16_t, unsigned>()) return 6;
#endif
#ifdef __STDCPP_BFLOAT16_T__
  if (!runs<std::bfloat16_t, unsigned>()) return 7;
#endif
  return 0;
}
