#include "core/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/shapes.hpp"

namespace dmlcpu {
namespace {

/// A sum of terms `coefficient * z` with 0 <= z <= bound, coefficients and bounds positive.
class Sum {
 public:
  void add(std::int64_t coefficient, std::int64_t bound) {
    if (coefficient > 0 && bound > 0) terms_[count_++] = {coefficient, bound};
  }

  /// Searches for z with `sum == target`. Largest coefficient first: what the later terms can still
  /// reach, and the greatest common divisor of their coefficients, leave few values to try, so that
  /// views made by slicing and transposing are decided in a handful of steps. The general problem
  /// is NP-hard; when the budget of steps runs out the answer is "yes".
  bool reaches(std::int64_t target) {
    std::sort(terms_.begin(), terms_.begin() + count_,
              [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    for (int i = count_ - 1; i >= 0; --i) {
      reach_[i] = reach_[i + 1] + terms_[i].coefficient * terms_[i].bound;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
    }
    return search(0, target);
  }

 private:
  struct Term {
    std::int64_t coefficient;
    std::int64_t bound;
  };

  bool search(int i, std::int64_t target) {
    if (--budget_ < 0) return true;
    if (target < 0 || target > reach_[i]) return false;
    if (target == 0) return true;
    if (target % divisor_[i] != 0) return false;
    const auto [coefficient, bound] = terms_[i];
    // The later terms reach at most reach_[i + 1], so z is at least the rounded-up quotient.
    const std::int64_t missing = std::max<std::int64_t>(0, target - reach_[i + 1]);
    const std::int64_t first = (missing + coefficient - 1) / coefficient;
    const std::int64_t last = std::min(bound, target / coefficient);
    for (std::int64_t z = last; z >= first; --z) {
      if (search(i + 1, target - z * coefficient)) return true;
    }
    return false;
  }

  std::array<Term, 2 * kMaxRank + 1> terms_{};
  int count_ = 0;
  std::array<std::int64_t, 2 * kMaxRank + 2> reach_{};
  std::array<std::int64_t, 2 * kMaxRank + 2> divisor_{};
  int budget_ = 100'000;
};

/// Whether every axis steps over all that the axes after it span, as in a contiguous or padded
/// array: then no two elements overlap.
bool nests(const ConstTensor& t) {
  std::int64_t extent = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    if (t.sizes[d] == 1) continue;
    if (std::abs(t.strides[d]) < extent) return false;
    extent += std::abs(t.strides[d]) * (t.sizes[d] - 1);
  }
  return true;
}

/// The address of the tensor's lowest byte, and of the first one beyond its highest.
std::pair<std::int64_t, std::int64_t> bounds(const ConstTensor& t) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t.data));
  std::pair bytes{address, address + element_bytes(t)};
  for (int d = 0; d < t.rank; ++d) {
    const std::int64_t extent = t.strides[d] * (t.sizes[d] - 1) * element_bytes(t);
    (extent < 0 ? bytes.first : bytes.second) += extent;
  }
  return bytes;
}

}  // namespace

bool overlaps_itself(const ConstTensor& t) {
  if (element_count(t) == 0 || nests(t)) return false;
  // Two coordinates collide when a difference vector, not all 0, with entries from 1 - size to
  // size - 1 sums to 0. Its sign is free, so let the first non-zero entry, at axis d, be at least
  // 1: |stride[d]| * z + sum over later axes of |stride| * (y - (size - 1)) == 0, y from 0 to 2 *
  // (size - 1).
  for (int d = 0; d < t.rank; ++d) {
    if (t.sizes[d] < 2) continue;
    if (t.strides[d] == 0) return true;
    Sum sum;
    sum.add(std::abs(t.strides[d]), t.sizes[d] - 2);
    std::int64_t target = -std::abs(t.strides[d]);
    for (int e = d + 1; e < t.rank; ++e) {
      sum.add(std::abs(t.strides[e]), 2 * (t.sizes[e] - 1));
      target += std::abs(t.strides[e]) * (t.sizes[e] - 1);
    }
    if (sum.reaches(target)) return true;
  }
  return false;
}

bool overlap(const ConstTensor& a, const ConstTensor& b) {
  if (element_count(a) == 0 || element_count(b) == 0) return false;
  const auto [low_a, end_a] = bounds(a);
  const auto [low_b, end_b] = bounds(b);
  if (end_a <= low_b || end_b <= low_a) return false;
  // A byte of a equals a byte of b: low_a + sum(x) + u == end_b - 1 - sum(y) - v, where counting
  // b's coordinates and bytes from its highest byte makes every coefficient positive.
  Sum sum;
  for (const ConstTensor* t : {&a, &b}) {
    for (int d = 0; d < t->rank; ++d) {
      sum.add(std::abs(t->strides[d]) * element_bytes(*t), t->sizes[d] - 1);
    }
  }
  sum.add(1, element_bytes(a) - 1 + element_bytes(b) - 1);
  return sum.reaches(end_b - 1 - low_a);
}

}  // namespace dmlcpu
