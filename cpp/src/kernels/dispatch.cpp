#include "kernels/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/processor.hpp"
#include "dmlcpu/runtime.hpp"

namespace dmlcpu {

// The build lists what it compiled as DMLCPU_ISA(name, namespace), smallest first.
#define DMLCPU_ISA(name, target) DMLCPU_DECLARE_TARGET(target)
#include <isas.inc>
#undef DMLCPU_ISA

namespace {

const KernelTable tables[] = {
#define DMLCPU_ISA(name, target) \
  {name, target::arg_kernels, &target::top_k_kernels, target::gather_kernels},
#include <isas.inc>
#undef DMLCPU_ISA
};

/// How many of them this machine has: always the first ones.
int supported() {
  return static_cast<int>(
      std::count_if(std::begin(tables), std::end(tables),
                    [](const KernelTable& table) { return has_isa(table.name); }));
}

const KernelTable* find(const std::string& argument, std::string_view name) {
  const int count = supported();
  if (count == 0) {
    fail<ValueError>(argument,
                     "needs a processor with " + std::string(tables[0].name) + " or newer",
                     "an older one");
  }
  if (name == "auto") return &tables[count - 1];
  std::string names;
  for (int i = 0; i < count; ++i) {
    if (name == tables[i].name) return &tables[i];
    names += std::string(tables[i].name) + ", ";
  }
  bool built = false;
  for (const KernelTable& table : tables) built = built || name == table.name;
  fail<ValueError>(argument, "must be one of " + names + "auto",
                   "'" + std::string(name) + "'" + (built ? " (which this processor lacks)" : ""));
}

/// What chose the table in use.
std::atomic<const char*> source{"processor"};

const KernelTable* from_environment() {
  const char* name = std::getenv("DMLCPU_ISA");
  if (name == nullptr || *name == '\0') return find("instruction set", "auto");
  const KernelTable* const table = find("DMLCPU_ISA", name);
  if (std::string_view(name) != "auto") source.store("DMLCPU_ISA");
  return table;
}

std::atomic<const KernelTable*>& current() {
  static std::atomic<const KernelTable*> table{from_environment()};
  return table;
}

}  // namespace

const KernelTable& kernels() { return *current().load(std::memory_order_acquire); }

const Machine& machine() {
  struct Detected {
    Machine all[std::size(tables)] = {};

    Detected() {
      for (std::size_t i = 0; i < std::size(tables); ++i) {
        all[i] =
            machine_of(tables[i].name, is_amd() ? Family::kAmd : Family::kOther, read_caches());
      }
    }
  };
  static const Detected detected;
  return detected.all[&kernels() - tables];
}

std::int64_t cache_bytes(int level) {
  if (level == 2) return machine().caches.l2;
  if (level == 3) return machine().caches.l3;
  fail<ValueError>("level", "must be 2 or 3", level);
}

namespace detail {

int instruction_set_count() { return supported(); }

const char* instruction_set_name(int index) { return tables[index].name; }

int built_instruction_set_count() { return static_cast<int>(std::size(tables)); }

const char* current_instruction_set() { return kernels().name; }

const char* instruction_set_source() { return source.load(); }

void use_instruction_set(const char* name, std::size_t length) {
  const std::string_view wanted(name, length);
  current().store(find("name", wanted), std::memory_order_release);
  source.store(wanted == "auto" ? "processor" : "use_instruction_set");
}

}  // namespace detail
}  // namespace dmlcpu
