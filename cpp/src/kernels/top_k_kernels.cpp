// The level's table of top-k kernels.
#include "kernels/top_k_blocks-inl.hpp"
#include "kernels/top_k_buckets-inl.hpp"
#include "kernels/top_k_columns-inl.hpp"
#include "kernels/top_k_direct-inl.hpp"

#include "kernels/top_k_radix-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_LEVEL(DMLCPU_LEVEL)

namespace DMLCPU_LEVEL {

// In the order of Ranking. Integers have no NaNs: they share functions.
#define DMLCPU_OF_TYPE(function, T)                                                               \
  {function<Order<T, Ranking::kSmallestNanLast>>,                                                 \
   function<                                                                                      \
       Order<T, kInfinityBits<T> != 0 ? Ranking::kSmallestNanFirst : Ranking::kSmallestNanLast>>, \
   function<Order<T, Ranking::kLargestNanLast>>,                                                  \
   function<                                                                                      \
       Order<T, kInfinityBits<T> != 0 ? Ranking::kLargestNanFirst : Ranking::kLargestNanLast>>},
#define DMLCPU_LOADERS(enumerator, name, T, kind) DMLCPU_OF_TYPE(load_ranks, T)
#define DMLCPU_EXTREMES(enumerator, name, T, kind) DMLCPU_OF_TYPE(block_extremes, T)
#define DMLCPU_VALUES(enumerator, name, T, kind) DMLCPU_OF_TYPE(write_values, T)
#define DMLCPU_DECODERS(enumerator, name, T, kind) DMLCPU_OF_TYPE(decode_keys, T)
#define DMLCPU_BUCKETS(U) \
  {load_with_bits<U>, count_buckets<U>, fill_buckets<U>, sort_bucket<U>, read_items<U>}
#define DMLCPU_STRATEGIES(U) {top_k_direct<U>, top_k_blocks<U>, top_k_radix<U>}

const TopKKernels top_k_kernels = {
    {DMLCPU_DATA_TYPES(DMLCPU_LOADERS)},
    {DMLCPU_DATA_TYPES(DMLCPU_EXTREMES)},
    {DMLCPU_DATA_TYPES(DMLCPU_VALUES)},
    {DMLCPU_STRATEGIES(std::uint8_t), DMLCPU_STRATEGIES(std::uint16_t),
     DMLCPU_STRATEGIES(std::uint32_t), DMLCPU_STRATEGIES(std::uint64_t)},
    {sample_ranks<std::uint8_t>, sample_ranks<std::uint16_t>, sample_ranks<std::uint32_t>,
     sample_ranks<std::uint64_t>},
    {guess<std::uint8_t>, guess<std::uint16_t>, guess<std::uint32_t>, guess<std::uint64_t>},
    {DMLCPU_BUCKETS(std::uint8_t), DMLCPU_BUCKETS(std::uint16_t), DMLCPU_BUCKETS(std::uint32_t),
     DMLCPU_BUCKETS(std::uint64_t)},
    {DMLCPU_DATA_TYPES(DMLCPU_DECODERS)},
    {top_k_columns<std::uint8_t>, top_k_columns<std::uint16_t>, top_k_columns<std::uint32_t>,
     top_k_columns<std::uint64_t>},
    {pack_lines<std::uint8_t>, pack_lines<std::uint16_t>, pack_lines<std::uint32_t>,
     pack_lines<std::uint64_t>},
};

}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
