#include "core/error.hpp"

namespace dmlcpu {

std::string error_text(const std::string& argument, const std::string& requirement,
                       const std::string& actual) {
  return argument + ": " + requirement + ", got " + actual;
}

std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (int d = 0; d < shape.rank; ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape.sizes[d]);
  }
  return text + (shape.rank == 1 ? ",)" : ")");
}

namespace detail {

void fail_value(const char* argument, const char* requirement, const char* actual) {
  fail<ValueError>(argument, requirement, actual);
}

void fail_value(const char* argument, const char* requirement, std::int64_t actual) {
  fail<ValueError>(argument, requirement, actual);
}

}  // namespace detail
}  // namespace dmlcpu
