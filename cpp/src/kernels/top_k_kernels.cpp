// The instruction set's table of top-k kernels.
#include "kernels/top_k_columns-inl.hpp"
#include "kernels/top_k_select-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
DMLCPU_DECLARE_TARGET(DMLCPU_TARGET)

namespace DMLCPU_TARGET {

#define DMLCPU_ELEMENT(...) \
  {load_keys<__VA_ARGS__>, decode_keys<__VA_ARGS__>, block_extremes<__VA_ARGS__>}
#define DMLCPU_ELEMENTS(enumerator, name, T, kind) DMLCPU_OF_ORDERS(DMLCPU_ELEMENT, T),
#define DMLCPU_ROWS(Item)                                                         \
  {sizeof(Item),    top_k_collect<Item>, top_k_threshold<Item>, sort_first<Item>, \
   key_range<Item>, count_bins<Item>,    distribute<Item>,      write_items<Item>}
#define DMLCPU_WIDTH(U, Item, LongerItem) \
  {DMLCPU_ROWS(Item<U>), DMLCPU_ROWS(LongerItem<U>), pack_rows<U>, top_k_columns<U>}

const TopKKernels top_k_kernels = {
    {DMLCPU_DATA_TYPES(DMLCPU_ELEMENTS)},
    {DMLCPU_WIDTH(std::uint8_t, PackedItem, PackedItem),
     DMLCPU_WIDTH(std::uint16_t, PackedItem, PackedItem),
     DMLCPU_WIDTH(std::uint32_t, PackedItem, PlainItem),
     DMLCPU_WIDTH(std::uint64_t, PlainItem, PlainItem)},
};

}  // namespace DMLCPU_TARGET
}  // namespace dmlcpu
