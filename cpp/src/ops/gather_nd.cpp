// gather: validate, plan, check the indices, copy.
#include "ops/gather_nd.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "core/cpu.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"

namespace dmlcpu {
namespace {

/// 0 to 3 for uint32, int32, uint64 and int64, as in GatherKernels.
int index_type_number(DataType type) {
  switch (type) {
    case DataType::kUInt32:
      return 0;
    case DataType::kInt32:
      return 1;
    case DataType::kUInt64:
      return 2;
    default:
      return 3;
  }
}

bool is_signed_index(DataType type) { return type == DataType::kInt32 || type == DataType::kInt64; }

static_assert(kMaxTupleLength == kMaxRank);

class GatherNdRun {
 public:
  GatherNdRun(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
              const void* indices, void* output)
      : plan_(plan),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        index_size_(static_cast<std::int64_t>(info(descriptor.indices.type).size)),
        input_(static_cast<const char*>(input)),
        indices_(static_cast<const char*>(indices)),
        output_(static_cast<char*>(output)) {
    const int type = index_type_number(descriptor.indices.type);
    const bool narrow = plan.packed && plan.narrow;
    const bool clips = descriptor.mode == IndexMode::kClip;
    offsets_ = !narrow ? kernels().gather->offsets[type]
               : clips ? kernels().gather->narrow_clipped_offsets[type]
                       : kernels().gather->narrow_offsets[type];
    check_ = kernels().gather->check[type];
    copy_ = kernels().gather->copy[width_index(element_size_)];
    const std::int64_t written = element_count(descriptor.output) * element_size_;
    const std::int64_t read = element_count(descriptor.input) * element_size_;
    static const bool gains = cpu_gains_by_streaming();
    stream_ = gains && written >= tuning::kGatherStreamBytes &&
              written + read >= tuning::kGatherCachedBytes;
  }

  /// Whether every coordinate is in range.
  bool in_range() const {
    return for_chunks([this](const Cell& cell, std::int64_t first, std::int64_t count) {
      return check_(cell.tuples, first, count);
    });
  }

  void copy() const {
    for_chunks([this](const Cell& cell, std::int64_t first, std::int64_t count) {
      std::int64_t offsets[tuning::kGatherChunk];
      offsets_(cell.tuples, first, count, offsets);
      copy_chunk(cell, first, count, offsets);
      return true;
    });
  }

  /// Copies in the same pass what is in range; whether everything was.
  bool copy_in_range() const {
    return for_chunks([this](const Cell& cell, std::int64_t first, std::int64_t count) {
      std::int64_t offsets[tuning::kGatherChunk];
      if (!offsets_(cell.tuples, first, count, offsets)) return false;
      copy_chunk(cell, first, count, offsets);
      return true;
    });
  }

 private:
  struct Cell {
    GatherTuples tuples;
    std::int64_t count;
    std::int64_t input_offset;
    std::int64_t output_offset;
  };

  Cell cell_at(std::int64_t number) const {
    const std::int64_t first = number % plan_.chunks() * plan_.chunk;
    Offsets offsets = Odometer(plan_.outer, number / plan_.chunks()).offsets();
    for (int s = 0; s < 3; ++s) offsets[s] += first * plan_.tuples.strides[s];
    Cell cell{};
    cell.tuples.indices = indices_ + offsets[0] * index_size_;
    cell.tuples.tuple_stride = plan_.tuples.strides[0];
    cell.tuples.batch_stride = plan_.tuples.strides[1];
    cell.tuples.coordinate_stride = plan_.coordinate_stride;
    cell.tuples.length = plan_.tuple_length;
    cell.tuples.sizes = plan_.sizes.data();
    cell.tuples.strides = plan_.strides.data();
    cell.tuples.packed = plan_.packed;
    cell.tuples.lowest = plan_.lowest;
    cell.tuples.range = plan_.range;
    cell.count = std::min(plan_.chunk, plan_.tuples.size - first);
    cell.input_offset = offsets[1];
    cell.output_offset = offsets[2];
    return cell;
  }

  /// Calls body(cell, first, count) for all tuples, a chunk at a time: each coordinate is a pass
  /// over the tuples, which should stay in the cache. Whether it always returned true.
  template <class Body>
  bool for_chunks(Body&& body) const {
    std::atomic<bool> good{true};
    parallel_for(plan_.threads, plan_.cells(), [&](std::int64_t cell_number, int) {
      const Cell cell = cell_at(cell_number);
      for (std::int64_t first = 0; first < cell.count; first += tuning::kGatherChunk) {
        const std::int64_t count = std::min(tuning::kGatherChunk, cell.count - first);
        if (!body(cell, first, count)) good.store(false, std::memory_order_relaxed);
      }
    });
    return good.load();
  }

  void copy_chunk(const Cell& cell, std::int64_t first, std::int64_t count,
                  const std::int64_t* offsets) const {
    Odometer slice(plan_.slices);
    for (std::int64_t s = positions(plan_.slices); s > 0; --s, slice.next()) {
      GatherCopy copy{};
      copy.data = input_ + (cell.input_offset + slice.offsets()[0]) * element_size_;
      copy.output =
          output_ + (cell.output_offset + slice.offsets()[1] + first * plan_.tuples.strides[2]) *
                        element_size_;
      copy.output_stride = plan_.tuples.strides[2];
      copy.inner = plan_.slice.size;
      copy.input_stride = plan_.slice.strides[0];
      copy.slice_stride = plan_.slice.strides[1];
      copy.stream = stream_;
      copy_(copy, offsets, count);
    }
  }

  const GatherNdPlan& plan_;
  std::int64_t element_size_;
  std::int64_t index_size_;
  const char* input_;
  const char* indices_;
  char* output_;
  GatherOffsets offsets_ = nullptr;
  GatherCheck check_ = nullptr;
  GatherCopyKernel copy_ = nullptr;
  bool stream_ = false;
};

/// A coordinate's value as text, and whether it is in range.
struct Coordinate {
  bool in_range;
  std::string text;
};

template <class I>
Coordinate read_coordinate(const void* indices, std::int64_t offset, std::int64_t size) {
  const I value = static_cast<const I*>(indices)[offset];
  const bool in_range = value < 0
                            ? static_cast<std::int64_t>(value) >= -size
                            : static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(size);
  return {in_range, in_range ? std::string() : std::to_string(value)};
}

Coordinate read_coordinate(DataType type, const void* indices, std::int64_t offset,
                           std::int64_t size) {
  switch (type) {
    case DataType::kUInt32:
      return read_coordinate<std::uint32_t>(indices, offset, size);
    case DataType::kInt32:
      return read_coordinate<std::int32_t>(indices, offset, size);
    case DataType::kUInt64:
      return read_coordinate<std::uint64_t>(indices, offset, size);
    default:
      return read_coordinate<std::int64_t>(indices, offset, size);
  }
}

/// Throws for the first coordinate out of range in row-major order. Only run once one was found,
/// so it may take its time.
void fail_first_out_of_range(const GatherNdDescriptor& descriptor, const void* data) {
  const ConstTensor& indices = descriptor.indices;
  Axes axes;
  for (int d = 0; d < indices.rank; ++d) axes.push({indices.sizes[d], {indices.strides[d], 0, 0}});
  const int batch = static_cast<int>(descriptor.batch_dims);
  const std::int64_t tuple = tuple_length(descriptor);
  Odometer position(axes);
  const std::int64_t count = element_count(indices);
  for (std::int64_t i = 0; i < count; ++i, position.next()) {
    const int axis = batch + static_cast<int>(i % tuple);
    const std::int64_t size = descriptor.input.sizes[axis];
    const Coordinate coordinate = read_coordinate(indices.type, data, position.offsets()[0], size);
    if (coordinate.in_range) continue;
    Shape at{indices.rank, {}};
    std::int64_t rest = i;
    for (int d = indices.rank - 1; d >= 0; --d) {
      at.sizes[d] = rest % indices.sizes[d];
      rest /= indices.sizes[d];
    }
    const std::string of_axis =
        "axis " + std::to_string(axis) + ", of size " + std::to_string(size);
    const std::string low = is_signed_index(indices.type) ? std::to_string(-size) : "0";
    fail<IndexError>(
        "indices",
        size == 0 ? "must be empty for " + of_axis
                  : "must be in [" + low + ", " + std::to_string(size - 1) + "] for " + of_axis,
        coordinate.text + " at position " + to_text(at));
  }
}

}  // namespace

GatherNdPlan plan(const GatherNdDescriptor& descriptor) {
  if (element_count(descriptor.indices) == 0) return {};
  const std::int64_t bytes = element_count(descriptor.output) *
                                 static_cast<std::int64_t>(info(descriptor.input.type).size) +
                             element_count(descriptor.indices) *
                                 static_cast<std::int64_t>(info(descriptor.indices.type).size);
  return plan_gather_nd(descriptor, threads_for_bytes(bytes));
}

void run_planned(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
                 const void* indices, void* output) {
  if (element_count(descriptor.indices) == 0) return;
  const GatherNdRun gather(descriptor, plan, input, indices, output);
  const bool empty = element_count(descriptor.output) == 0;
  if (descriptor.mode == IndexMode::kRaise) {
    // An empty axis has no offsets to compute.
    const bool at_once = descriptor.output_is_new && !empty && element_count(descriptor.input) > 0;
    if (at_once && gather.copy_in_range()) return;
    if (at_once || !gather.in_range()) fail_first_out_of_range(descriptor, indices);
  }
  // Also if nothing was found out of range a second time: another thread changes the indices.
  if (!empty) gather.copy();
}

void run(const GatherNdDescriptor& descriptor) {
  validate(descriptor);
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.indices.data,
              descriptor.output.data);
}

}  // namespace dmlcpu
