// top-k of a row: a threshold that k elements reach, a filter that collects what reaches it, a
// sort of that.
#pragma once

#include "kernels/highest_key-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"
#include "kernels/top_k_threshold-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Collects the elements above a threshold and its ties, in ascending order of position, up to
/// `capacity`. Most elements are below it, and passed over a few vectors at a time.
template <class Item>
class ThresholdFilter {
  using U = typename Item::Key;

 public:
  /// Writes to items[0] up to items[capacity].
  ThresholdFilter(Threshold<U> threshold, Item* items, std::int64_t capacity)
      : threshold_(threshold.key),
        ties_left_(threshold.ties),
        items_(items),
        capacity_(capacity),
        lowest_(threshold.key) {}

  std::int64_t count() const { return count_; }
  bool full() const { return count_ == capacity_; }
  /// Whether an element equal to the threshold would still be taken.
  bool takes_ties() const { return ties_left_ > 0; }

  /// Takes the next `count` keys, the first of which is at position `first`.
  void take(const U* keys, std::int64_t count, std::int64_t first) {
    using V = Vector<U>;
    constexpr std::int64_t kWidth = V::kWidth;
    constexpr std::int64_t kAtOnce = min_of<std::int64_t>(4, 64 / kWidth);
    // Copies, which the compiler knows that no store to an item changes.
    Item* const items = items_;
    const std::int64_t capacity = capacity_;
    const U threshold = threshold_;
    std::int64_t taken = count_;
    std::int64_t ties_left = ties_left_;
    const auto take_one = [&](std::int64_t i) {
      // Written without a branch; kept only if counted.
      items[taken] = Item::make(keys[i], first + i);
      const bool equal = keys[i] == threshold;
      taken += ((keys[i] > threshold) | (equal & (ties_left > 0))) & (taken < capacity);
      ties_left -= equal;
    };
    std::int64_t i = 0;
    for (; i + kLanes<U> <= count; i += kLanes<U>) {
      const auto reaches = [&](std::int64_t j) { return V::load(keys + j) >= lowest_; };
      const auto found =
          (reaches(i) | reaches(i + kWidth)) | (reaches(i + 2 * kWidth) | reaches(i + 3 * kWidth));
      if (!any(found)) continue;
      if (ties_left <= 0 && threshold == static_cast<U>(~U{0})) {
        // Nothing is above the threshold.
        i = count;
        break;
      }
      lowest_ = static_cast<U>(threshold + (ties_left <= 0));
      // As many vectors at once as a word has bits for: the end of each loop over bits is
      // mispredicted.
      for (std::int64_t j = i; j < i + kLanes<U>; j += kAtOnce * kWidth) {
        std::uint64_t bits = 0;
        for (std::int64_t v = 0; v < kAtOnce; ++v) {
          bits |= bits_of_mask<sizeof(U)>(reaches(j + v * kWidth)) << (v * kWidth);
        }
        for (; bits != 0; bits &= bits - 1) take_one(j + __builtin_ctzll(bits));
      }
    }
    for (; i < count; ++i) take_one(i);
    count_ = taken;
    ties_left_ = ties_left;
  }

 private:
  U threshold_;
  std::int64_t ties_left_;
  Item* items_;
  std::int64_t capacity_;
  U lowest_;  // nothing below is taken any more
  std::int64_t count_ = 0;
};

/// The highest keys of consecutive blocks of one element type and order.
template <class O>
void block_extremes(const void* data, std::int64_t stride, std::int64_t length, std::int64_t block,
                    bool prefetches, void* scratch, void* extremes) {
  using T = typename O::Element;
  auto* out = static_cast<typename O::Unsigned*>(extremes);
  const T* p = static_cast<const T*>(data);
  T* const contiguous = static_cast<T*>(scratch);
  for (std::int64_t first = 0; first < length; first += block) {
    const std::int64_t count = min_of(block, length - first);
    const T* elements = p + first;
    if (stride != 1) {
      pack(p + first * stride, stride, count, contiguous);
      elements = contiguous;
    }
    *out++ = unsigned_key<O>(highest_key<O>(elements, count, prefetches && stride == 1));
  }
}

template <class Item>
std::int64_t collect_all(const TopKRow& row, Item* items) {
  for_chunks<typename Item::Key>(row, [&](std::int64_t at, const auto* keys, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) *items++ = Item::make(keys[i], at + i);
  });
  return row.length;
}

/// The keys are kept, so that each is computed once.
template <class Item, class U>
std::int64_t collect_by_counting(const TopKRow& row, U* keys, Item* items) {
  row.element->load(element_at<U>(row, row.first), row.stride, row.length, keys);
  ThresholdFilter<Item> filter(threshold_by_counting(keys, row.length, row.k), items, row.k);
  filter.take(keys, row.length, row.first);
  return filter.count();
}

/// For small k: most of the row is only read once, for the extremes of its blocks.
///
/// A threshold t that k of the blocks' extremes reach: k elements, one in each of k blocks, are at
/// least t, so nothing below t is selected. Elements above t lie in the at most k blocks whose
/// extreme is above t; exactly k only if no extreme is t. Of those equal to t only the first k can
/// be selected, so blocks whose extreme is t are looked into until k were found. So at most k *
/// block + k elements are collected, whatever the data's order.
template <class Item, class U>
std::int64_t collect_from_blocks(const TopKRow& row, U* extremes, U* keys, Item* items) {
  const TopKSelection& selection = *row.selection;
  const std::int64_t block = selection.block;
  const std::int64_t blocks = (row.length + block - 1) / block;
  row.element->extremes(element_at<U>(row, row.first), row.stride, row.length, block,
                        row.prefetches, keys, extremes);
  const U threshold = key_reached_by(extremes, blocks, row.k);
  ThresholdFilter<Item> filter({threshold, row.k}, items, selection.capacity);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const U extreme = extremes[b];
    if (extreme < threshold || (extreme == threshold && !filter.takes_ties())) continue;
    const std::int64_t first = row.first + b * block;
    const std::int64_t count = min_of(block, row.length - b * block);
    row.element->load(element_at<U>(row, first), row.stride, count, keys);
    filter.take(keys, count, first);
  }
  return filter.count();
}

/// What reaches a threshold: up to `capacity` elements.
template <class Item, class U>
std::int64_t collect_from(const TopKRow& row, Threshold<U> threshold, std::int64_t capacity,
                          Item* items) {
  ThresholdFilter<Item> filter(threshold, items, capacity);
  for_chunks<U>(row, [&](std::int64_t at, const U* keys, std::int64_t count) {
    if (!filter.full()) filter.take(keys, count, at);
  });
  return filter.count();
}

/// From a sampled threshold, or the one that is given; false if too many elements reach it, or too
/// few the sampled one.
template <class Item, class U>
bool collect_by_sample(const TopKRow& row, U* keys, Item* items, std::int64_t* count) {
  const U threshold =
      row.threshold == nullptr ? threshold_by_sample(row, keys) : static_cast<U>(*row.threshold);
  *count = collect_from(row, Threshold<U>{threshold, row.k}, row.selection->capacity, items);
  return *count < row.selection->capacity && (row.threshold != nullptr || *count >= row.k);
}

/// A part of a row's scratch memory.
template <class T>
T* part_at(const TopKRow& row, std::int64_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(row.scratch) + offset);
}

template <class Item>
std::uint64_t top_k_threshold(const TopKRow& row) {
  using U = typename Item::Key;
  const TopKRowScratch parts = top_k_row_scratch(*row.selection, sizeof(U), sizeof(Item));
  return threshold_by_sample(row, part_at<U>(row, parts.keys));
}

template <class Item>
TopKItems top_k_select(const TopKRow& row) {
  using U = typename Item::Key;
  static_assert(kTopKHistogramCounts >= top_k_sort_counts(sizeof(U)));
  const TopKRowScratch parts = top_k_row_scratch(*row.selection, sizeof(U), sizeof(Item));
  auto* const counts = part_at<std::uint32_t>(row, 0);
  U* const keys = part_at<U>(row, parts.keys);
  Item* const items = part_at<Item>(row, parts.items);
  Item* const others = parts.others == parts.bytes ? nullptr : part_at<Item>(row, parts.others);
  std::int64_t count = 0;
  std::int64_t wanted = row.k;
  switch (row.selection->strategy) {
    case TopKStrategy::kSort:
      count = collect_all(row, items);
      break;
    case TopKStrategy::kCount:
      count = collect_by_counting(row, keys, items);
      break;
    case TopKStrategy::kBlocks:
      count = collect_from_blocks(row, keys, part_at<U>(row, parts.block), items);
      break;
    case TopKStrategy::kSample:
      if (collect_by_sample(row, keys, items, &count)) {
        wanted = min_of(wanted, count);
      } else {
        count = collect_from(row, threshold_by_histograms<U>(row, counts), row.k, items);
      }
      break;
  }
  // There are fewer only if another thread changed the row between two passes over it; then the
  // answer is of no use, but the positions must be the row's.
  for (; count < wanted; ++count) items[count] = Item::make(0, row.first);
  return {sort_first(items, others, count, wanted, counts), wanted};
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
