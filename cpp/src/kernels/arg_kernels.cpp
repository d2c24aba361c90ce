// The instruction set's table of argmin and argmax kernels.
#include "kernels/arg_columns-inl.hpp"
#include "kernels/arg_rows-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {

#define DMLCPU_ARG(...) {arg_rows<__VA_ARGS__>, arg_columns<__VA_ARGS__>}
#define DMLCPU_ARGS(enumerator, name, T, kind) DMLCPU_OF_ORDERS(DMLCPU_ARG, T),

const ArgKernels arg_kernels[][kOrderingCount] = {DMLCPU_DATA_TYPES(DMLCPU_ARGS)};

}  // namespace dmlcpu::DMLCPU_TARGET
