// A library of the project's own; its clients see nothing of dmlcpu.
#include <dmlcpu/dmlcpu.hpp>

int largest_of_three(const float* x) {
  std::int32_t at = -1;
  dmlcpu::argmax<float, std::int32_t>({x, {3}}, {0}, {&at, {1}});
  return at;
}
