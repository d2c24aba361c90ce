// Random numbers for the C++ tests, the same in every run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace rng {

inline std::mt19937 engine(1);

/// A number in [0, count).
inline std::int64_t random(std::int64_t count) {
  return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count));
}

template <class T>
T any_of(std::initializer_list<T> values) {
  return values.begin()[random(static_cast<std::int64_t>(values.size()))];
}

}  // namespace rng
