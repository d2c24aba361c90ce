// What a processor's time goes to, by which plans are compared.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/processor.hpp"

namespace dmlcpu {

/// What argmin, argmax and top-k do, as far as their candidates differ in it.
enum class Cost : std::uint8_t {
  kCall,          ///< a kernel call
  kTile,          ///< a tile of columns begins
  kTake,          ///< a position of up to four vectors, which wait for those of the one before
  kVector,        ///< a vector of lanes at one position, of narrow rows
  kShortVector,   ///< a vector of kSquareBytes at one position, of rows that fill no longer one
  kWideVector,    ///< a vector of rows that are read from their beginning to their end
  kScalar,        ///< a lane at one position, of rows of less than kSquareBytes
  kStrided,       ///< an element is packed, of lanes up to kPackedStride apart
  kStridedApart,  ///< an element is packed, of lanes farther apart or too few to be transposed
  kTransposed,    ///< an element of a square is transposed
  kSquare,        ///< an element is transposed and compared in registers
  kRank,          ///< a lane of a result that has several gets its place in the order of indices
  kMerge,         ///< the lanes of some results are merged pair by pair, once
  kMergedLane,    ///< a lane of these
  kMergedGroup,   ///< a group of one result, whose lanes are merged
  kMergedResult,  ///< a result is merged with its best so far
  kWrittenApart,  ///< a result of columns is not written beside the one before
  kJump,          ///< elements that L2 does not hold are read apart from those before them
  kRow,           ///< a row of up to four vectors is searched by itself
  kLongRow,       ///< a row of more vectors, which take a loop
  kRowVector,     ///< a vector of a row
  kRowBackward,   ///< a vector of a row that is read backwards
  kRowStrided,    ///< an element of a row that is packed, up to kPackedStride apart
  kRowApart,      ///< an element of a row that is packed, farther apart
  kPackedRow,     ///< a row is packed, beside what its elements cost

  // What top-k alone does.
  kSelectedRow,     ///< a row is selected from by itself
  kRowPacked,       ///< as kRowApart
  kStripesVector,   ///< a vector of a row whose threshold is that of stripes
  kBlocksVector,    ///< a vector of a row whose threshold is that of blocks
  kBlockSearched,   ///< a block is read again, for what is at or above the threshold
  kSampleVector,    ///< a vector of a row whose threshold is that of a sample
  kThresholdByte,   ///< a byte of the keys that are searched for a threshold, for each byte of one
  kCollected,       ///< an item is collected
  kSortedPair,      ///< an item is compared with a vector of others
  kSortedByDigits,  ///< a row's items are sorted by digits
  kSortedItem,      ///< an item of these
  kKeyRow,          ///< the keys of a row of lanes are made by themselves
  kSlotVector,      ///< a vector of lanes is compared with the worst slots
  kSlotLater,       ///< one of its lanes has a better element, after the first positions
  kSlotInsert,      ///< a vector is inserted into a slot
  kSlotWritten,     ///< a result of columns is written
  kPair,            ///< the vectors of lanes at two positions are compared with each other
  kPlaced,          ///< an element is written to its place, if that is among the first
};
inline constexpr int kCosts = static_cast<int>(Cost::kPlaced) + 1;

/// The nanoseconds of a cost.
struct CostRow {
  const char* name;
  float nanoseconds[3][4];  ///< with vectors of 16, 32 and 64 bytes; of elements of 1, 2, 4, 8
};
extern const CostRow cost_rows[kCosts];

/// How often each cost is paid.
using Counts = std::array<float, kCosts>;

/// What a call is expected to take, on as many threads as can share it.
struct Price {
  float nanoseconds;
  int threads;
};

/// A family of processors with an instruction set.
struct Machine {
  int vectors;  ///< which column of CostRow::nanoseconds
  std::int64_t vector_bytes;
  Caches caches;         ///< as the processor tells them, or those of the measured one
  bool prefetches_rows;  ///< whether prefetches of rows pay
  bool streams;          ///< whether non-temporal stores pay

  /// Whether rows of an input of this size are read as from memory: searched in one pass, and
  /// prefetched if that pays. Prefetches of what L2 holds would only take time.
  bool rows_are_far(std::int64_t bytes) const { return bytes >= 2 * caches.l2; }
  /// Whether columns of an input of this size are prefetched to L2: the rows of the next pass, or,
  /// in a single pass, what is tuning::kColumnsPrefetchAhead bytes on in its rows, as the hardware
  /// prefetch stops at the end of a page.
  bool columns_are_far(std::int64_t bytes) const { return bytes >= 8 * caches.l2; }
  /// Whether a gather uses non-temporal stores, `bytes` being what it reads and writes. Caches that
  /// do not hold that many would lose everything else, and the processor would first read what is
  /// overwritten. A single thread waits for that reading, so that it gains from a smaller size on.
  bool is_streamed(std::int64_t bytes, int threads) const {
    return streams && bytes >= (threads == 1 ? caches.l3 / 2 : caches.l3);
  }

  /// What is paid for a cost that often, in nanoseconds.
  float price(Cost cost, std::int64_t element_size, float count) const {
    const int width = __builtin_ctzll(static_cast<unsigned long long>(element_size));
    return count * cost_rows[static_cast<int>(cost)].nanoseconds[vectors][width];
  }
};

enum class Family : std::uint8_t { kAmd, kOther };

/// The machine that runs kernels of this instruction set on such a processor.
Machine machine_of(std::string_view instruction_set, Family family, const Caches& caches = {});

}  // namespace dmlcpu
