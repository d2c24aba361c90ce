#include "npy.hpp"

#include <cstring>
#include <fstream>
#include <regex>
#include <stdexcept>

Matrix read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  // "\x93NUMPY", two bytes of version, the header's length in two bytes (four from version 2 on).
  char start[8] = {};
  file.read(start, sizeof start);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) {
    throw std::runtime_error(path + ": not a .npy file");
  }
  unsigned char length[4] = {};
  file.read(reinterpret_cast<char*>(length), start[6] == 1 ? 2 : 4);
  std::string header(length[0] | length[1] << 8 | length[2] << 16, ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));

  std::smatch shape;
  if (header.find("'<f4'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos ||
      !std::regex_search(header, shape, std::regex(R"(\((\d+), (\d+)\))"))) {
    throw std::runtime_error(path + ": not a 2-D float32 array in row-major order");
  }
  Matrix matrix{std::stoll(shape[1]), std::stoll(shape[2]), {}};
  matrix.elements.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
  const auto bytes = static_cast<std::streamsize>(matrix.elements.size() * sizeof(float));
  if (!file.read(reinterpret_cast<char*>(matrix.elements.data()), bytes)) {
    throw std::runtime_error(path + ": shorter than its header says");
  }
  return matrix;
}
