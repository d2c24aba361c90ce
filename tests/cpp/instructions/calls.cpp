// calls WORK REPEATS: calls an operator REPEATS times, on one thread. The instructions of a call
// are those that one more repeat adds.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "dmlcpu/dmlcpu.hpp"

namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kBytes = 16 * 1024;  // of a row

int repeats = 1;

/// Positive numbers in an order that is not one of a loop.
template <class T>
std::vector<T> elements(std::int64_t count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  std::uint64_t state = 1;
  for (T& element : all) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto number = static_cast<std::uint32_t>(state >> 40);
    if constexpr (sizeof(T) == 2) {
      const auto bits = static_cast<std::uint16_t>(number % 0x7000);
      std::memcpy(&element, &bits, sizeof bits);
    } else {
      element = static_cast<T>(sizeof(T) == 1 ? number % 200 : number);
    }
  }
  return all;
}

template <class T>
void argmax(int axis) {
  const std::int64_t n = kBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t sizes[] = {axis == 1 ? kRows : n, axis == 1 ? n : kRows * 4};
  const std::vector<T> x = elements<T>(sizes[0] * sizes[1]);
  std::vector<std::uint32_t> out(static_cast<std::size_t>(sizes[1 - axis]));
  for (int i = 0; i < repeats; ++i) {
    dmlcpu::argmax(dmlcpu::View<const T>(x.data(), {sizes[0], sizes[1]}), {axis},
                   dmlcpu::View<std::uint32_t>(out.data(), {sizes[1 - axis]}));
  }
}

template <class T>
void top_k(int axis, std::int64_t k) {
  const std::int64_t n = kBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t sizes[] = {axis == 1 ? kRows : n, axis == 1 ? n : kRows * 4};
  const std::int64_t found[] = {axis == 1 ? kRows : k, axis == 1 ? k : kRows * 4};
  const std::vector<T> x = elements<T>(sizes[0] * sizes[1]);
  std::vector<T> values(static_cast<std::size_t>(found[0] * found[1]));
  std::vector<std::uint32_t> indices(values.size());
  for (int i = 0; i < repeats; ++i) {
    dmlcpu::top_k<T, std::uint32_t>(
        dmlcpu::View<const T>(x.data(), {sizes[0], sizes[1]}), k, axis,
        dmlcpu::View<T>(values.data(), {found[0], found[1]}),
        dmlcpu::View<std::uint32_t>(indices.data(), {found[0], found[1]}));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string_view work = arguments[1];
  repeats = std::atoi(arguments[2]);
  dmlcpu::set_num_threads(1);
  if (work == "rows float32") argmax<float>(1);
  if (work == "rows uint8") argmax<std::uint8_t>(1);
  if (work == "rows float16") argmax<dmlcpu::Float16>(1);
  if (work == "columns float32") argmax<float>(0);
  if (work == "columns uint8") argmax<std::uint8_t>(0);
  if (work == "columns float16") argmax<dmlcpu::Float16>(0);
  if (work == "top-k rows") top_k<float>(1, 10);
  if (work == "top-k columns") top_k<float>(0, 5);
  return 0;
}
