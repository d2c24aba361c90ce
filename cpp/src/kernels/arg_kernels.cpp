// The level's table of argmin and argmax kernels.
#include "kernels/arg_columns-inl.hpp"
#include "kernels/arg_rows-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

// In the order of Ranking and ArgStrategy. Integers have no NaNs: they share one kernel.
#define DMLCPU_ARG_PAIR(T, ranking) {arg_rows<Order<T, ranking>>, arg_columns<Order<T, ranking>>}
#define DMLCPU_ARG_ROW(enumerator, name, T, kind)                                          \
  {DMLCPU_ARG_PAIR(T, Ranking::kSmallestNanLast),                                          \
   DMLCPU_ARG_PAIR(                                                                        \
       T, kInfinityBits<T> != 0 ? Ranking::kSmallestNanFirst : Ranking::kSmallestNanLast), \
   DMLCPU_ARG_PAIR(T, Ranking::kLargestNanLast),                                           \
   DMLCPU_ARG_PAIR(T,                                                                      \
                   kInfinityBits<T> != 0 ? Ranking::kLargestNanFirst : Ranking::kLargestNanLast)},

const ArgKernels arg_kernels = {{DMLCPU_DATA_TYPES(DMLCPU_ARG_ROW)}};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
