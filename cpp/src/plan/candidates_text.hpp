// Candidates and their prices as text.
#pragma once

#include <string>

#include "plan/columns_estimate.hpp"
#include "plan/machine.hpp"

namespace dmlcpu {

/// "in place, 3 groups of 5 results, 4 lanes of each", for example.
std::string to_text(const ColumnsEstimate& columns);

/// A line: a star if it was chosen, the price, the name and, if they are several, the threads that
/// share the price, how often each cost is paid.
std::string candidate_text(const std::string& name, bool is_chosen, const Price& price,
                           const Counts& counts);

}  // namespace dmlcpu
