// The level's table of gather kernels.
#include "kernels/gather_copy-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

const GatherKernels gather_kernels = {
    {gather_check<std::int32_t>, gather_check<std::int64_t>},
    {gather_offsets<std::int32_t>, gather_offsets<std::int64_t>},
    {gather_at_once<std::int32_t>, gather_at_once<std::int64_t>},
    gather_copy,
    {gather_copy_strided<std::uint8_t>, gather_copy_strided<std::uint16_t>,
     gather_copy_strided<std::uint32_t>, gather_copy_strided<std::uint64_t>},
};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
