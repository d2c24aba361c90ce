// Fails where a compiler's vectors are not what kernels take them for: a comparison sets all bits
// of an element or none, and ?: chooses by them. g++ 12 for aarch64 sets the lowest bit alone where
// a vector holds one element of 64 bits; kernels do not use such vectors.
#include <cstdint>

namespace {

template <class T, int kBytes>
struct Of {
  using Vector __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias)) = T;
  using Mask = decltype(Vector{} < Vector{});
};

template <class T, int kBytes>
__attribute__((noinline)) void compare(const T* a, const T* b, void* less, void* equal, T* lesser) {
  using V = typename Of<T, kBytes>::Vector;
  using M = typename Of<T, kBytes>::Mask;
  const V x = *reinterpret_cast<const V*>(a);
  const V y = *reinterpret_cast<const V*>(b);
  *static_cast<M*>(less) = x < y;
  *static_cast<M*>(equal) = x == y;
  *reinterpret_cast<V*>(lesser) = x < y ? x : y;
}

/// Whether the elements of one vector are compared as by themselves.
template <class T, int kBytes>
bool is_right() {
  using M = typename Of<T, kBytes>::Mask;
  constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  T a[kCount];
  T b[kCount];
  T lesser[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<T>(37 * i - 64);
    b[i] = static_cast<T>(i % 3 == 0 ? a[i] : 64 - 29 * i);
  }
  M less;
  M equal;
  compare<T, kBytes>(a, b, &less, &equal, lesser);
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    right = right && less[i] == (a[i] < b[i] ? -1 : 0) && equal[i] == (a[i] == b[i] ? -1 : 0) &&
            lesser[i] == (a[i] < b[i] ? a[i] : b[i]);
  }
  return right;
}

template <class... T>
bool are_right() {
  return ((is_right<T, 16>() && is_right<T, 64>()) && ...);
}

}  // namespace

int main() {
  return are_right<std::int8_t, std::uint16_t, std::int32_t, std::int64_t, std::uint64_t, float,
                   double>()
             ? 0
             : 1;
}
