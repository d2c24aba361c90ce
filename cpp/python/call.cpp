#include "call.hpp"

#include "made_once.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

std::atomic<bool> thread_limits_used{false};
thread_local std::string* plan_wanted = nullptr;
std::atomic<bool> plans_used{false};

const py::object& thread_limits() {
  thread_limits_used.store(true, std::memory_order_relaxed);
  return made_once([] {
    auto variable = py::reinterpret_steal<py::object>(
        PyContextVar_New("dmlcpu.num_threads", py::tuple().ptr()));
    if (!variable) throw py::error_already_set();
    return variable;
  });
}

void ContextThreads::read_context() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(thread_limits().ptr(), nullptr, &value) < 0) throw py::error_already_set();
  const auto blocks = py::reinterpret_steal<py::tuple>(value);
  if (blocks.empty()) return;
  limit_.emplace(blocks[blocks.size() - 1].attr("count").cast<int>());
}

}  // namespace dmlcpu::python
