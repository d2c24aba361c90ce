// gather: validate, plan, check the indices, copy.
#include "ops/gather_nd.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "core/cpu.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/shapes.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/text.hpp"

namespace dmlcpu {
namespace {

static_assert(kMaxTupleLength == kMaxRank);

class GatherNdRun {
 public:
  GatherNdRun(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
              const void* indices, void* output)
      : plan_(plan),
        kernels_(*kernels().gather),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        index_size_(static_cast<std::int64_t>(info(descriptor.indices.type).size)),
        input_(static_cast<const char*>(input)),
        indices_(static_cast<const char*>(indices)),
        output_(static_cast<char*>(output)),
        signed_(is_signed_index(descriptor.indices.type)) {
    const std::int64_t written = element_count(descriptor.output) * element_size_;
    const std::int64_t read = element_count(descriptor.input) * element_size_;
    static const bool gains = cpu_gains_by_streaming();
    stream_ = gains && written >= tuning::kGatherStreamBytes &&
              written + read >= tuning::kGatherCachedBytes;
  }

  /// Whether every coordinate is in range.
  bool in_range() const {
    return for_chunks([this](const Chunk& chunk) {
      return kernels_.check[wide()](chunk.tuples, 0, chunk.count);
    });
  }

  /// Whether every coordinate was in range or clipped; if not, some slices are not copied.
  bool copy(bool clips) const {
    return for_chunks([this, clips](Chunk& chunk) {
      chunk.tuples.clips = clips;
      if (plan_.at_once) return kernels_.at_once[wide()](chunk.tuples, chunk.count, chunk.copy);
      return copy_in_blocks(chunk);
    });
  }

 private:
  struct Chunk {
    GatherTuples tuples;
    std::int64_t count;
    GatherCopy copy;
  };

  bool wide() const { return index_size_ == 8; }

  /// The tuples of a task's row.
  Chunk chunk_of(const Task& task, std::int64_t row) const {
    const Axis& tuples = plan_.tasks.results;
    Offsets offsets = task.offsets;
    for (int s = 0; s < 3; ++s) offsets[s] += row * plan_.tasks.groups.strides[s];
    Chunk chunk{};
    chunk.tuples.indices = indices_ + offsets[0] * index_size_;
    chunk.tuples.tuple_stride = tuples.strides[0];
    chunk.tuples.coordinate_stride = plan_.coordinate_stride;
    chunk.tuples.batch_stride = tuples.strides[1] * element_size_;
    chunk.tuples.axes = plan_.axes.data();
    chunk.tuples.length = plan_.tuple_length;
    chunk.tuples.is_signed = signed_;
    chunk.count = task.results;
    chunk.copy.data = input_ + offsets[1] * element_size_;
    chunk.copy.output = output_ + offsets[2] * element_size_;
    chunk.copy.output_stride = tuples.strides[2] * element_size_;
    chunk.copy.bytes = plan_.slice.size * element_size_;
    chunk.copy.from_stride = plan_.slice.strides[0];
    chunk.copy.to_stride = plan_.slice.strides[1];
    chunk.copy.stream = stream_;
    return chunk;
  }

  /// Calls body(chunk) for all chunks; whether it always returned true.
  template <class Body>
  bool for_chunks(Body&& body) const {
    std::atomic<bool> good{true};
    for_tasks(plan_.tasks, plan_.threads, [&](const Task& task, int) {
      for (std::int64_t row = 0; row < task.groups; ++row) {
        Chunk chunk = chunk_of(task, row);
        if (!body(chunk)) good.store(false, std::memory_order_relaxed);
      }
    });
    return good.load();
  }

  /// Offsets of kGatherChunk tuples, which should stay in the cache, then their slices.
  bool copy_in_blocks(const Chunk& chunk) const {
    std::int64_t offsets[tuning::kGatherChunk];
    const GatherCopyKernel kernel =
        plan_.contiguous ? kernels_.copy : kernels_.copy_strided[width_index(element_size_)];
    for (std::int64_t first = 0; first < chunk.count; first += tuning::kGatherChunk) {
      const std::int64_t count = std::min(tuning::kGatherChunk, chunk.count - first);
      if (!kernels_.offsets[wide()](chunk.tuples, first, count, offsets)) return false;
      Odometer slice(plan_.slices);
      for (std::int64_t s = positions(plan_.slices); s > 0; --s, slice.next()) {
        GatherCopy copy = chunk.copy;
        copy.data += slice.offsets()[0] * element_size_;
        copy.output += slice.offsets()[1] * element_size_ + first * copy.output_stride;
        kernel(copy, offsets, count);
      }
    }
    return true;
  }

  const GatherNdPlan& plan_;
  const GatherKernels& kernels_;
  std::int64_t element_size_;
  std::int64_t index_size_;
  const char* input_;
  const char* indices_;
  char* output_;
  bool signed_;
  bool stream_ = false;
};

/// A coordinate's value as text if it is out of range, else nothing.
std::string out_of_range(DataType type, const void* indices, std::int64_t offset,
                         std::int64_t size) {
  const auto text_of = [&](auto zero) {
    const auto value = static_cast<const decltype(zero)*>(indices)[offset];
    const bool in_range =
        value < zero ? static_cast<std::int64_t>(value) >= -size
                     : static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(size);
    return in_range ? std::string() : std::to_string(value);
  };
  switch (type) {
    case DataType::kUInt32:
      return text_of(std::uint32_t{0});
    case DataType::kInt32:
      return text_of(std::int32_t{0});
    case DataType::kUInt64:
      return text_of(std::uint64_t{0});
    default:
      return text_of(std::int64_t{0});
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
    const std::string value = out_of_range(indices.type, data, position.offsets()[0], size);
    if (value.empty()) continue;
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
        value + " at position " + to_text(at));
  }
}

}  // namespace

GatherNdPlan plan(const GatherNdDescriptor& descriptor) {
  const std::int64_t coordinates = element_count(descriptor.indices);
  if (coordinates == 0) return {};
  const auto element_size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  std::int64_t bytes = coordinates * static_cast<std::int64_t>(info(descriptor.indices.type).size) +
                       element_count(descriptor.output) * element_size;
  // Each tuple moves a cache line of an input that is not in a cache.
  const std::int64_t line_bytes = coordinates / tuple_length(descriptor) * tuning::kLookUpBytes;
  const std::int64_t read = element_count(descriptor.input) * element_size;
  if (std::min(read, line_bytes) > tuning::kGatherAtOnceInputBytes) bytes += line_bytes;
  return plan_gather_nd(descriptor, threads_for_bytes(bytes, tuning::kGatherLeastGrains));
}

void run_planned(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
                 const void* indices, void* output) {
  if (element_count(descriptor.indices) == 0) return;
  const GatherNdRun gather(descriptor, plan, input, indices, output);
  const bool empty = element_count(descriptor.output) == 0;
  if (descriptor.mode == IndexMode::kRaise) {
    // Nobody has seen a new output yet.
    const bool at_once = descriptor.output_is_new && !empty;
    if (at_once && gather.copy(false)) return;
    if (at_once || !gather.in_range()) fail_first_out_of_range(descriptor, indices);
  }
  // Clipped also if nothing was found out of range a second time: another thread changes the
  // indices.
  if (!empty) gather.copy(true);
}

std::size_t detail::plan_text(const GatherNdDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  return copy_text(to_text(plan(descriptor)), text, size);
}

void run(const GatherNdDescriptor& descriptor) {
  validate(descriptor);
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.indices.data,
              descriptor.output.data);
}

}  // namespace dmlcpu
