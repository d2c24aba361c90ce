// The instruction set's table of argmin and argmax kernels.
#include "kernels/arg_columns-inl.hpp"
#include "kernels/arg_rows-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_TARGET(DMLCPU_TARGET)

namespace DMLCPU_TARGET {

#define DMLCPU_ARG_ROWS_OF(...) arg_rows<__VA_ARGS__>
#define DMLCPU_ARG_ROWS(enumerator, name, T, kind) DMLCPU_OF_ORDERS(DMLCPU_ARG_ROWS_OF, T),
#define DMLCPU_COLUMNS_OF(...) arg_columns<__VA_ARGS__>
#define DMLCPU_COLUMNS(enumerator, name, T, kind) DMLCPU_OF_ORDERS(DMLCPU_COLUMNS_OF, T),

const ArgKernels arg_kernels = {{DMLCPU_DATA_TYPES(DMLCPU_ARG_ROWS)},
                                {DMLCPU_DATA_TYPES(DMLCPU_COLUMNS)}};

}  // namespace DMLCPU_TARGET
}  // namespace dmlcpu
