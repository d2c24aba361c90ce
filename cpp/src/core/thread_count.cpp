#include "core/thread_count.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif
#ifdef __unix__
#include <unistd.h>
#endif

namespace dmlcpu {
namespace {

#ifdef __linux__
/// A file's text, up to 64 KiB; empty where it cannot be read.
std::string read_file(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  text.resize(64 * 1024);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  static_cast<void>(std::fclose(file));
  return text;
}

/// The least quota over period of the group and of those that it is in, up to the mount; its files
/// hold a quota and a period, or both.
double least_quota(const std::string& mount, std::string group, const char* quota_file,
                   const char* period_file) {
  double least = 0;
  for (;;) {
    const std::string folder = mount + group + "/";
    std::string text = read_file(folder + quota_file);
    if (period_file != nullptr) text += " " + read_file(folder + period_file);
    // "max", which is no limit, is no number.
    char* end = nullptr;
    const double quota = std::strtod(text.c_str(), &end);
    const double period = std::strtod(end, nullptr);
    if (quota > 0 && period > 0) {
      least = least > 0 ? std::min(least, quota / period) : quota / period;
    }
    if (group.empty()) return least;
    group.erase(std::min(group.rfind('/'), group.size() - 1));
  }
}
#endif

/// The number that a variable begins with, 0 if there is none.
int number_in(const char* variable) noexcept {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): see below
  const long number = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return static_cast<int>(std::clamp(number, 0L, 4096L));
}

int processor_count() {
#ifdef _SC_NPROCESSORS_ONLN
  // hardware_concurrency() may be what the affinity allows.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (online > 0) return static_cast<int>(online);
#endif
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

/// How many processors the calling thread may use, 0 where the system has no affinities.
int affinity_count() {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return 0;
}

/// Read when the library is loaded: later another thread may change the environment.
const int own_variable = number_in("DMLCPU_NUM_THREADS");
const int openmp_variable = number_in("OMP_NUM_THREADS");

}  // namespace

double cpu_quota([[maybe_unused]] const char* root) {
  double least = 0;
#ifdef __linux__
  const std::string text = read_file(std::string(root) + "/proc/self/cgroup");
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    // A row is "number:controllers:group"; those of version 2 name no controllers.
    const std::string row = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = row.find(':');
    const std::size_t second = row.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + row.substr(first + 1, second - first - 1) + ",";
    std::string group = row.substr(second + 1);
    while (!group.empty() && group.back() == '/') group.pop_back();
    const std::string mount = std::string(root) + "/sys/fs/cgroup";
    double quota = 0;
    if (controllers == ",,") {
      quota = least_quota(mount, group, "cpu.max", nullptr);
    } else if (controllers.find(",cpu,") != std::string::npos) {
      quota = least_quota(mount + "/cpu", group, "cpu.cfs_quota_us", "cpu.cfs_period_us");
    }
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
  }
#endif
  return least;
}

ThreadCount machine_threads(const char* root, int affinity) {
  ThreadCount threads = {processor_count(), ThreadSource::kProcessors};
  if (affinity == 0) affinity = affinity_count();
  if (affinity > 0 && affinity < threads.count) threads = {affinity, ThreadSource::kAffinity};
  const int quota = static_cast<int>(std::ceil(cpu_quota(root)));
  if (quota > 0 && quota < threads.count) threads = {quota, ThreadSource::kQuota};
  return threads;
}

ThreadCount default_threads(const OpenMPThreads& openmp) {
  if (own_variable > 0) return {own_variable, ThreadSource::kVariable};
  // What OpenMP's number is until somebody sets it.
  const bool is_its_own = openmp.number == openmp.number_before &&
                          (openmp.number == openmp_variable || openmp.number == openmp.processors ||
                           openmp.number == processor_count());
  if (openmp.number > 0 && !is_its_own) return {openmp.number, ThreadSource::kOpenMP};
  if (openmp_variable > 0) return {openmp_variable, ThreadSource::kOpenMPVariable};
  static const ThreadCount machine = machine_threads("/", openmp.binds ? openmp.processors : 0);
  return machine;
}

}  // namespace dmlcpu
