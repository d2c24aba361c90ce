// The level's table of top-k kernels.
#include "kernels/top_k_blocks-inl.hpp"
#include "kernels/top_k_direct-inl.hpp"
#include "kernels/top_k_radix-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

#define DMLCPU_LOADER(T, ranking) load_ranks<Order<T, ranking>>
#define DMLCPU_LOADERS(enumerator, name, T, kind)                                                 \
  {DMLCPU_LOADER(T, Ranking::kSmallestNanLast),                                                   \
   DMLCPU_LOADER(T,                                                                               \
                 kInfinityBits<T> != 0 ? Ranking::kSmallestNanFirst : Ranking::kSmallestNanLast), \
   DMLCPU_LOADER(T, Ranking::kLargestNanLast),                                                    \
   DMLCPU_LOADER(T,                                                                               \
                 kInfinityBits<T> != 0 ? Ranking::kLargestNanFirst : Ranking::kLargestNanLast)},
#define DMLCPU_STRATEGIES(U) {top_k_direct<U>, top_k_blocks<U>, top_k_radix<U>}

const TopKKernels top_k_kernels = {
    {DMLCPU_DATA_TYPES(DMLCPU_LOADERS)},
    {DMLCPU_STRATEGIES(std::uint8_t), DMLCPU_STRATEGIES(std::uint16_t),
     DMLCPU_STRATEGIES(std::uint32_t), DMLCPU_STRATEGIES(std::uint64_t)},
    {pack_lines<std::uint8_t>, pack_lines<std::uint16_t>, pack_lines<std::uint32_t>,
     pack_lines<std::uint64_t>},
};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
