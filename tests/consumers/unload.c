/* Loads a plugin, runs it and unloads it, several times; each time it is gone, and this process and
 * a child that it forks live on. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int is_mapped(const char* path) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    found |= strstr(line, path) != NULL;
  if (maps != NULL) fclose(maps);
  return found;
}

int main(int argc, char** argv) {
  int round;
  if (argc != 2) return 1;
  for (round = 0; round < 5; ++round) {
    int status = 0;
    pid_t child;
    const struct timespec moment = {0, 20 * 1000 * 1000};
    int (*run)(int) = NULL;
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    *(void**)&run = dlsym(plugin, "plugin_run");
    if (!is_mapped(argv[1])) return 3;
    if (run(3) != 0) return 4;
    if (dlclose(plugin) != 0) return 5;
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL) return 6;
    if (is_mapped(argv[1])) return 7;
    child = fork();
    if (child == 0) _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 8;
    nanosleep(&moment, NULL); /* the runtime's threads stop spinning, and go on where they were */
  }
  return 0;
}
