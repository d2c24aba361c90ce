#include "directml/names.hpp"

namespace dmlcpu::directml {
namespace {

struct Row {
  const char* name;
  bool known;  ///< whether the library has the type
  DataType type;
};

constexpr Row kRows[] = {
    {"UNKNOWN", false, {}},
    {"FLOAT32", true, DataType::kFloat32},
    {"FLOAT16", true, DataType::kFloat16},
    {"UINT32", true, DataType::kUInt32},
    {"UINT16", true, DataType::kUInt16},
    {"UINT8", true, DataType::kUInt8},
    {"INT32", true, DataType::kInt32},
    {"INT16", true, DataType::kInt16},
    {"INT8", true, DataType::kInt8},
    {"FLOAT64", true, DataType::kFloat64},
    {"UINT64", true, DataType::kUInt64},
    {"INT64", true, DataType::kInt64},
    {"UINT4", false, {}},
    {"INT4", false, {}},
};
static_assert(sizeof kRows / sizeof kRows[0] == kDataTypeEnd);

}  // namespace

std::string data_type_name(std::uint32_t type) {
  return type < kDataTypeEnd ? kRows[type].name : std::to_string(type);
}

bool find_data_type(std::uint32_t type, DataType* found) {
  if (type >= kDataTypeEnd || !kRows[type].known) return false;
  *found = kRows[type].type;
  return true;
}

const char* operator_name(std::uint32_t type) {
  switch (type) {
    case DML_OPERATOR_REDUCE:
      return "REDUCE";
    case DML_OPERATOR_TOP_K:
      return "TOP_K";
    case DML_OPERATOR_TOP_K1:
      return "TOP_K1";
    case DML_OPERATOR_GATHER_ND:
      return "GATHER_ND";
    case DML_OPERATOR_GATHER_ND1:
      return "GATHER_ND1";
    case DML_OPERATOR_ARGMIN:
      return "ARGMIN";
    case DML_OPERATOR_ARGMAX:
      return "ARGMAX";
    default:
      return nullptr;
  }
}

std::string level_name(std::uint32_t level) {
  return std::to_string(level >> 12) + "." + std::to_string(level >> 8 & 15);
}

}  // namespace dmlcpu::directml
