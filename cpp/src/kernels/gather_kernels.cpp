// The table of gather kernels.
#include "kernels/gather_copy-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_TARGET(DMLCPU_TARGET)

namespace DMLCPU_TARGET {

const GatherKernel gather_kernels[] = {gather<std::int32_t>, gather<std::int64_t>};

}  // namespace DMLCPU_TARGET
}  // namespace dmlcpu
