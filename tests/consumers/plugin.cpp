// A plugin that links the static library; unload.c loads it and lets it go.
#include <dmlcpu/directml.h>
#include <dmlcpu/dmlcpu.hpp>

#include <cstring>
#include <vector>

extern "C" __attribute__((visibility("default"))) int plugin_run(int threads) {
  std::vector<float> x(std::size_t{1} << 20);
  x[12345] = 1;
  std::uint32_t at = 0;
  dmlcpu::ArgOptions options;
  options.threads = threads;
  dmlcpu::set_grain_bytes(1);
  dmlcpu::argmax<float, std::uint32_t>({x.data(), {x.size()}}, {}, {&at, {}}, options);
  if (at != 12345) return 1;
  float values[2] = {};
  std::uint32_t indices[2] = {};
  dmlcpu::top_k<float, std::uint32_t>({x.data(), {x.size()}}, 2, 0, {values, {2}}, {indices, {2}});
  if (indices[0] != 12345) return 2;
  // An error's text is kept for the thread, a table of the headers is used.
  if (dmlcpu_set_num_threads(-1) != DMLCPU_INVALID_VALUE) return 3;
  if (std::strcmp(dmlcpu::info(dmlcpu::data_type_of<float>()).name, "float32") != 0) return 4;
  try {
    dmlcpu::View<const float>(x.data(), {1, 2}, {1});
    return 5;
  } catch (const dmlcpu::ValueError&) {
  }
  return 0;
}
