// The level's table of gather kernels.
#include "kernels/gather_copy-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

const GatherKernels gather_kernels = {{gather<std::int32_t>, gather<std::int64_t>}};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
