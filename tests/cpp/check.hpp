// Checks for the C++ tests: a failed one is printed and counted, and the test goes on.
#pragma once

#include <iostream>
#include <string>

namespace check {

inline int failures = 0;

inline void that(bool good, const char* text, const char* file, int line) {
  if (good) return;
  std::cerr << file << ":" << line << ": failed: " << text << "\n";
  ++failures;
}

/// The text of the error of type E that the body throws, "" if it throws none.
template <class E, class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
