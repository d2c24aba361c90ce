#include <string>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "call.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/data_type.hpp"
#include "dmlcpu/runtime.hpp"
#include "numpy_bridge.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

namespace {

/// A number, or a function of numbers, of core/tuning.hpp.
template <class T>
py::object tuning_object(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return py::cast(value);
  } else {
    return py::cpp_function(value);
  }
}

/// Every value of core/tuning.hpp by its name. The build takes the names from the header.
py::dict tuning_values() {
  py::dict values;
#define DMLCPU_TUNING(name) values[#name] = tuning_object(tuning::name);
#include <tuning_names.inc>
#undef DMLCPU_TUNING
  return values;
}

/// The plan of a call of one of the operators, which is not run.
std::string plan_of_call(const py::function& function, const py::args& arguments,
                         const py::kwargs& options) {
  std::string text;
  struct Wanted {
    explicit Wanted(std::string* text) : before(std::exchange(plan_wanted, text)) {}
    ~Wanted() { plan_wanted = before; }
    Wanted(const Wanted&) = delete;
    Wanted& operator=(const Wanted&) = delete;
    std::string* before;
  } const wanted(&text);
  function(*arguments, **options);
  return text;
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
  load_index_types();
  module.def("set_grain_bytes", &set_grain_bytes);

  module.def("instruction_sets", [] {
    py::list names;
    for (const std::string_view name : instruction_sets()) names.append(std::string(name));
    return py::tuple(names);
  });
  module.def("instruction_set", [] { return std::string(instruction_set()); });
  module.def("use_instruction_set", &use_instruction_set);

  module.def("data_types", [] {
    py::list names;
    for (const DataTypeInfo& type : kDataTypeInfo) names.append(type.name);
    return py::tuple(names);
  });
  module.def("tuning", &tuning_values);
  module.def("plan_text", &plan_of_call);
}

}  // namespace dmlcpu::python
