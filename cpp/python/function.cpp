#include "function.hpp"

#include <structmember.h>  // what a type made at run time states its members with

#include <cstddef>
#include <stdexcept>
#include <string>

#include "made_once.hpp"

namespace dmlcpu::python {
namespace {

namespace py = pybind11;

/// A builtin function (PyCFunction) would not do: it has no annotations, no signature where a
/// default is no literal, such as numpy.uint32, and becomes no method in a class.
struct Function {
  PyObject header;  // as every object begins
  vectorcallfunc call;
  Native native;       // null in a function with a fallback
  PyObject* fallback;  // null in a function that runs native code
  PyObject* declaration;
  PyObject* attributes;       // __doc__, __wrapped__ and so on
  PyObject* weak_references;  // CPython's list of them
  int positional;             // how many parameters may be given by position
  int parameters;
  PyObject* names[kMaxParameters];
  PyObject* defaults[kMaxParameters];  // null where an argument is required
};

Function* as_function(PyObject* object) { return reinterpret_cast<Function*>(object); }

/// The parameter of that name, -1 if there is none.
int find_parameter(const Function& function, PyObject* name) {
  // Names in source code are interned, so that equal ones are one object.
  for (int p = 0; p < function.parameters; ++p) {
    if (function.names[p] == name) return p;
  }
  for (int p = 0; p < function.parameters; ++p) {
    if (PyUnicode_Compare(function.names[p], name) == 0) return p;
  }
  return -1;
}

/// Finds the argument of each parameter. False if the declaration does not take the given ones.
bool bind(const Function& function, PyObject* const* given, Py_ssize_t count, PyObject* keywords,
          PyObject** arguments) {
  if (count > function.positional) return false;
  for (int p = 0; p < function.parameters; ++p) {
    arguments[p] = p < count ? given[p] : function.defaults[p];
  }
  unsigned taken = (1U << count) - 1;
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t n = 0; n < named; ++n) {
    const int p = find_parameter(function, PyTuple_GET_ITEM(keywords, n));
    if (p < 0 || (taken >> p & 1U) != 0) return false;
    taken |= 1U << p;
    arguments[p] = given[count + n];
  }
  for (int p = 0; p < function.parameters; ++p) {
    if (arguments[p] == nullptr) return false;
  }
  return true;
}

/// What other libraries call a parameter, and its name here.
constexpr const char* kNamesHere[][2] = {
    {"a", "input"},
    {"array", "input"},
    {"axes", "axis"},
    {"batch_dimensions", "batch_dims"},
    {"data", "input"},
    {"dim", "axis"},
    {"dims", "axis"},
    {"dtype", "index_dtype"},
    {"index", "indices"},
    {"K", "k"},
    {"keep_dims", "keepdims"},
    {"keepdim", "keepdims"},
    {"largest", "axis_direction"},
    {"operand", "input"},
    {"select_last_index", "axis_direction"},
    {"x", "input"},
};

/// Where another library's name of a parameter was given: the same TypeError that says its name
/// here.
void explain_names(const Function& function, PyObject* keywords) {
  if (keywords == nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
  for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(keywords); ++n) {
    PyObject* const given = PyTuple_GET_ITEM(keywords, n);
    for (const auto& [theirs, here] : kNamesHere) {
      if (PyUnicode_CompareWithASCIIString(given, theirs) != 0) continue;
      if (find_parameter(function, py::str(here).ptr()) < 0) continue;
      PyErr_Format(PyExc_TypeError, "%U: must be given as %s", given, here);
      return;
    }
  }
}

PyObject* call(PyObject* self, PyObject* const* given, std::size_t count_and_flag,
               PyObject* keywords) {
  const Function& function = *as_function(self);
  PyObject* arguments[kMaxParameters];
  if (bind(function, given, PyVectorcall_NARGS(count_and_flag), keywords, arguments)) {
    return function.native(arguments);
  }
  // Python says what is wrong, in its own words.
  PyObject* const result =
      PyObject_Vectorcall(function.declaration, given, count_and_flag, keywords);
  if (result != nullptr) {
    Py_DECREF(result);
    PyErr_SetString(PyExc_SystemError, "a declaration took arguments that its function refused");
  }
  explain_names(function, keywords);
  return nullptr;
}

PyObject* call_or_fall_back(PyObject* self, PyObject* const* given, std::size_t count_and_flag,
                            PyObject* keywords) {
  const Function& function = *as_function(self);
  PyObject* const result =
      PyObject_Vectorcall(function.declaration, given, count_and_flag, keywords);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  return PyObject_Vectorcall(function.fallback, given, count_and_flag, keywords);
}

/// In a class it becomes a method, as every Python function does.
PyObject* get(PyObject* self, PyObject* object, PyObject* /*type*/) {
  if (object == nullptr || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject* repr(PyObject* self) { return PyObject_Repr(as_function(self)->declaration); }

/// Functions are pickled and copied by their names.
PyObject* reduce(PyObject* self, PyObject* /*no argument*/) {
  return PyObject_GetAttrString(self, "__qualname__");
}

/// There is no tp_clear: a cycle of references also goes through the attributes or the declaration,
/// which know how to let go.
int traverse(PyObject* self, visitproc visit, void* arg) {
  const Function& function = *as_function(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function.fallback);
  Py_VISIT(function.declaration);
  Py_VISIT(function.attributes);
  for (PyObject* value : function.defaults) Py_VISIT(value);
  return 0;
}

void deallocate(PyObject* self) {
  Function& function = *as_function(self);
  PyObject_GC_UnTrack(self);
  if (function.weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(function.attributes);
  Py_CLEAR(function.fallback);
  Py_CLEAR(function.declaration);
  for (PyObject*& name : function.names) Py_CLEAR(name);
  for (PyObject*& value : function.defaults) Py_CLEAR(value);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

py::object make_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(Function, attributes), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak_references), READONLY, nullptr},
      {}};
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
  const auto slot = [](auto function) { return reinterpret_cast<void*>(function); };
  PyType_Slot slots[] = {{Py_tp_call, slot(PyVectorcall_Call)},
                         {Py_tp_descr_get, slot(get)},
                         {Py_tp_repr, slot(repr)},
                         {Py_tp_traverse, slot(traverse)},
                         {Py_tp_dealloc, slot(deallocate)},
                         {Py_tp_members, members},
                         {Py_tp_getset, properties},
                         {Py_tp_methods, methods},
                         {}};
  PyType_Spec spec{"dmlcpu._core.Function", sizeof(Function), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                   slots};
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  return type;
}

/// A function that has nothing yet but what tells it to people.
py::object new_function(py::handle declaration, vectorcallfunc call) {
  auto* const type = reinterpret_cast<PyTypeObject*>(made_once([] { return make_type(); }).ptr());
  auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!object) throw py::error_already_set();
  Function& function = *as_function(object.ptr());
  function.call = call;
  function.declaration = Py_NewRef(declaration.ptr());
  py::module_::import("functools").attr("update_wrapper")(object, declaration);
  // Since Python 3.14 update_wrapper() leaves them to what computes them.
  object.attr("__annotations__") = declaration.attr("__annotations__");
  return object;
}

}  // namespace

py::object make_function(py::handle declaration, Native native, int parameters) {
  const auto inspect = py::module_::import("inspect");
  const py::object empty = inspect.attr("Parameter").attr("empty");
  const py::object declared = inspect.attr("signature")(declaration).attr("parameters");
  if (py::len(declared) != static_cast<std::size_t>(parameters)) {
    throw std::logic_error("a declaration must have " + std::to_string(parameters) + " parameters");
  }
  py::object object = new_function(declaration, call);
  Function& function = *as_function(object.ptr());
  function.native = native;
  function.positional = declaration.attr("__code__").attr("co_argcount").cast<int>();
  for (const py::handle parameter : declared.attr("values")()) {
    const py::object value = parameter.attr("default");
    function.names[function.parameters] = parameter.attr("name").cast<py::object>().release().ptr();
    if (!value.is(empty)) function.defaults[function.parameters] = Py_NewRef(value.ptr());
    ++function.parameters;
  }
  return object;
}

py::object make_function_with_fallback(py::handle declaration, py::handle fallback) {
  py::object object = new_function(declaration, call_or_fall_back);
  as_function(object.ptr())->fallback = Py_NewRef(fallback.ptr());
  return object;
}

}  // namespace dmlcpu::python
