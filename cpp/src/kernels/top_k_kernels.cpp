// The instruction set's table of top-k kernels.
#include "kernels/top_k_counting-inl.hpp"
#include "kernels/top_k_select-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {

#define DMLCPU_ELEMENT(...) {__VA_ARGS__::kRule, block_extremes<__VA_ARGS__>}
#define DMLCPU_ELEMENTS(enumerator, name, T, kind) DMLCPU_OF_ORDERS(DMLCPU_ELEMENT, T),
#define DMLCPU_ROWS(...)                                         \
  {top_k_collect<__VA_ARGS__>, threshold_by_sample<__VA_ARGS__>, \
   sort_items<__VA_ARGS__>,    select_item<__VA_ARGS__>,         \
   range_of<__VA_ARGS__>,      count_bins<__VA_ARGS__>,          \
   distribute<__VA_ARGS__>,    write_items<__VA_ARGS__>}
#define DMLCPU_WIDTH(U, Word, LongerWord) \
  {DMLCPU_ROWS(Item<U, Word>), DMLCPU_ROWS(Item<U, LongerWord>), pack_rows<U>, top_k_columns<U>}

const TopKKernels top_k_kernels = {
    {DMLCPU_DATA_TYPES(DMLCPU_ELEMENTS)},
    {DMLCPU_WIDTH(std::uint8_t, std::uint64_t, std::uint64_t),
     DMLCPU_WIDTH(std::uint16_t, std::uint64_t, std::uint64_t),
     DMLCPU_WIDTH(std::uint32_t, std::uint64_t, Word16),
     DMLCPU_WIDTH(std::uint64_t, Word16, Word16)},
};

}  // namespace dmlcpu::DMLCPU_TARGET
