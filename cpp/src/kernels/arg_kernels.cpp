// The level's table of argmin and argmax kernels.
#include "kernels/arg_columns-inl.hpp"
#include "kernels/arg_rows-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

// In the order of Ranking. Integers have no NaNs: they share kernels.
#define DMLCPU_OF_TYPE(kernel, T)                                                                 \
  {kernel<Order<T, Ranking::kSmallestNanLast>>,                                                   \
   kernel<                                                                                        \
       Order<T, kInfinityBits<T> != 0 ? Ranking::kSmallestNanFirst : Ranking::kSmallestNanLast>>, \
   kernel<Order<T, Ranking::kLargestNanLast>>,                                                    \
   kernel<                                                                                        \
       Order<T, kInfinityBits<T> != 0 ? Ranking::kLargestNanFirst : Ranking::kLargestNanLast>>},
#define DMLCPU_ROWS(enumerator, name, T, kind) DMLCPU_OF_TYPE(arg_rows, T)
#define DMLCPU_COLUMNS(enumerator, name, T, kind) DMLCPU_OF_TYPE(arg_columns, T)

const ArgKernels arg_kernels = {{DMLCPU_DATA_TYPES(DMLCPU_ROWS)},
                                {DMLCPU_DATA_TYPES(DMLCPU_COLUMNS)}};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
