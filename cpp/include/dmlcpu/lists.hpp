/// @file
/// Lists of integers as callers have them: sizes, strides and axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

#include "dmlcpu/error.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

namespace detail {

template <class I>
inline constexpr bool kIsInteger =
    !std::is_same_v<I, bool> &&
    (std::is_integral_v<I> || (std::is_enum_v<I> && std::is_convertible_v<I, std::int64_t>));

template <class I>
using EnableInteger = std::enable_if_t<kIsInteger<std::remove_cv_t<I>>>;

template <class Range>
using EnableIntegers =
    EnableInteger<std::remove_reference_t<decltype(*std::data(std::declval<const Range&>()))>>;

}  // namespace detail

/// An integer of any type but bool, also in braces, where a std::size_t would not become a
/// std::int64_t.
struct Integer {
  template <class I, class = detail::EnableInteger<I>>
  constexpr Integer(I integer)  // NOLINT(google-explicit-constructor)
      : value(static_cast<std::int64_t>(integer)) {}

  std::int64_t value;
};

/// Integers given in braces, as a pointer and a count, or as a std::vector, std::array, std::span,
/// array or whatever else lends out contiguous integers; of any integer type. They are copied. One
/// more than kMaxRank can be held, so that a list that is too long can be told.
struct IntegerList {
  IntegerList() = default;
  IntegerList(std::initializer_list<Integer> integers) {
    for (const Integer& integer : integers) add(integer.value);
  }

  /// Throws ValueError for a negative count.
  template <class I, class = detail::EnableInteger<I>>
  IntegerList(const I* integers, Integer given) {
    if (given.value < 0) detail::fail_value("count: must be at least 0", given.value);
    for (std::int64_t i = 0; i < given.value && count <= kMaxRank; ++i) {
      add(static_cast<std::int64_t>(integers[i]));
    }
  }

  template <class Range, class = detail::EnableIntegers<Range>>
  IntegerList(const Range& integers)  // NOLINT(google-explicit-constructor)
      : IntegerList(std::data(integers), std::size(integers)) {}

  int count = 0;
  std::array<std::int64_t, kMaxRank + 1> values{};

 protected:
  void add(std::int64_t value) {
    if (count <= kMaxRank) values[static_cast<std::size_t>(count++)] = value;
  }
};

/// The sizes or strides of a view, outermost dimension first.
struct ExtentList : IntegerList {
  ExtentList() = default;
  using IntegerList::IntegerList;
  ExtentList(const Shape& shape)  // NOLINT(google-explicit-constructor)
      : IntegerList(shape.sizes.data(), shape.rank) {}
};

/// Axes to reduce; negative ones count from the end. Braces with nothing in them mean every axis;
/// an empty list of the other kinds means none, and then every index is 0.
struct AxisList : IntegerList {
  AxisList() : all(true) {}
  using IntegerList::IntegerList;

  bool all = false;  ///< every axis; `count` and `values` are not read
};

}  // namespace dmlcpu
