#include "plan/candidates_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "plan/costs.hpp"

namespace dmlcpu {
namespace {

std::int64_t rounded(float number) { return std::llround(std::min(number, 9e18F)); }

/// Three digits, of nanoseconds or microseconds.
std::string time_text(float nanoseconds) {
  if (nanoseconds < 1000) return text(rounded(nanoseconds), " ns");
  const auto hundredths = rounded(nanoseconds / 10);
  const std::int64_t whole = hundredths / 100;
  const std::string digits = std::to_string(100 + hundredths % 100);
  if (whole < 10) return text(whole, ".", digits.substr(1), " us");
  if (whole < 100) return text(whole, ".", digits.substr(1, 1), " us");
  return text(whole, " us");
}

}  // namespace

std::string to_text(const ColumnsEstimate& columns) {
  static const char* const packings[] = {"in place", "strided", "transposed",
                                         "compared in registers"};
  const std::int64_t per_result = columns.lanes / columns.results;
  return text(packings[static_cast<int>(columns.packing)], ", ",
              static_cast<std::int64_t>(columns.groups), " groups of ", columns.results, " results",
              per_result > 1 ? text(", ", per_result, " lanes of each") : "");
}

std::string candidate_text(const std::string& name, bool is_chosen, const Machine& machine,
                           std::int64_t element_size, const Counts& counts) {
  float price = 0;
  std::string all;
  for (int c = 0; c < kCosts; ++c) {
    const float count = counts[static_cast<std::size_t>(c)];
    if (count == 0) continue;
    price += machine.price(static_cast<Cost>(c), element_size, count);
    all += text(all.empty() ? " " : ", ", cost_rows[c].name, " ", rounded(count));
  }
  return text(is_chosen ? "* " : "  ", time_text(price), "  ", name, ":", all, "\n");
}

}  // namespace dmlcpu
