// What is to be computed, in the form that plans are made from: loops that are as few as possible,
// whatever the order, direction and number of the tensor's axes.
#pragma once

#include <cstdint>

#include "plan/axes.hpp"

namespace dmlcpu {

/// An argmin or argmax of one result for each position of the kept axes.
struct ArgProblem {
  std::int64_t element_size = 0;
  std::int64_t bytes = 0;    ///< of the input
  std::int64_t results = 1;  ///< 0 if there is nothing to write
  /// Strides are {input, indices, values}, those of the input not negative, and descend.
  Axes kept;
  Offsets offsets{};  ///< of the first position
  /// Strides are {input, index step, 0}; the input's descend, and may be negative. Axes that
  /// broadcast are left out: their first position decides.
  Axes reduced;
  std::int64_t count = 1;  ///< of the elements of a result, those of broadcast axes too
  /// Reduced axes were reversed so that the first of equal elements is wanted: the index is then
  /// `count` - 1 - the index found.
  bool reversed = false;
  bool has_values = false;        ///< the elements are wanted as well, and one axis is reduced
  std::int64_t value_stride = 0;  ///< of the input, from index to index

  bool operator!=(const ArgProblem& other) const {
    return element_size != other.element_size || bytes != other.bytes || results != other.results ||
           kept != other.kept || offsets != other.offsets || reduced != other.reduced ||
           count != other.count || reversed != other.reversed || has_values != other.has_values ||
           value_stride != other.value_stride;
  }
};

/// A top-k of each row along the searched axis.
struct TopKProblem {
  std::int64_t element_size = 0;
  std::int64_t bytes = 0;  ///< of the input
  /// Strides are {input, indices, values}, those of the input not negative, and descend.
  Axes kept;
  Offsets offsets{};          ///< of the first position
  Axis searched = kUnitAxis;  ///< k positions of it, or one, are in the outputs
  std::int64_t k = 1;
  bool last_alone = false;  ///< the k-th alone is wanted

  bool operator!=(const TopKProblem& other) const {
    return element_size != other.element_size || bytes != other.bytes || kept != other.kept ||
           offsets != other.offsets || searched != other.searched || k != other.k ||
           last_alone != other.last_alone;
  }
};

}  // namespace dmlcpu
