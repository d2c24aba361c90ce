#include "npy.hpp"

#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

Matrix read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  // "\x93NUMPY", two bytes of version, the header's size in two bytes (four from version 2 on).
  char start[8] = {};
  file.read(start, sizeof start);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) {
    throw std::runtime_error(path + ": not a .npy file");
  }
  unsigned char size[4] = {};
  file.read(reinterpret_cast<char*>(size), start[6] == 1 ? 2 : 4);
  std::string header(size[0] | size[1] << 8 | size[2] << 16, ' ');
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

int run_on_npy(int count, char** arguments, void (*work)(const Matrix&)) {
  if (count != 2) {
    std::cerr << "usage: " << arguments[0] << " MATRIX.npy\n";
    return 2;
  }
  try {
    work(read_npy(arguments[1]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
