#include <pybind11/stl.h>

#include <string>
#include <type_traits>

#include "bindings.hpp"
#include "call.hpp"
#include "core/thread_tuning.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/data_type.hpp"
#include "dmlcpu/runtime.hpp"
#include "interface/tuning.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

namespace {

/// A number, or a function of numbers, of the tuning headers.
template <class T>
py::object tuning_object(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return py::cast(value);
  } else {
    return py::cpp_function(value);
  }
}

/// Every value of the tuning headers by its name. The build takes the names from the headers.
py::dict tuning_values() {
  py::dict values;
#define DMLCPU_TUNING(name) values[#name] = tuning_object(tuning::name);
#include <tuning_names.inc>
#undef DMLCPU_TUNING
  return values;
}

/// The plan of a call of one of the operators, which is not run, and its result: arrays of the
/// right shapes and dtypes, without memory unless the caller gave them.
py::tuple plan_of_call(const py::function& function, const py::args& arguments,
                       const py::kwargs& options) {
  std::string text;
  const PlanWanted wanted(&text);
  const py::object result = function(*arguments, **options);
  return py::make_tuple(text, result);
}

/// What thread_source() says, as Python says it.
const char* thread_source_name() {
  const ContextThreads threads;
  // By ThreadSource.
  constexpr const char* kNames[] = {
      "forked child",        "num_threads",     "set_num_threads",   "DMLCPU_NUM_THREADS",
      "omp_set_num_threads", "OMP_NUM_THREADS", "container's limit", "affinity",
      "processors"};
  return kNames[static_cast<int>(thread_source())];
}

/// How this module was built, and the library, which the same build made.
py::dict build_info() {
  py::dict info;
#include <build_info.inc>
  return info;
}

}  // namespace

void bind_runtime(py::module_& module) {
  module.def("has_openmp", &has_openmp);
  module.def("num_threads", [] {
    const ContextThreads threads;
    return num_threads();
  });
  module.def("set_num_threads", &set_num_threads);
  module.def("thread_limits", &thread_limits);
  module.def("set_grain_bytes", &set_grain_bytes);
  module.def("force_candidate", &force_candidate);
  module.def("cache_bytes", &cache_bytes);
  module.def("thread_source", &thread_source_name);
  module.def("uses_openmp", &uses_openmp);
  module.def("is_contended", &is_contended);
  module.def("cpu_quota", [](const std::string& root) { return cpu_quota(root.c_str()); });
  module.def("openmp_version", &openmp_version);
  module.def("openmp_file", &openmp_file);
  module.def("build_info", &build_info);

  module.def("instruction_sets", [] { return py::tuple(py::cast(instruction_sets())); });
  module.def("built_instruction_sets",
             [] { return py::tuple(py::cast(built_instruction_sets())); });
  module.def("instruction_set_source", &instruction_set_source);
  module.def("instruction_set", &instruction_set);
  module.def("use_instruction_set", &use_instruction_set);

  module.def("data_types", [] {
    py::list names;
    for (const DataTypeInfo& type : kDataTypeInfo) names.append(type.name);
    return py::tuple(names);
  });
  module.def("tuning", &tuning_values);
  module.def("plan", &plan_of_call);
  module.def("plan_text", [](const py::function& function, const py::args& arguments,
                             const py::kwargs& options) {
    return py::object(plan_of_call(function, arguments, options)[0]);
  });
}

}  // namespace dmlcpu::python
