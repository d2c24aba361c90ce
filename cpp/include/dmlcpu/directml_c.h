/** @file
 * The plain C interface to operators described by DirectML's descriptors: compile one, dispatch it
 * many times on memory of the caller. No C++ exception leaves these functions, and C++ clients
 * need neither exceptions nor run-time type information.
 *
 * All functions may be called from many threads at once; so may dmlcpu_dispatch with one operator,
 * as long as the outputs do not overlap.
 *
 * ```
 * const UINT sizes[] = {4};
 * const UINT reduced[] = {1};
 * const UINT axes[] = {0};
 * DML_BUFFER_TENSOR_DESC x = {DML_TENSOR_DATA_TYPE_INT8, 0, 1, sizes, NULL, 4, 0};
 * DML_BUFFER_TENSOR_DESC y = {DML_TENSOR_DATA_TYPE_UINT32, 0, 1, reduced, NULL, 4, 0};
 * DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
 * DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &y};
 * DML_ARGMIN_OPERATOR_DESC argmin = {&input, &output, 1, axes, DML_AXIS_DIRECTION_DECREASING};
 * DML_OPERATOR_DESC desc = {DML_OPERATOR_ARGMIN, &argmin};
 * dmlcpu_operator* compiled = NULL;
 * assert(dmlcpu_version() == DMLCPU_VERSION);
 * dmlcpu_compile_options options = DMLCPU_COMPILE_OPTIONS_INIT;
 * options.nan_policy = DMLCPU_NAN_PROPAGATE;
 * if (dmlcpu_compile(&desc, &options, &compiled) != DMLCPU_OK) puts(dmlcpu_message());
 *
 * const int8_t elements[] = {3, -1, 2, -1};
 * UINT at = 0;
 * const dmlcpu_input from = {elements, sizeof elements};
 * const dmlcpu_output to = {&at, sizeof at};
 * const dmlcpu_status status = dmlcpu_dispatch(compiled, &from, 1, &to, 1);
 * assert(status == DMLCPU_OK && at == 3);
 * dmlcpu_release(compiled);
 *
 * DML_FEATURE_LEVEL level;
 * if (dmlcpu_feature_level_required(&desc, &level) != DMLCPU_OK) puts(dmlcpu_message());
 * assert(level == DML_FEATURE_LEVEL_3_0);
 * assert(dmlcpu_buffer_tensor_size(DML_TENSOR_DATA_TYPE_INT8, 1, sizes, NULL) == 4);
 * if (dmlcpu_set_num_threads(0) != DMLCPU_OK) puts(dmlcpu_message());
 * if (dmlcpu_use_instruction_set("auto") != DMLCPU_OK) puts(dmlcpu_message());
 * ``` */
#pragma once

#include <stdint.h>

#include "dmlcpu/directml_descriptors.h"
#include "dmlcpu/export.hpp"
#include "dmlcpu/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. */
typedef enum dmlcpu_status {
  DMLCPU_OK = 0,
  DMLCPU_INVALID_VALUE = 1, /**< a rule is broken: of the descriptor, the options or the memory */
  DMLCPU_FEATURE_LEVEL = 2, /**< the descriptor needs a newer feature level */
  DMLCPU_INDEX_OUT_OF_RANGE = 3, /**< a gather index, under DMLCPU_INDEX_RAISE */
  DMLCPU_OUT_OF_MEMORY = 4,
  DMLCPU_INTERNAL_ERROR = 5 /**< none known */
} dmlcpu_status;

/** How NaNs are ordered, on which DirectML's reference is silent. */
typedef enum dmlcpu_nan_policy {
  DMLCPU_NAN_OMIT = 0, /**< as drivers were seen to do: NaNs are passed over, in top-k come last */
  DMLCPU_NAN_PROPAGATE = 1 /**< NaNs beat every number; in top-k they are above infinity */
} dmlcpu_nan_policy;

/** What gather does with an index out of range, on which DirectML's reference is silent. */
typedef enum dmlcpu_index_mode {
  DMLCPU_INDEX_CLIP = 0, /**< as drivers were seen to do: clamped, once negative ones are wrapped */
  DMLCPU_INDEX_RAISE = 1 /**< DMLCPU_INDEX_OUT_OF_RANGE, nothing is written */
} dmlcpu_index_mode;

/** What an operator is compiled for. DMLCPU_COMPILE_OPTIONS_INIT initialises it to DirectML as its
 * newest level and drivers are. */
typedef struct dmlcpu_compile_options {
  uint32_t struct_size; /**< sizeof(dmlcpu_compile_options), as later versions may add fields */
  DML_FEATURE_LEVEL feature_level; /**< 0: the newest */
  dmlcpu_nan_policy nan_policy;
  dmlcpu_index_mode index_mode;
} dmlcpu_compile_options;

#ifdef __cplusplus
#define DMLCPU_COMPILE_OPTIONS_INIT \
  {sizeof(dmlcpu_compile_options), DML_FEATURE_LEVEL{}, DMLCPU_NAN_OMIT, DMLCPU_INDEX_CLIP}
#else
#define DMLCPU_COMPILE_OPTIONS_INIT \
  {sizeof(dmlcpu_compile_options), (DML_FEATURE_LEVEL)0, DMLCPU_NAN_OMIT, DMLCPU_INDEX_CLIP}
#endif

/** Memory of the caller: where a tensor's first element is, and how many bytes follow from there.
 */
typedef struct dmlcpu_input {
  const void* data;
  uint64_t size_in_bytes;
} dmlcpu_input;

typedef struct dmlcpu_output {
  void* data;
  uint64_t size_in_bytes;
} dmlcpu_output;

/** A compiled operator: checked and planned. It holds no pointer into the descriptor. */
typedef struct dmlcpu_operator dmlcpu_operator;

/** Checks every rule of the operator's reference, for the feature level; plans the operator; and
 * stores it in *compiled, which is to be released. `options` may be null. On failure *compiled is
 * null. An operator uses at most as many threads as were set when it was compiled. */
DMLCPU_API dmlcpu_status dmlcpu_compile(const DML_OPERATOR_DESC* desc,
                                        const dmlcpu_compile_options* options,
                                        dmlcpu_operator** compiled);

/** Runs a compiled operator: inputs in the order of the descriptor's fields (gather: input,
 * indices), then outputs (top-k: values, indices). Each must be aligned to its elements and hold
 * them all, and no output may overlap another tensor; else nothing is written. Memory after a
 * tensor's last element is not touched, nor what lies between the elements of a strided output.
 * What is allocated during the call is scratch memory, on the stack if it is at most 6 KiB: of
 * top-k as docs/design.md says, of argmin and argmax up to 150 KiB per thread; and where several
 * threads share the reduction of few results, 16 bytes for each thread's share of each. */
DMLCPU_API dmlcpu_status dmlcpu_dispatch(const dmlcpu_operator* compiled,
                                         const dmlcpu_input* inputs, uint32_t input_count,
                                         const dmlcpu_output* outputs, uint32_t output_count);

/** Ends a compiled operator that nobody is dispatching; null is allowed. */
DMLCPU_API void dmlcpu_release(dmlcpu_operator* compiled);

/** The first feature level that allows the descriptor, which must break no other rule. */
DMLCPU_API dmlcpu_status dmlcpu_feature_level_required(const DML_OPERATOR_DESC* desc,
                                                       DML_FEATURE_LEVEL* level);

/** The least bytes of a buffer that holds a tensor, a multiple of 4; 0 for a type of unknown size
 * and for sizes of 0; UINT64_MAX for more bytes than 64 bits count. `strides` may be null. */
DMLCPU_API uint64_t dmlcpu_buffer_tensor_size(DML_TENSOR_DATA_TYPE data_type,
                                              uint32_t dimension_count, const uint32_t* sizes,
                                              const uint32_t* strides);

/** How many threads dispatches use at most, in the process; 0 leaves it to OpenMP
 * (OMP_NUM_THREADS).
 */
DMLCPU_API dmlcpu_status dmlcpu_set_num_threads(int count);

/** Switches the process to one of the machine's instruction sets, "x86-64-v3" for example, or
 * "auto" for the largest. Results never depend on it. */
DMLCPU_API dmlcpu_status dmlcpu_use_instruction_set(const char* name);

/** The text of the calling thread's last failed call: "field: requirement, got actual value", its
 * first 1023 bytes; "" if none has failed. It lives until the thread's next failed call. */
DMLCPU_API const char* dmlcpu_message(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
