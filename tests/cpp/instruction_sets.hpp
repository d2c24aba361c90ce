// Tests on every instruction set of the machine.
#pragma once

#include <string>

#include "check.hpp"
#include "dmlcpu/runtime.hpp"

/// Calls test(name) with each instruction set, of which there must be one.
template <class Test>
void with_instruction_sets(const Test& test) {
  const auto names = dmlcpu::instruction_sets();
  CHECK(!names.empty());
  for (const auto& name : names) {
    dmlcpu::use_instruction_set(name);
    test(name);
  }
}
