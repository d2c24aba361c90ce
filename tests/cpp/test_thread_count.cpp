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

/// The test sets neither variable.
void test_what_somebody_set() {
  const dmlcpu::ThreadCount set = dmlcpu::default_threads(5, 4);
  CHECK(set.count == 5 && set.source == ThreadSource::kOpenMP);
  const dmlcpu::ThreadCount machine = dmlcpu::default_threads(4, 4);
  CHECK(machine.source != ThreadSource::kOpenMP);
  CHECK(machine.count == dmlcpu::machine_threads("/").count);
}

}  // namespace

int main() {
  root = fs::temp_directory_path() /
         ("dmlcpu_" + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id())));
  fs::remove_all(root);
  test_quotas();
  test_a_quota_of_less_than_the_processors();
  if (std::getenv("DMLCPU_NUM_THREADS") == nullptr && std::getenv("OMP_NUM_THREADS") == nullptr) {
    test_what_somebody_set();
  }
  fs::remove_all(root);
  return check::failures;
}
