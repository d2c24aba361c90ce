/* The examples of DirectML's reference in plain C, with their literal fields; the exit status says
 * how many failed. */
#include <dmlcpu/directml.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "failed: %s (%s)\n", what, dmlcpu_message());
  ++failures;
}

static DML_BUFFER_TENSOR_DESC contiguous(DML_TENSOR_DATA_TYPE type, UINT count, const UINT* sizes) {
  DML_BUFFER_TENSOR_DESC desc = {type, DML_TENSOR_FLAG_NONE, count, sizes, NULL, 0, 0};
  desc.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(type, count, sizes, NULL);
  return desc;
}

/* Compiles, dispatches and releases. */
static dmlcpu_status run(DML_OPERATOR_TYPE type, const void* desc, const dmlcpu_input* inputs,
                         uint32_t input_count, const dmlcpu_output* outputs,
                         uint32_t output_count) {
  const DML_OPERATOR_DESC operator_desc = {type, desc};
  dmlcpu_operator* compiled = NULL;
  dmlcpu_status status = dmlcpu_compile(&operator_desc, NULL, &compiled);
  if (status == DMLCPU_OK) {
    status = dmlcpu_dispatch(compiled, inputs, input_count, outputs, output_count);
  }
  dmlcpu_release(compiled);
  return status;
}

static const float square[9] = {1, 2, 3, 3, 0, 4, 2, 5, 2};

static void check_arg(DML_OPERATOR_TYPE type, UINT axis_count, const UINT* axes, const UINT* sizes,
                      UINT count, const UINT* want) {
  const UINT input_sizes[] = {3, 3};
  const DML_BUFFER_TENSOR_DESC x = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 2, input_sizes);
  const DML_BUFFER_TENSOR_DESC y = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 2, sizes);
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &y};
  const DML_ARGMIN_OPERATOR_DESC least = {&input, &output, axis_count, axes,
                                          DML_AXIS_DIRECTION_INCREASING};
  const DML_ARGMAX_OPERATOR_DESC most = {&input, &output, axis_count, axes,
                                         DML_AXIS_DIRECTION_INCREASING};
  const DML_REDUCE_OPERATOR_DESC reduce = {
      type == DML_OPERATOR_ARGMIN ? DML_REDUCE_FUNCTION_ARGMIN : DML_REDUCE_FUNCTION_ARGMAX, &input,
      &output, axis_count, axes};
  UINT got[3] = {9, 9, 9};
  const dmlcpu_input in = {square, sizeof square};
  const dmlcpu_output out = {got, sizeof got};
  const void* desc = type == DML_OPERATOR_ARGMIN ? (const void*)&least : (const void*)&most;
  check(run(type, desc, &in, 1, &out, 1) == DMLCPU_OK, "arg runs");
  check(memcmp(got, want, count * sizeof(UINT)) == 0, "arg gives the reference's indices");
  memset(got, 9, sizeof got);
  check(run(DML_OPERATOR_REDUCE, &reduce, &in, 1, &out, 1) == DMLCPU_OK, "reduce runs");
  check(memcmp(got, want, count * sizeof(UINT)) == 0, "reduce gives the same");
}

static void check_args(void) {
  const UINT rows[] = {0}, columns[] = {1}, both[] = {0, 1};
  const UINT row[] = {1, 3}, column[] = {3, 1}, single[] = {1, 1};
  const UINT least_rows[] = {0, 1, 2}, least_columns[] = {0, 1, 0}, least[] = {4};
  const UINT most_rows[] = {1, 2, 1}, most_columns[] = {2, 2, 1}, most[] = {7};
  check_arg(DML_OPERATOR_ARGMIN, 1, rows, row, 3, least_rows);
  check_arg(DML_OPERATOR_ARGMIN, 1, columns, column, 3, least_columns);
  check_arg(DML_OPERATOR_ARGMIN, 2, both, single, 1, least);
  check_arg(DML_OPERATOR_ARGMAX, 1, rows, row, 3, most_rows);
  check_arg(DML_OPERATOR_ARGMAX, 1, columns, column, 3, most_columns);
  check_arg(DML_OPERATOR_ARGMAX, 2, both, single, 1, most);
}

static void check_ties(void) {
  const UINT five[] = {5}, one[] = {1}, axis[] = {0};
  const float least[] = {1, 2, 3, 2, 1}, most[] = {3, 2, 1, 2, 3};
  const DML_BUFFER_TENSOR_DESC x = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 1, five);
  const DML_BUFFER_TENSOR_DESC y = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 1, one);
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &y};
  UINT at = 9;
  const dmlcpu_output out = {&at, sizeof at};
  DML_ARGMIN_OPERATOR_DESC argmin = {&input, &output, 1, axis, DML_AXIS_DIRECTION_INCREASING};
  DML_ARGMAX_OPERATOR_DESC argmax = {&input, &output, 1, axis, DML_AXIS_DIRECTION_INCREASING};
  const dmlcpu_input least_in = {least, sizeof least}, most_in = {most, sizeof most};
  check(run(DML_OPERATOR_ARGMIN, &argmin, &least_in, 1, &out, 1) == DMLCPU_OK && at == 0, "first");
  check(run(DML_OPERATOR_ARGMAX, &argmax, &most_in, 1, &out, 1) == DMLCPU_OK && at == 0, "first");
  argmin.AxisDirection = argmax.AxisDirection = DML_AXIS_DIRECTION_DECREASING;
  check(run(DML_OPERATOR_ARGMIN, &argmin, &least_in, 1, &out, 1) == DMLCPU_OK && at == 4, "last");
  check(run(DML_OPERATOR_ARGMAX, &argmax, &most_in, 1, &out, 1) == DMLCPU_OK && at == 4, "last");
}

static void check_top_k(const float* elements, UINT axis, UINT k, const UINT* sizes, UINT count,
                        DML_AXIS_DIRECTION direction, const float* want_values,
                        const UINT* want_indices) {
  const UINT input_sizes[] = {1, 1, 3, 4};
  const DML_BUFFER_TENSOR_DESC x = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 4, input_sizes);
  const DML_BUFFER_TENSOR_DESC v = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 4, sizes);
  const DML_BUFFER_TENSOR_DESC i = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 4, sizes);
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC values = {DML_TENSOR_TYPE_BUFFER, &v};
  const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &i};
  const DML_TOP_K1_OPERATOR_DESC desc1 = {&input, &values, &indices, axis, k, direction};
  const DML_TOP_K_OPERATOR_DESC desc = {&input, &values, &indices, axis, k};
  float got_values[9] = {0};
  UINT got_indices[9] = {0};
  const dmlcpu_input in = {elements, 12 * sizeof(float)};
  const dmlcpu_output out[] = {{got_values, sizeof got_values}, {got_indices, sizeof got_indices}};
  check(run(DML_OPERATOR_TOP_K1, &desc1, &in, 1, out, 2) == DMLCPU_OK, "top-k runs");
  check(memcmp(got_values, want_values, count * sizeof(float)) == 0, "top-k's values");
  check(memcmp(got_indices, want_indices, count * sizeof(UINT)) == 0, "top-k's indices");
  if (direction == DML_AXIS_DIRECTION_DECREASING) {
    memset(got_indices, 9, sizeof got_indices);
    memset(got_values, 9, sizeof got_values);
    check(run(DML_OPERATOR_TOP_K, &desc, &in, 1, out, 2) == DMLCPU_OK, "TOP_K runs");
    check(memcmp(got_values, want_values, count * sizeof(float)) == 0, "TOP_K's values");
    check(memcmp(got_indices, want_indices, count * sizeof(UINT)) == 0, "TOP_K's indices");
  }
}

static void check_top_ks(void) {
  const float x[] = {0, 1, 10, 11, 3, 2, 9, 8, 4, 5, 6, 7};
  const float ties[] = {1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 6, 6};
  const UINT by_row[] = {1, 1, 3, 2}, by_column[] = {1, 1, 2, 4}, three[] = {1, 1, 3, 3};
  const float row_values[] = {11, 10, 9, 8, 7, 6};
  const UINT row_indices[] = {3, 2, 2, 3, 3, 2};
  const float column_values[] = {4, 5, 10, 11, 3, 2, 9, 8};
  const UINT column_indices[] = {2, 2, 0, 0, 1, 1, 1, 1};
  const float most_values[] = {3, 2, 2, 5, 5, 4, 6, 6, 6};
  const UINT most_indices[] = {3, 1, 2, 2, 3, 1, 0, 1, 2};
  const float least_values[] = {1, 2, 2, 3, 4, 5, 6, 6, 6};
  const UINT least_indices[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  const DML_AXIS_DIRECTION down = DML_AXIS_DIRECTION_DECREASING;
  check_top_k(x, 3, 2, by_row, 6, down, row_values, row_indices);
  check_top_k(x, 2, 2, by_column, 8, down, column_values, column_indices);
  check_top_k(ties, 3, 3, three, 9, down, most_values, most_indices);
  check_top_k(ties, 3, 3, three, 9, DML_AXIS_DIRECTION_INCREASING, least_values, least_indices);
}

static void check_gather_nd(void) {
  const UINT matrix[] = {2, 2}, rows[] = {2, 1};
  const UINT cube[] = {2, 2, 2}, tuples[] = {1, 2, 2}, slices[] = {1, 2, 2};
  const UINT batched[] = {1, 3, 2, 2}, picked[] = {1, 1, 3, 2};
  const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const UINT row_at[] = {1, 0}, at[] = {0, 1, 1, 0};
  const UINT batch_at[] = {0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0};
  const float want_rows[] = {2, 3, 0, 1}, want[] = {2, 3, 4, 5}, want_batch[] = {0, 3, 5, 6, 10, 8};
  float got[6] = {0};
  const dmlcpu_output out = {got, sizeof got};
  {
    const DML_BUFFER_TENSOR_DESC b = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 2, matrix);
    const DML_BUFFER_TENSOR_DESC i = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 2, rows);
    const DML_TENSOR_DESC data = {DML_TENSOR_TYPE_BUFFER, &b};
    const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &i};
    const DML_GATHER_ND_OPERATOR_DESC desc = {&data, &indices, &data, 2, 2};
    const dmlcpu_input in[] = {{x, 4 * sizeof(float)}, {row_at, sizeof row_at}};
    check(run(DML_OPERATOR_GATHER_ND, &desc, in, 2, &out, 1) == DMLCPU_OK, "gather runs");
    check(memcmp(got, want_rows, sizeof want_rows) == 0, "rows");
  }
  {
    const DML_BUFFER_TENSOR_DESC b = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 3, cube);
    const DML_BUFFER_TENSOR_DESC i = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 3, tuples);
    const DML_BUFFER_TENSOR_DESC o = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 3, slices);
    const DML_TENSOR_DESC data = {DML_TENSOR_TYPE_BUFFER, &b};
    const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &i};
    const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &o};
    const DML_GATHER_ND_OPERATOR_DESC desc = {&data, &indices, &output, 3, 2};
    const dmlcpu_input in[] = {{x, 8 * sizeof(float)}, {at, sizeof at}};
    check(run(DML_OPERATOR_GATHER_ND, &desc, in, 2, &out, 1) == DMLCPU_OK, "gather runs");
    check(memcmp(got, want, sizeof want) == 0, "slices");
  }
  {
    const DML_BUFFER_TENSOR_DESC b = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 4, batched);
    const DML_BUFFER_TENSOR_DESC i = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 4, batched);
    const DML_BUFFER_TENSOR_DESC o = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 4, picked);
    const DML_TENSOR_DESC data = {DML_TENSOR_TYPE_BUFFER, &b};
    const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &i};
    const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &o};
    const DML_GATHER_ND1_OPERATOR_DESC desc = {&data, &indices, &output, 3, 3, 1};
    const dmlcpu_input in[] = {{x, sizeof x}, {batch_at, sizeof batch_at}};
    check(run(DML_OPERATOR_GATHER_ND1, &desc, in, 2, &out, 1) == DMLCPU_OK, "gather runs");
    check(memcmp(got, want_batch, sizeof want_batch) == 0, "batches");
  }
}

/* The sizes by which the reference's formula of the output is seen to be wrong. */
static void check_gather_nd_sizes(void) {
  const UINT sizes[] = {3, 4, 5, 6, 7}, index_sizes[] = {1, 1, 1, 2, 3};
  const UINT output_sizes[] = {1, 1, 2, 6, 7};
  const DML_BUFFER_TENSOR_DESC b = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 5, sizes);
  const DML_BUFFER_TENSOR_DESC i = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 5, index_sizes);
  const DML_BUFFER_TENSOR_DESC o = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 5, output_sizes);
  const DML_TENSOR_DESC data = {DML_TENSOR_TYPE_BUFFER, &b};
  const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &i};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &o};
  const DML_GATHER_ND_OPERATOR_DESC desc = {&data, &indices, &output, 5, 3};
  const DML_OPERATOR_DESC operator_desc = {DML_OPERATOR_GATHER_ND, &desc};
  DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_1_0;
  static float x[3 * 4 * 5 * 6 * 7], got[2 * 6 * 7];
  const UINT at[] = {2, 3, 4, 0, 1, 2};
  const dmlcpu_input in[] = {{x, sizeof x}, {at, sizeof at}};
  const dmlcpu_output out = {got, sizeof got};
  UINT n = 0;
  check(dmlcpu_feature_level_required(&operator_desc, &level) == DMLCPU_OK, "sizes are right");
  check(level == DML_FEATURE_LEVEL_3_0, "five dimensions need 3.0");
  for (n = 0; n < sizeof x / sizeof x[0]; ++n) x[n] = (float)n;
  check(run(DML_OPERATOR_GATHER_ND, &desc, in, 2, &out, 1) == DMLCPU_OK, "gather runs");
  check(memcmp(got, x + ((2 * 4 + 3) * 5 + 4) * 42, 42 * sizeof(float)) == 0, "slice 2, 3, 4");
  check(memcmp(got + 42, x + ((0 * 4 + 1) * 5 + 2) * 42, 42 * sizeof(float)) == 0, "slice 0, 1, 2");
}

static void check_errors(void) {
  const UINT sizes[] = {2}, one[] = {1};
  UINT axis[] = {1};
  const DML_BUFFER_TENSOR_DESC x = contiguous(DML_TENSOR_DATA_TYPE_FLOAT32, 1, sizes);
  const DML_BUFFER_TENSOR_DESC y = contiguous(DML_TENSOR_DATA_TYPE_UINT32, 1, one);
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &y};
  const DML_ARGMAX_OPERATOR_DESC desc = {&input, &output, 1, axis, DML_AXIS_DIRECTION_INCREASING};
  const DML_OPERATOR_DESC operator_desc = {DML_OPERATOR_ARGMAX, &desc};
  dmlcpu_compile_options old = DMLCPU_COMPILE_OPTIONS_INIT;
  dmlcpu_operator* compiled = NULL;
  check(dmlcpu_compile(&operator_desc, NULL, &compiled) == DMLCPU_INVALID_VALUE, "axis");
  check(strcmp(dmlcpu_message(), "Axes[0]: must be in [0, 0], got 1") == 0, "the axis' text");
  axis[0] = 0;
  old.feature_level = DML_FEATURE_LEVEL_2_1;
  check(dmlcpu_compile(&operator_desc, &old, &compiled) == DMLCPU_FEATURE_LEVEL, "level");
  check(compiled == NULL, "nothing compiled");
  check(dmlcpu_set_num_threads(1) == DMLCPU_OK, "threads");
  check(dmlcpu_set_num_threads(-1) == DMLCPU_INVALID_VALUE, "no threads");
  check(strcmp(dmlcpu_message(), "num_threads: must be at least 0, got -1") == 0, "threads' text");
  check(dmlcpu_use_instruction_set("auto") == DMLCPU_OK, "instruction set");
  check(dmlcpu_use_instruction_set("none") == DMLCPU_INVALID_VALUE, "no instruction set");
  check(dmlcpu_use_instruction_set(NULL) == DMLCPU_INVALID_VALUE, "no name");
}

int main(void) {
  check(strcmp(dmlcpu_message(), "") == 0, "nothing has failed yet");
  check_args();
  check_ties();
  check_top_ks();
  check_gather_nd();
  check_gather_nd_sizes();
  check_errors();
  return failures;
}
