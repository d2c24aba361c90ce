// top-k of a row: a threshold with at least k elements at or above it, a filter that collects
// those.
#pragma once

#include "kernels/highest_key-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"
#include "kernels/top_k_threshold-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Collects the elements above a threshold, and its ties, up to `capacity`: in ascending order of
/// position, or sorted if the threshold was raised. Most elements are below it, and are skipped a
/// few vectors at a time.
template <class Item>
class ThresholdFilter {
  using U = typename Item::Key;

 public:
  /// Takes as many ties as are wanted. Writes to items[0] up to items[capacity].
  ThresholdFilter(const TopKRow& row, U threshold, Item* items)
      : row_(row), threshold_(threshold), ties_left_(row.k), items_(items), lowest_(threshold) {}

  /// How many more keys there is capacity for.
  std::int64_t left() const { return row_.selection->capacity - count_; }
  /// Whether an element of this key would be taken.
  bool takes(U key) const { return key > threshold_ || (key == threshold_ && ties_left_ > 0); }

  /// Keeps the k that come first, and makes the threshold the last one's key. Keys taken later may
  /// be of any position, so of those equal to the threshold all are taken.
  void raise() {
    std::nth_element(items_, items_ + row_.k - 1, items_ + count_);
    count_ = row_.k;
    threshold_ = lowest_ = items_[count_ - 1].key();
    ties_left_ = kTopKMaxPart;
    raised_ = true;
  }

  /// Returns how many were collected: the k best if the threshold was raised. raise() moves items,
  /// so these are sorted: TopKRowKernels::sort needs equal keys in ascending order of position.
  std::int64_t end() {
    if (!raised_) return count_;
    raise();
    std::sort(items_, items_ + count_);
    return count_;
  }

  /// Takes the next `count` keys, the first of which is at position `first`. Not inlined: loops
  /// over blocks would have no registers left.
  DMLCPU_NOINLINE void take(const U* keys, std::int64_t count, std::int64_t first) {
    using V = Vector<U>;
    constexpr std::int64_t kWidth = V::kWidth;
    constexpr std::int64_t kAtOnce = min_of<std::int64_t>(4, 64 / kWidth);
    // Copies, which the compiler knows that no store to an item changes.
    Item* const items = items_;
    const U threshold = threshold_;
    std::int64_t taken = count_;
    std::int64_t ties_left = ties_left_;
    const auto take_one = [&](std::int64_t i) {
      // Written without a branch; kept only if counted.
      items[taken] = Item::make(keys[i], first + i);
      const bool equal = keys[i] == threshold;
      taken += (keys[i] > threshold) | (equal & (ties_left > 0));
      ties_left -= equal;
    };
    const auto high = [&](std::int64_t i) { return V::load(keys + i) >= lowest_; };
    const auto take_vectors = [&](std::int64_t i, std::int64_t vectors) {
      std::uint64_t bits = 0;
      for (std::int64_t v = 0; v < vectors; ++v) {
        bits |= bits_of_mask<sizeof(U)>(high(i + v * kWidth)) << (v * kWidth);
      }
      for (; bits != 0; bits &= bits - 1) take_one(i + __builtin_ctzll(bits));
    };
    std::int64_t i = 0;
    for (; i + kLanes<U> <= count; i += kLanes<U>) {
      const auto found =
          (high(i) | high(i + kWidth)) | (high(i + 2 * kWidth) | high(i + 3 * kWidth));
      if (!any(found)) continue;
      if (ties_left <= 0 && threshold == static_cast<U>(~U{0})) {
        // No key is above it, and threshold + 1 would wrap.
        i = count;
        break;
      }
      lowest_ = static_cast<U>(threshold + (ties_left <= 0));
      // As many vectors at once as a word has bits for: the end of each loop over bits is
      // mispredicted.
      for (std::int64_t j = i; j < i + kLanes<U>; j += kAtOnce * kWidth) take_vectors(j, kAtOnce);
    }
    // The rest, or a short block.
    for (; i + kWidth <= count; i += kWidth) take_vectors(i, 1);
    for (; i < count; ++i) take_one(i);
    count_ = taken;
    ties_left_ = ties_left;
  }

 private:
  const TopKRow& row_;
  U threshold_;
  std::int64_t ties_left_;
  Item* items_;
  U lowest_;  // nothing below is taken any more
  std::int64_t count_ = 0;
  bool raised_ = false;
};

/// Writes the highest key of each block, for one element type and order.
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
    *out++ = highest_key<O>(elements, count, prefetches && stride == 1);
  }
}

/// What is at or above a threshold, which rises where that is more than there is capacity for.
template <class Item, class U>
std::int64_t collect_from(const TopKRow& row, U threshold, Item* items) {
  static_assert(kLanes<U> <= tuning::kTopKFilterLeast);
  ThresholdFilter<Item> filter(row, threshold, items);
  for_chunks<U>(row, [&](std::int64_t at, const U* keys, std::int64_t count) {
    for (std::int64_t i = 0; i < count;) {
      std::int64_t part = count - i;
      if (filter.left() < min_of(part, tuning::kTopKFilterLeast)) filter.raise();
      if (filter.left() < part) part = filter.left() / kLanes<U> * kLanes<U>;
      filter.take(keys + i, part, at + i);
      i += part;
    }
  });
  return filter.end();
}

/// For short rows, all of whose keys are held in a cache. Let t be a threshold with at least k of
/// the stripes' extremes at or above it: k elements, one in each of k stripes, are at least t, so
/// nothing below t is selected. Elements above t are in the at most k stripes whose extreme is
/// above t; exactly k only if no extreme is t. Of those equal to t only the first k are selected.
/// So at most k * block + k elements are collected, whatever the data's order, and few more than k
/// where neighbouring elements are similar, as they are in different stripes.
template <class Item, class U>
std::int64_t collect_from_stripes(const TopKRow& row, U* extremes, U* held, Item* items) {
  using V = Vector<U>;
  const TopKSelection& selection = *row.selection;
  const bool spread = selection.block > 1;
  const std::int64_t stripes = spread ? selection.keys : row.length;
  U* const keys = spread ? held : extremes;
  load_keys(row.element->rule, element_at<U>(row, row.first), row.stride, row.length, keys);
  if (spread) {
    // The lowest key completes the stripes, of which there is at least a vector.
    for (std::int64_t i = row.length; i < selection.held; ++i) held[i] = 0;
    for_steps(stripes, V::kWidth, [&](std::int64_t first) {
      typename V::Type best = V::load(held + first);
      for (std::int64_t i = first + stripes; i < selection.held; i += stripes) {
        best = max_of(best, V::load(held + i));
      }
      V::store(extremes + first, best);
    });
  }
  ThresholdFilter<Item> filter(row, threshold_of(extremes, stripes, row.k), items);
  filter.take(keys, row.length, row.first);
  return filter.end();
}

/// For longer rows and small k: most of the row is only read once, for the extremes of its blocks.
/// What was said of stripes holds for blocks. Those whose extreme is t are looked into until k
/// elements equal to it were found.
///
/// Of rows that rise or fall over several blocks nearly all elements of k blocks are above t. Once
/// far more than k were collected, the other blocks are looked into in descending order of their
/// extremes, and t rises to the k-th of what was collected: few blocks have one above it then.
template <class Item, class U>
std::int64_t collect_from_blocks(const TopKRow& row, U* extremes, U* keys, Item* items) {
  const std::int64_t block = row.selection->block;
  const std::int64_t blocks = (row.length + block - 1) / block;
  const U* const first = element_at<U>(row, row.first);
  row.element->extremes(first, row.stride, row.length, block, row.prefetches, keys, extremes);
  ThresholdFilter<Item> filter(row, threshold_of(extremes, blocks, row.k), items);
  const auto look_into = [&](std::int64_t b) {
    const std::int64_t count = min_of(block, row.length - b * block);
    load_keys(row.element->rule, first + b * block * row.stride, row.stride, count, keys);
    filter.take(keys, count, row.first + b * block);
  };
  std::int64_t b = 0;
  for (; b < blocks && filter.left() >= block; ++b) {
    if (filter.takes(extremes[b])) look_into(b);
  }
  while (b < blocks) {
    if (filter.left() < block) filter.raise();
    const U highest = highest_key<OrderOf<U, true, false>>(extremes + b, blocks - b, false);
    if (!filter.takes(highest)) break;
    const std::int64_t at =
        b + find_match<false>(extremes + b, blocks - b, [highest](auto x) { return x == highest; });
    look_into(at);
    extremes[at] = 0;  // below any raised threshold
  }
  std::int64_t count = filter.end();
  // There are fewer only if another thread changed the row between two passes over it; then the
  // answer is of no use, but the positions must be the row's.
  for (; count < row.k; ++count) items[count] = Item::make(0, row.first);
  return count;
}

template <class Item>
std::int64_t top_k_collect(const TopKRow& row) {
  using U = typename Item::Key;
  U* const keys = static_cast<U*>(row.scratch);
  U* const held = keys + round_up(row.selection->keys * kSizeOf<U>) / kSizeOf<U>;
  Item* const items = static_cast<Item*>(row.items);
  const TopKStrategy strategy = row.selection->strategy;
  if (strategy == TopKStrategy::kStripes) return collect_from_stripes(row, keys, held, items);
  if (strategy == TopKStrategy::kBlocks) return collect_from_blocks(row, keys, held, items);
  if (strategy == TopKStrategy::kSample) {
    const bool given = row.threshold != nullptr;
    const std::uint64_t threshold = given ? *row.threshold : threshold_by_sample<Item>(row);
    const std::int64_t count = collect_from(row, static_cast<U>(threshold), items);
    return given || count >= row.k ? count : collect_from(row, U{0}, items);
  }
  for_chunks<U>(row, [&](std::int64_t at, const U* from, std::int64_t n) {
    Item* const to = items + (at - row.first);
    for (std::int64_t i = 0; i < n; ++i) to[i] = Item::make(from[i], at + i);
  });
  return row.length;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
