// What kernels of columns prefetch is in the tensor: a prefetch of memory that is not mapped gives
// no wrong answer, but takes so long that a call takes ten times its time.
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "kernels/columns-inl.hpp"

namespace {

using namespace dmlcpu;
using namespace dmlcpu::tested;

/// Columns of a contiguous tensor of groups x positions x lanes, of which `period` positions have a
/// table and `pass` are read at a time.
struct Case {
  std::int64_t groups;
  std::int64_t n;
  std::int64_t lanes;
  std::int64_t period;
  std::int64_t pass;
  std::int64_t tile_groups;
  std::int64_t tile_lanes;
};

std::int64_t from_to(std::mt19937& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

Case any_case(std::mt19937& random) {
  Case c{};
  c.groups = from_to(random, 1, 4);
  c.n = from_to(random, 1, 40);
  c.lanes = from_to(random, 1, 50);
  c.period = from_to(random, 1, c.n);
  c.pass = from_to(random, 1, c.period);
  c.tile_groups = from_to(random, 1, c.groups);
  c.tile_lanes = from_to(random, 1, c.lanes);
  return c;
}

void test_prefetches_are_in_the_tensor() {
  std::mt19937 random(1);
  int prefetches = 0;
  for (int round = 0; round < 5000; ++round) {
    const Case c = any_case(random);
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < c.period; ++i) offsets.push_back(i * c.lanes);
    const std::vector<std::uint8_t> tensor(static_cast<std::size_t>(c.groups * c.n * c.lanes));
    Columns columns;
    columns.data = tensor.data();
    columns.walk.offsets = offsets.data();
    columns.walk.n = c.n;
    columns.walk.period = c.period;
    columns.walk.period_stride = c.period * c.lanes;
    // The last period overlaps the one before.
    columns.walk.last_skip = c.n % c.period == 0 ? 0 : c.period - c.n % c.period;
    columns.walk.last_offset = -columns.walk.last_skip * c.lanes;
    columns.lanes = {c.groups, c.n * c.lanes, c.lanes, 1};
    columns.tiling.groups = c.tile_groups;
    columns.tiling.lanes = c.tile_lanes;
    columns.tiling.pass = c.pass;
    columns.tiling.ahead = c.pass * c.lanes;
    // A single pass is prefetched within its rows, by a fixed distance.
    if (c.pass == c.period) continue;
    for_tiles<std::uint8_t>(columns, [&](const Tile<std::uint8_t>& tile) {
      for_rows(
          columns, tile, nullptr, [&](const TileRows<std::uint8_t>& rows, std::int64_t /*at*/) {
            if (rows.ahead == 0) return;
            ++prefetches;
            const std::int64_t first = rows.data + rows.offsets[0] + rows.ahead - tensor.data();
            const std::int64_t last =
                first + (rows.n - 1) * c.lanes + (tile.groups - 1) * rows.group_stride;
            CHECK(first >= 0 && last < static_cast<std::int64_t>(tensor.size()));
          });
    });
  }
  CHECK(prefetches > 1000);
}

}  // namespace

int main() {
  test_prefetches_are_in_the_tensor();
  return check::failures == 0 ? 0 : 1;
}
