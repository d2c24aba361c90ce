// Reads matrices that numpy.save wrote, for programs on one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A matrix in row-major order.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> elements;
};

/// Reads a .npy file of a 2-D float32 array, not in Fortran order. Throws std::runtime_error.
Matrix read_npy(const std::string& path);

/// All of a main(): calls work() with the matrix in the .npy file that is the program's only
/// argument. Prints what is wrong to stderr; returns the exit status.
int run_on_npy(int count, char** arguments, void (*work)(const Matrix&));
