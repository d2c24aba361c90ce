// Calls what the C++ headers have, catches what they throw: whatever switches the client is
// compiled with, the library has its own. The exit status tells what failed.
#include <dmlcpu/directml.h>
#include <dmlcpu/dmlcpu.hpp>

#include <string>
#include <vector>

int main() {
  const std::vector<std::string_view> names = dmlcpu::instruction_sets();
  if (names.empty()) return 1;
  for (const std::string_view name : names) {
    dmlcpu::use_instruction_set(name);
    if (dmlcpu::instruction_set() != name) return 2;
  }
  try {
    dmlcpu::use_instruction_set(std::string(100, 'x'));
    return 3;
  } catch (const dmlcpu::ValueError& error) {
    if (std::string(error.what()).find("name: must be one of ") != 0) return 4;
  }
  const std::vector<std::size_t> sizes = {2, 3};
  const std::vector<float> x = {1, 5, 2, 4, 3, 6};
  std::vector<float> values(2);
  std::vector<std::uint32_t> at(2);
  const dmlcpu::View<const float> input(x.data(), sizes);
  dmlcpu::argmax<float, std::uint32_t>(input, {1}, {at.data(), {2}});
  if (at[0] != 1 || at[1] != 2) return 5;
  dmlcpu::top_k<float, std::uint32_t>(input, 1, 1, {values.data(), {2, 1}}, {at.data(), {2, 1}});
  if (values[0] != 5 || values[1] != 6) return 6;
  const std::vector<std::int32_t> tuples = {1, 0};
  dmlcpu::gather_nd<float, std::int32_t>(input, {tuples.data(), {1, 2}}, {values.data(), {1}});
  if (values[0] != 4) return 7;
  try {
    dmlcpu::argmax<float, std::uint32_t>(input, {2}, {at.data(), {2}});
    return 8;
  } catch (const dmlcpu::AxisError&) {
  }
  try {
    dmlcpu::View<const float>(x.data(), sizes, {1});
    return 9;
  } catch (const dmlcpu::ValueError& error) {
    if (error.what() != std::string("strides: must be as many as sizes, got 1")) return 10;
  }
  try {
    dmlcpu::directml::feature_level_required({DML_OPERATOR_INVALID, nullptr});
    return 11;
  } catch (const dmlcpu::ValueError&) {
  }
  return dmlcpu_version() == DMLCPU_VERSION ? 0 : 12;
}
