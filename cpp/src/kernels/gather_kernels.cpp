// The level's table of gather kernels.
#include "kernels/gather_copy-inl.hpp"
#include "kernels/gather_tuples-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

const GatherKernels gather_kernels = {
    {gather_offsets<std::uint32_t>, gather_offsets<std::int32_t>, gather_offsets<std::uint64_t>,
     gather_offsets<std::int64_t>},
    {gather_narrow_offsets<std::uint32_t, false>, gather_narrow_offsets<std::int32_t, false>,
     gather_narrow_offsets<std::uint64_t, false>, gather_narrow_offsets<std::int64_t, false>},
    {gather_narrow_offsets<std::uint32_t, true>, gather_narrow_offsets<std::int32_t, true>,
     gather_narrow_offsets<std::uint64_t, true>, gather_narrow_offsets<std::int64_t, true>},
    {gather_check<std::uint32_t>, gather_check<std::int32_t>, gather_check<std::uint64_t>,
     gather_check<std::int64_t>},
    {gather_copy<std::uint8_t>, gather_copy<std::uint16_t>, gather_copy<std::uint32_t>,
     gather_copy<std::uint64_t>},
};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
