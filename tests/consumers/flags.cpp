// Every operator that DEFINE_ENUM_FLAG_OPERATORS gives DirectML's flags. Compiling is the test, but
// for what is written.
#include <dmlcpu/directml.h>

#include <type_traits>

constexpr DML_TENSOR_FLAGS kNone = DML_TENSOR_FLAG_NONE;
constexpr DML_TENSOR_FLAGS kOwned = DML_TENSOR_FLAG_OWNED_BY_DML;

static_assert((kNone | kOwned) == kOwned);
static_assert((kOwned & kNone) == kNone);
static_assert((kOwned ^ kOwned) == kNone);
static_assert((~kNone & kOwned) == kOwned);
static_assert((~kOwned & kOwned) == kNone && ~~kOwned == kOwned);
static_assert(std::is_same_v<decltype(kNone | kOwned), DML_TENSOR_FLAGS>);
static_assert(std::is_same_v<decltype(kNone & kOwned), DML_TENSOR_FLAGS>);
static_assert(std::is_same_v<decltype(kNone ^ kOwned), DML_TENSOR_FLAGS>);
static_assert(std::is_same_v<decltype(~kNone), DML_TENSOR_FLAGS>);
static_assert(sizeof(DML_TENSOR_FLAGS) == 4);

int main() {
  DML_BUFFER_TENSOR_DESC desc = {};
  desc.Flags |= DML_TENSOR_FLAG_OWNED_BY_DML;
  if (desc.Flags != kOwned) return 1;
  desc.Flags &= ~DML_TENSOR_FLAG_OWNED_BY_DML;
  if (desc.Flags != kNone) return 2;
  ((desc.Flags ^= kOwned) |= kNone) &= kOwned;
  return desc.Flags == kOwned ? 0 : 3;
}
