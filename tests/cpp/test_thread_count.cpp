// How many threads the process may use: quotas of control groups, and what comes before them.
#include "core/thread_count.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

namespace fs = std::filesystem;
using dmlcpu::ThreadSource;

fs::path root;

#ifdef __linux__
void write(const std::string& name, const std::string& text) {
  fs::create_directories((root / name).parent_path());
  std::ofstream(root / name) << text;
}

double quota() { return dmlcpu::cpu_quota(root.string().c_str()); }

void test_quotas() {
  CHECK(quota() == 0);
  write("proc/self/cgroup", "0::/\n");
  CHECK(quota() == 0);
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  CHECK(quota() == 0);
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  CHECK(quota() == 1.5);
  // The least of the group's and its ancestors'.
  write("proc/self/cgroup", "1:name=x:/y\n0::/a/b/\n");
  write("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  CHECK(quota() == 1.5);
  write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  CHECK(quota() == 0.5);
  // Version 1, beside an empty hierarchy of version 2.
  fs::remove_all(root);
  write("proc/self/cgroup", "5:cpu,cpuacct:/c\n3:cpuset:/d\n0::/\n");
  write("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  CHECK(quota() == 0);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "10000\n");
  CHECK(quota() == 2);
  write("proc/self/cgroup", "no row\n");
  CHECK(quota() == 0);
}

void test_a_quota_of_less_than_the_processors() {
  fs::remove_all(root);
  const dmlcpu::ThreadCount all = dmlcpu::machine_threads(root.string().c_str());
  CHECK(all.count >= 1);
  CHECK(all.source == ThreadSource::kProcessors || all.source == ThreadSource::kAffinity);
  write("proc/self/cgroup", "0::/\n");
  // Rounded up.
  write("sys/fs/cgroup/cpu.max", "30000 100000\n");
  const dmlcpu::ThreadCount one = dmlcpu::machine_threads(root.string().c_str());
  CHECK(one.count == 1);
  CHECK(all.count == 1 || one.source == ThreadSource::kQuota);
  write("sys/fs/cgroup/cpu.max", "900000000 100000\n");
  const dmlcpu::ThreadCount many = dmlcpu::machine_threads(root.string().c_str());
  CHECK(many.count == all.count && many.source == all.source);
}

#endif

void test_what_binds() {
  // The calling thread's own affinity is then what the runtime made of it.
  CHECK(dmlcpu::machine_threads("/nowhere", 1).count == 1);
}

/// Where somebody sets neither variable, and where OMP_NUM_THREADS says 7.
void test_what_somebody_set(int variable) {
  const auto is_machine = [&](const dmlcpu::OpenMPThreads& openmp) {
    const dmlcpu::ThreadCount found = dmlcpu::default_threads(openmp);
    if (variable > 0) {
      return found.count == variable && found.source == ThreadSource::kOpenMPVariable;
    }
    return found.source != ThreadSource::kOpenMP &&
           found.count == dmlcpu::machine_threads("/").count;
  };
  // No OpenMP; its number as it was, of the processors it counted, or of all.
  CHECK(is_machine({}));
  CHECK(is_machine({5, 5, 5, false}));
  CHECK(is_machine({static_cast<int>(std::thread::hardware_concurrency()),
                    static_cast<int>(std::thread::hardware_concurrency()), 1, false}));
  CHECK(variable == 0 || is_machine({variable, variable, 4, false}));
  // Set since, or before the library was loaded.
  for (const dmlcpu::OpenMPThreads& openmp :
       {dmlcpu::OpenMPThreads{95, 4, 4, false}, {95, 95, 4, false}}) {
    const dmlcpu::ThreadCount set = dmlcpu::default_threads(openmp);
    CHECK(set.count == 95 && set.source == ThreadSource::kOpenMP);
  }
}

}  // namespace

int main() {
  root = fs::temp_directory_path() /
         ("dmlcpu_" + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id())));
  fs::remove_all(root);
#ifdef __linux__
  test_quotas();
  test_a_quota_of_less_than_the_processors();
#endif
  test_what_binds();
  const char* const variable = std::getenv("OMP_NUM_THREADS");
  if (std::getenv("DMLCPU_NUM_THREADS") == nullptr) {
    test_what_somebody_set(variable == nullptr ? 0 : std::atoi(variable));
  }
  fs::remove_all(root);
  return check::failures;
}
