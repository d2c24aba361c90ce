// top-k: validate, plan, run.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/arg.hpp"
#include "ops/index_output.hpp"
#include "ops/ranking.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {
namespace {

/// NaNs rank above the numbers when they propagate, which is first only for the largest.
bool nans_first(const TopKDescriptor& descriptor) {
  return descriptor.nan_policy == NanPolicy::kPropagate &&
         descriptor.axis_direction == AxisDirection::kDecreasing;
}

/// Cache-line aligned bytes.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes)
      : bytes_(static_cast<char*>(::operator new(static_cast<std::size_t>(bytes), kAlignment))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete(bytes_, kAlignment); }
  char* at(std::int64_t offset) const { return bytes_ + offset; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  char* bytes_;
};

class TopKRun {
 public:
  TopKRun(const TopKDescriptor& descriptor, const TopKPlan& plan)
      : plan_(plan),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        input_(static_cast<const char*>(descriptor.input.data)),
        values_(static_cast<char*>(descriptor.values.data)),
        indices_(descriptor.indices, 0),
        type_(static_cast<int>(descriptor.input.type)),
        ranking_(static_cast<int>(ranking(descriptor.axis_direction == AxisDirection::kDecreasing,
                                          nans_first(descriptor)))),
        load_(kernels().top_k->load[type_][ranking_]),
        extremes_(kernels().top_k->extremes[type_][ranking_]),
        select_(kernels().top_k->select[width_index(element_size_)]
                                       [static_cast<int>(plan.selection.strategy)]),
        lanes_(kernels().top_k->lanes[width_index(element_size_)]),
        pack_(kernels().top_k->pack[width_index(element_size_)]) {}

  void run() const {
    if (plan_.pieces > 1) {
      run_in_pieces();
      return;
    }
    const std::int64_t lists = plan_.lanes ? plan_.group : 1;
    const std::int64_t item_bytes = round_up(lists * plan_.k * std::int64_t{sizeof(TopKItem)});
    const std::int64_t kernel_bytes =
        round_up(plan_.lanes ? lanes_scratch_bytes(element_size_, plan_.length)
                             : plan_.selection.scratch_bytes);
    const std::int64_t pack_bytes =
        plan_.packed ? round_up(plan_.group * plan_.length * element_size_) : 0;
    const std::int64_t worker_bytes = item_bytes + kernel_bytes + pack_bytes;
    const std::int64_t cells = plan_.cells();
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, cells));
    const Scratch scratch(worker_bytes * threads);
    parallel_for(threads, cells, [&](std::int64_t cell, int worker) {
      char* const mine = scratch.at(worker * worker_bytes);
      run_group(cell, reinterpret_cast<TopKItem*>(mine), mine + item_bytes,
                mine + item_bytes + kernel_bytes);
    });
  }

 private:
  void run_group(std::int64_t cell, TopKItem* items, char* kernel_scratch, char* packed) const {
    const std::int64_t first = cell % plan_.groups() * plan_.group;
    const std::int64_t lines = std::min(plan_.group, plan_.lines.size - first);
    Offsets offsets = Odometer(plan_.outer, cell / plan_.groups()).offsets();
    for (int s = 0; s < 3; ++s) offsets[s] += first * plan_.lines.strides[s];
    const char* data = input_ + offsets[0] * element_size_;
    std::int64_t line_stride = plan_.lines.strides[0];
    if (plan_.packed) {
      pack_(data, plan_.input_stride, plan_.length, line_stride, lines, packed);
      data = packed;
      line_stride = plan_.length;
    }
    if (plan_.lanes) {
      TopKLines group{};
      group.data = data;
      group.element_size = element_size_;
      group.stride = plan_.stride;
      group.line_stride = line_stride;
      group.length = plan_.length;
      group.lines = lines;
      group.k = plan_.k;
      group.load = load_;
      group.scratch = kernel_scratch;
      lanes_(group, items);
      for (std::int64_t l = 0; l < lines; ++l) {
        write(data + l * line_stride * element_size_, items + l * plan_.k, plan_.k,
              offsets[1] + l * plan_.lines.strides[1], offsets[2] + l * plan_.lines.strides[2]);
      }
      return;
    }
    for (std::int64_t l = 0; l < lines; ++l) {
      const char* line = data + l * line_stride * element_size_;
      select(line, plan_.length, plan_.k, kernel_scratch, items);
      write(line, items, plan_.k, offsets[1] + l * plan_.lines.strides[1],
            offsets[2] + l * plan_.lines.strides[2]);
    }
  }

  /// One line at a time, each cut into pieces for all threads.
  void run_in_pieces() const {
    const std::int64_t kept = std::min(plan_.k, plan_.longest_piece());
    const std::int64_t item_bytes = round_up(kept * std::int64_t{sizeof(TopKItem)});
    const std::int64_t kernel_bytes = round_up(plan_.selection.scratch_bytes);
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, plan_.pieces));
    const Scratch scratch(item_bytes * plan_.pieces + kernel_bytes * threads);
    // Everything is allocated before the first line is written.
    std::vector<TopKItem> merged(static_cast<std::size_t>(plan_.k));
    std::vector<Head> heads(static_cast<std::size_t>(plan_.pieces));
    const auto items_of = [&](std::int64_t piece) {
      return reinterpret_cast<TopKItem*>(scratch.at(piece * item_bytes));
    };
    Axes all = plan_.outer;
    all.push(plan_.lines);
    Odometer position(all);
    for (std::int64_t line = positions(all); line > 0; --line, position.next()) {
      const Offsets& offsets = position.offsets();
      const char* data = input_ + offsets[0] * element_size_;
      parallel_for(threads, plan_.pieces, [&](std::int64_t piece, int worker) {
        const std::int64_t first = plan_.piece_start(piece);
        const std::int64_t length = plan_.piece_start(piece + 1) - first;
        select(data + first * plan_.stride * element_size_, length, std::min(plan_.k, length),
               scratch.at(plan_.pieces * item_bytes + worker * kernel_bytes), items_of(piece));
      });
      merge_pieces(items_of, heads, merged.data());
      const std::int64_t tasks = plan_.k < tuning::kTopKMinWrites ? 1 : threads;
      parallel_for(threads, tasks, [&](std::int64_t task, int) {
        const std::int64_t first = plan_.k * task / tasks;
        write(data, merged.data() + first, plan_.k * (task + 1) / tasks - first,
              offsets[1] + first * plan_.value_stride, offsets[2] + first * plan_.index_stride);
      });
    }
  }

  /// What is left of a piece's sorted items, and where the piece starts.
  struct Head {
    const TopKItem* next;
    const TopKItem* last;
    std::int64_t start;
  };

  /// Merges the pieces' sorted items; of equal ranks the earlier piece's come first.
  template <class ItemsOf>
  void merge_pieces(const ItemsOf& items_of, std::vector<Head>& heads, TopKItem* merged) const {
    for (std::int64_t piece = 0; piece < plan_.pieces; ++piece) {
      const std::int64_t start = plan_.piece_start(piece);
      const TopKItem* items = items_of(piece);
      const std::int64_t length = plan_.piece_start(piece + 1) - start;
      heads[static_cast<std::size_t>(piece)] = {items, items + std::min(plan_.k, length), start};
    }
    for (std::int64_t i = 0; i < plan_.k; ++i) {
      Head* best = nullptr;
      for (Head& head : heads) {
        if (head.next == head.last) continue;
        if (best == nullptr || head.next->rank > best->next->rank) best = &head;
      }
      merged[i] = {best->next->rank, best->start + best->next->index};
      ++best->next;
    }
  }

  void select(const char* data, std::int64_t length, std::int64_t k, char* kernel_scratch,
              TopKItem* items) const {
    TopKRow row{};
    row.data = data;
    row.element_size = element_size_;
    row.stride = plan_.stride;
    row.length = length;
    row.k = k;
    row.block = plan_.selection.block;
    row.sort_all = plan_.selection.sort_all;
    row.load = load_;
    row.extremes = extremes_;
    row.scratch = kernel_scratch;
    select_(row, items);
  }

  void write(const char* line, const TopKItem* items, std::int64_t count, std::int64_t value_offset,
             std::int64_t index_offset) const {
    switch (element_size_) {
      case 1:
        return write_as<std::uint8_t>(line, items, count, value_offset, index_offset);
      case 2:
        return write_as<std::uint16_t>(line, items, count, value_offset, index_offset);
      case 4:
        return write_as<std::uint32_t>(line, items, count, value_offset, index_offset);
      default:
        return write_as<std::uint64_t>(line, items, count, value_offset, index_offset);
    }
  }

  template <class U>
  void write_as(const char* line, const TopKItem* items, std::int64_t count,
                std::int64_t value_offset, std::int64_t index_offset) const {
    char* to = values_ + value_offset * element_size_;
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * plan_.value_stride * element_size_,
                  line + items[i].index * plan_.stride * element_size_, sizeof(U));
      indices_.write(index_offset + i * plan_.index_stride, 0, &items[i].index, 1);
    }
  }

  const TopKPlan& plan_;
  std::int64_t element_size_;
  const char* input_;
  char* values_;
  IndexOutput indices_;
  int type_;
  int ranking_;
  RankLoader load_;
  BlockExtremes extremes_;
  TopKKernel select_;
  TopKLanesKernel lanes_;
  LinePacker pack_;
};

/// k = 1 is an argmax or argmin, whose kernels are faster; then the values are looked up.
void run_single(const TopKDescriptor& descriptor) {
  ArgDescriptor arg;
  arg.input = descriptor.input;
  arg.axes.all = false;
  arg.axes.count = 1;
  arg.axes.values[0] = descriptor.axis;
  arg.largest = descriptor.axis_direction == AxisDirection::kDecreasing;
  arg.nan_policy = nans_first(descriptor) ? NanPolicy::kPropagate : NanPolicy::kOmit;
  arg.output = descriptor.indices;
  run_valid(arg);

  const int axis = search_axis(descriptor);
  Axes lines;
  for (int d = 0; d < descriptor.input.rank; ++d) {
    if (d == axis) continue;
    lines.push({descriptor.input.sizes[d],
                {descriptor.input.strides[d], descriptor.values.strides[d],
                 descriptor.indices.strides[d]}});
  }
  simplify(lines);
  const std::size_t size = info(descriptor.input.type).size;
  const auto step = static_cast<std::int64_t>(size);
  const IndexOutput indices(descriptor.indices, 0);
  const std::int64_t stride = descriptor.input.rank == 0 ? 0 : descriptor.input.strides[axis];
  const std::int64_t last = axis_size(descriptor.input, axis) - 1;
  Odometer position(lines);
  for (std::int64_t i = positions(lines); i > 0; --i, position.next()) {
    const auto [input, value, index] = position.offsets();
    // Clamped in case another thread writes to the output meanwhile.
    const std::int64_t at = std::clamp<std::int64_t>(indices.read(index), 0, last);
    std::memcpy(static_cast<char*>(descriptor.values.data) + value * step,
                static_cast<const char*>(descriptor.input.data) + (input + at * stride) * step,
                size);
  }
}

}  // namespace

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  if (element_count(shape_of(descriptor.values)) == 0) return;
  if (descriptor.k == 1) {
    run_single(descriptor);
    return;
  }
  const std::int64_t bytes = element_count(shape_of(descriptor.input)) *
                             static_cast<std::int64_t>(info(descriptor.input.type).size);
  const TopKPlan plan = plan_top_k(descriptor, threads_for_bytes(bytes));
  TopKRun(descriptor, plan).run();
}

}  // namespace dmlcpu
