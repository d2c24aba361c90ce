#include "plan/candidates_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

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
  const std::int64_t per_result = columns.lanes / columns.results;
  return text(name_of(columns.packing), ", ", static_cast<std::int64_t>(columns.groups),
              " groups of ", columns.results, " results",
              per_result > 1 ? text(", ", per_result, " lanes of each") : "");
}

std::string candidate_text(const std::string& name, bool is_chosen, const Price& price,
                           const Counts& counts) {
  std::string all;
  for (int c = 0; c < kCosts; ++c) {
    const float count = counts[static_cast<std::size_t>(c)];
    if (count == 0) continue;
    all += text(all.empty() ? " " : ", ", cost_rows[c].name, " ", rounded(count));
  }
  return text(is_chosen ? "* " : "  ", time_text(price.nanoseconds), "  ", name,
              price.threads > 1 ? text(", on ", price.threads, " threads") : "", ":", all, "\n");
}

}  // namespace dmlcpu
