// Prints the newest instruction set of this machine, as the build names it; fails where there is
// none.
#include <cstdio>

#include "core/processor.hpp"

int main() {
  const char* newest = nullptr;
  if (dmlcpu::has_isa("x86-64-v2")) newest = "x86_64_v2";
  if (dmlcpu::has_isa("x86-64-v3")) newest = "x86_64_v3";
  if (dmlcpu::has_isa("x86-64-v4")) newest = "x86_64_v4";
  return newest == nullptr || std::fputs(newest, stdout) < 0;
}
