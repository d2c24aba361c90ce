#include "kernels/dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "dmlcpu/runtime.hpp"

namespace dmlcpu {

/// X(name, namespace) for each instruction set, smallest first.
#ifdef DMLCPU_X86_64
#define DMLCPU_TARGETS(X)   \
  X("x86-64-v2", x86_64_v2) \
  X("x86-64-v3", x86_64_v3) \
  X("x86-64-v4", x86_64_v4)
#else
#define DMLCPU_TARGETS(X) X("generic", generic)
#endif

#define DMLCPU_DECLARE(name, target) DMLCPU_DECLARE_TARGET(target)
DMLCPU_TARGETS(DMLCPU_DECLARE)

namespace {

#define DMLCPU_TABLE(name, target) \
  {name, target::arg_kernels, &target::top_k_kernels, target::gather_kernels},
const KernelTable tables[] = {DMLCPU_TARGETS(DMLCPU_TABLE)};

/// How many instruction sets this machine has: always the first ones.
int supported() {
#ifdef DMLCPU_X86_64
  // __builtin_cpu_supports asks the operating system too whether it saves the wide registers.
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
                  __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v2 + v3 + v4;
#else
  return 1;
#endif
}

const KernelTable* find(const std::string& argument, std::string_view name) {
  const int count = supported();
  if (count == 0) {
    fail<ValueError>(argument, "needs a processor with x86-64-v2 (SSE4.2) or newer",
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
