// The table of gather kernels.
#include "kernels/gather_copy-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {

const GatherKernel gather_kernels[] = {gather<std::int32_t>, gather<std::int64_t>};

}  // namespace dmlcpu::DMLCPU_TARGET
