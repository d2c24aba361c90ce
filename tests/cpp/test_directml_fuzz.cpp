// Descriptors made at random, some of them broken: each is refused, or runs without touching
// anything outside its tensors' elements. Buffers have exactly the bytes that are used, so that
// AddressSanitizer sees the first byte too many; what lies between an output's elements is
// compared.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "dmlcpu/directml.h"
#include "dmlcpu/runtime.hpp"

namespace {

std::mt19937 random_engine(20261121);

/// A number in [0, end).
UINT below(UINT end) { return static_cast<UINT>(random_engine() % end); }

bool once_in(UINT times) { return below(times) == 0; }

/// What somebody could write into a field of small numbers.
UINT odd_number() {
  static const UINT numbers[] = {0, 1, 2, 3, 8, 9, 255, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
  return numbers[below(sizeof numbers / sizeof numbers[0])];
}

template <class Enum>
void spoil(Enum& field) {
  const UINT number = odd_number();
  std::memcpy(&field, &number, sizeof field);
}

/// A tensor descriptor with memory of its own.
struct Tensor {
  UINT sizes[9]{};
  UINT strides[9]{};
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{DML_TENSOR_TYPE_BUFFER, nullptr};
  std::unique_ptr<char[]> memory;
  std::uint64_t bytes = 0;

  /// Sizes are set already. Strides pack the tensor, in any order of its axes, with gaps; inputs
  /// may broadcast.
  void describe(UINT type, UINT rank, bool is_input) {
    std::memcpy(&buffer.DataType, &type, sizeof type);
    buffer.DimensionCount = rank;
    buffer.Sizes = sizes;
    if (!once_in(3)) {
      buffer.Strides = strides;
      UINT stride = once_in(4) ? 2 : 1;
      UINT order[8];
      for (UINT d = 0; d < rank; ++d) order[d] = d;
      if (once_in(2)) std::shuffle(order, order + rank, random_engine);
      for (UINT i = rank; i-- > 0;) {
        strides[order[i]] = is_input && once_in(6) ? 0 : stride;
        stride *= sizes[order[i]] + (once_in(6) ? 1 : 0);
      }
    }
    buffer.TotalTensorSizeInBytes =
        DMLCalcBufferTensorSize(buffer.DataType, rank, sizes, buffer.Strides);
    desc.Desc = &buffer;
  }

  /// Breaks a field, now and then.
  void maybe_spoil() {
    if (!once_in(12)) return;
    switch (below(9)) {
      case 0:
        spoil(buffer.DataType);
        break;
      case 1:
        spoil(buffer.Flags);
        break;
      case 2:
        buffer.DimensionCount = odd_number();
        break;
      case 3:
        sizes[below(8)] = odd_number();
        break;
      case 4:
        strides[below(8)] = odd_number();
        break;
      case 5:
        buffer.TotalTensorSizeInBytes = odd_number();
        break;
      case 6:
        buffer.GuaranteedBaseOffsetAlignment = odd_number();
        break;
      case 7:
        spoil(desc.Type);
        break;
      default:
        desc.Desc = nullptr;
    }
  }

  /// The bytes up to the last element, of a descriptor that was accepted.
  void allocate(std::size_t element_size) {
    std::uint64_t last = 0;
    std::uint64_t stride = 1;
    for (UINT d = buffer.DimensionCount; d-- > 0;) {
      last += (sizes[d] - std::uint64_t{1}) * (buffer.Strides != nullptr ? strides[d] : stride);
      stride *= sizes[d];
    }
    bytes = (last + 1) * element_size;
    if (bytes > (1U << 20)) return;  // a spoiled size may be huge and still be right
    memory = std::make_unique<char[]>(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) {
      memory[i] = static_cast<char>(once_in(2) ? below(4) : below(256));
    }
  }

  /// Which bytes belong to elements.
  std::vector<bool> used(std::size_t element_size) const {
    std::vector<bool> mask(bytes);
    std::uint64_t count = 1;
    for (UINT d = 0; d < buffer.DimensionCount; ++d) count *= sizes[d];
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t rest = i;
      std::uint64_t offset = 0;
      std::uint64_t stride = 1;
      for (UINT d = buffer.DimensionCount; d-- > 0; rest /= sizes[d]) {
        offset += rest % sizes[d] * (buffer.Strides != nullptr ? strides[d] : stride);
        stride *= sizes[d];
      }
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(offset * element_size), element_size,
                  true);
    }
    return mask;
  }
};

std::size_t element_size(const Tensor& tensor) {
  static const std::size_t sizes[] = {0, 4, 2, 4, 2, 1, 4, 2, 1, 8, 8, 8};
  return sizes[tensor.buffer.DataType];
}

UINT random_data_type() { return 1 + below(11); }

UINT random_index_type() {
  static const UINT types[] = {3, 6, 10, 11};
  return types[below(4)];
}

struct Counts {
  int refused = 0;
  int run = 0;
};

/// Compiles and dispatches: tensors in the order of the fields.
void run(const DML_OPERATOR_DESC& op, Tensor* const (&tensors)[3], UINT inputs, UINT outputs,
         Counts& counts) {
  dmlcpu_compile_options options = DMLCPU_COMPILE_OPTIONS_INIT;
  options.nan_policy = once_in(2) ? DMLCPU_NAN_OMIT : DMLCPU_NAN_PROPAGATE;
  options.index_mode = once_in(4) ? DMLCPU_INDEX_RAISE : DMLCPU_INDEX_CLIP;
  if (once_in(20)) spoil(options.feature_level);
  dmlcpu_operator* compiled = nullptr;
  const dmlcpu_status status = dmlcpu_compile(&op, &options, &compiled);
  CHECK((status == DMLCPU_OK) == (compiled != nullptr));
  CHECK(status <= DMLCPU_FEATURE_LEVEL);
  if (status != DMLCPU_OK) {
    CHECK(std::strstr(dmlcpu_message(), ", got ") != nullptr);
    ++counts.refused;
    return;
  }
  dmlcpu_input in[2]{};
  dmlcpu_output out[2]{};
  bool fits = true;
  for (UINT t = 0; t < inputs + outputs; ++t) {
    Tensor& tensor = *tensors[t];
    tensor.allocate(element_size(tensor));
    fits = fits && tensor.memory != nullptr;
    if (t < inputs) {
      in[t] = {tensor.memory.get(), tensor.bytes};
    } else {
      out[t - inputs] = {tensor.memory.get(), tensor.bytes};
    }
  }
  if (fits) {
    std::vector<char> before[2];
    for (UINT o = 0; o < outputs; ++o) {
      const char* const memory = tensors[inputs + o]->memory.get();
      before[o].assign(memory, memory + tensors[inputs + o]->bytes);
    }
    const dmlcpu_status done = dmlcpu_dispatch(compiled, in, inputs, out, outputs);
    CHECK(done == DMLCPU_OK ||
          (done == DMLCPU_INDEX_OUT_OF_RANGE && options.index_mode == DMLCPU_INDEX_RAISE));
    ++counts.run;
    for (UINT o = 0; o < outputs; ++o) {
      const Tensor& tensor = *tensors[inputs + o];
      const std::vector<bool> used = tensor.used(element_size(tensor));
      bool kept = true;
      for (std::uint64_t i = 0; i < tensor.bytes; ++i) {
        kept = kept && (used[i] || tensor.memory[i] == before[o][i]);
      }
      CHECK(kept);
    }
    // Honest about a buffer that is too short.
    dmlcpu_input& victim = in[below(inputs)];
    victim.size_in_bytes = below(static_cast<UINT>(victim.size_in_bytes));
    CHECK(dmlcpu_dispatch(compiled, in, inputs, out, outputs) == DMLCPU_INVALID_VALUE);
  }
  dmlcpu_release(compiled);
}

void fuzz_arg(Counts& counts) {
  const UINT rank = 1 + below(8);
  Tensor in;
  Tensor out;
  std::vector<UINT> axes;
  for (UINT d = 0; d < rank; ++d) {
    in.sizes[d] = 1 + below(rank < 4 ? 20 : 3);
    const bool reduced = once_in(2);
    if (reduced) axes.push_back(d);
    out.sizes[d] = reduced ? 1 : in.sizes[d];
  }
  in.describe(random_data_type(), rank, true);
  out.describe(random_index_type(), rank, false);
  in.maybe_spoil();
  out.maybe_spoil();
  if (!axes.empty() && once_in(12)) axes[below(static_cast<UINT>(axes.size()))] = odd_number();
  DML_ARGMAX_OPERATOR_DESC desc{&in.desc, &out.desc, static_cast<UINT>(axes.size()), axes.data(),
                                DML_AXIS_DIRECTION_INCREASING};
  if (once_in(2)) desc.AxisDirection = DML_AXIS_DIRECTION_DECREASING;
  if (once_in(30)) spoil(desc.AxisDirection);
  const DML_OPERATOR_DESC op{once_in(2) ? DML_OPERATOR_ARGMAX : DML_OPERATOR_ARGMIN, &desc};
  run(op, {&in, &out, nullptr}, 1, 1, counts);
}

void fuzz_top_k(Counts& counts) {
  const UINT rank = 1 + below(8);
  const UINT axis = below(rank);
  Tensor in;
  Tensor values;
  Tensor indices;
  for (UINT d = 0; d < rank; ++d) {
    in.sizes[d] = 1 + below(d == axis ? (once_in(4) ? 300 : 20) : 3);
    values.sizes[d] = in.sizes[d];
  }
  const UINT k = 1 + below(in.sizes[axis]);
  values.sizes[axis] = k;
  std::copy(values.sizes, values.sizes + 8, indices.sizes);
  const UINT type = random_data_type();
  in.describe(type, rank, true);
  values.describe(type, rank, false);
  indices.describe(once_in(2) ? 3 : 10, rank, false);
  in.maybe_spoil();
  values.maybe_spoil();
  indices.maybe_spoil();
  DML_TOP_K1_OPERATOR_DESC desc{
      &in.desc,
      &values.desc,
      &indices.desc,
      axis,
      k,
      once_in(2) ? DML_AXIS_DIRECTION_DECREASING : DML_AXIS_DIRECTION_INCREASING};
  if (once_in(30)) desc.K = odd_number();
  if (once_in(30)) desc.Axis = odd_number();
  run({DML_OPERATOR_TOP_K1, &desc}, {&in, &values, &indices}, 1, 2, counts);
}

void fuzz_gather_nd(Counts& counts) {
  const UINT rank = 1 + below(8);
  const UINT input_count = 1 + below(rank);
  const UINT indices_count = 1 + below(rank);
  const UINT batch = below(std::min(input_count, indices_count));
  const UINT tuple = 1 + below(input_count - batch);
  const UINT trailing = input_count - batch - tuple;
  Tensor in;
  Tensor indices;
  Tensor out;
  for (Tensor* tensor : {&in, &indices, &out}) std::fill_n(tensor->sizes, 9, 1);
  for (UINT d = 0; d < input_count; ++d) in.sizes[rank - input_count + d] = 1 + below(4);
  for (UINT d = 0; d < indices_count; ++d) {
    indices.sizes[rank - indices_count + d] =
        d < batch ? in.sizes[rank - input_count + d] : 1 + below(4);
  }
  indices.sizes[rank - 1] = tuple;
  const UINT output_count = indices_count - 1 + trailing;
  if (output_count <= rank) {
    for (UINT d = 0; d + 1 < indices_count; ++d) {
      out.sizes[rank - output_count + d] = indices.sizes[rank - indices_count + d];
    }
    for (UINT d = 0; d < trailing; ++d) {
      out.sizes[rank - trailing + d] = in.sizes[rank - trailing + d];
    }
  }
  const UINT type = random_data_type();
  in.describe(type, rank, true);
  indices.describe(random_index_type(), rank, true);
  out.describe(type, rank, false);
  in.maybe_spoil();
  indices.maybe_spoil();
  out.maybe_spoil();
  DML_GATHER_ND1_OPERATOR_DESC desc{&in.desc,    &indices.desc, &out.desc,
                                    input_count, indices_count, batch};
  if (once_in(30)) desc.InputDimensionCount = odd_number();
  if (once_in(30)) desc.IndicesDimensionCount = odd_number();
  if (once_in(30)) desc.BatchDimensionCount = odd_number();
  run({DML_OPERATOR_GATHER_ND1, &desc}, {&in, &indices, &out}, 2, 1, counts);
}

/// Tensors of up to 2^64 bytes, which are refused or compiled, but never run: whatever is computed
/// from their sizes must not overflow.
void fuzz_large(Counts& counts) {
  const UINT rank = 1 + below(8);
  Tensor in;
  Tensor values;
  Tensor indices;
  for (UINT d = 0; d < rank; ++d) {
    const UINT size = 1U << below(once_in(3) ? 32 : 8);
    const UINT delta = below(3);
    in.sizes[d] = size + delta > 1 ? size + delta - 1 : 1;
  }
  const UINT axis = below(rank);
  const UINT k = once_in(2) ? in.sizes[axis] : 1;
  for (Tensor* tensor : {&values, &indices}) {
    std::copy(in.sizes, in.sizes + 8, tensor->sizes);
    tensor->sizes[axis] = k;
  }
  const UINT type = random_data_type();
  in.describe(type, rank, true);
  values.describe(type, rank, false);
  indices.describe(once_in(2) ? 3 : 10, rank, false);
  for (Tensor* tensor : {&in, &values, &indices}) {
    tensor->buffer.TotalTensorSizeInBytes = UINT64_MAX;
    for (UINT d = 0; d < rank; ++d) {
      if (once_in(3)) tensor->strides[d] = once_in(2) ? 0 : 1U << below(32);
    }
  }
  const DML_TOP_K1_OPERATOR_DESC top_k{
      &in.desc, &values.desc, &indices.desc, axis, k, DML_AXIS_DIRECTION_DECREASING};
  const DML_ARGMAX_OPERATOR_DESC argmax{&in.desc, &indices.desc, 1, &axis,
                                        DML_AXIS_DIRECTION_INCREASING};
  const DML_GATHER_ND_OPERATOR_DESC gather{&in.desc, &indices.desc, &values.desc, rank, rank};
  const DML_OPERATOR_DESC ops[] = {{DML_OPERATOR_TOP_K1, &top_k},
                                   {DML_OPERATOR_ARGMAX, &argmax},
                                   {DML_OPERATOR_GATHER_ND, &gather}};
  for (const DML_OPERATOR_DESC& op : ops) {
    dmlcpu_operator* compiled = nullptr;
    ++(dmlcpu_compile(&op, nullptr, &compiled) == DMLCPU_OK ? counts.run : counts.refused);
    dmlcpu_release(compiled);
  }
}

}  // namespace

int main() {
  for (void (*fuzz)(Counts&) : {&fuzz_arg, &fuzz_top_k, &fuzz_gather_nd, &fuzz_large}) {
    Counts counts;
    for (int i = 0; i < 4000; ++i) {
      dmlcpu::set_grain_bytes(i % 2);  // every other on all threads
      fuzz(counts);
    }
    // Neither all good nor all bad.
    CHECK(counts.refused > 400);
    CHECK(counts.run > 400);
  }
  return check::failures == 0 ? 0 : 1;
}
