/* A plugin of QEMU that writes how many instructions a program of one thread executed. The
 * functions that it calls are declared here, as no package of Debian holds QEMU's header. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t PluginId;
typedef struct Block Block;
enum { kNoRegisters = 0 };

extern size_t qemu_plugin_tb_n_insns(const Block*);
extern void qemu_plugin_register_vcpu_tb_trans_cb(PluginId, void (*)(PluginId, Block*));
extern void qemu_plugin_register_vcpu_tb_exec_cb(Block*, void (*)(unsigned, void*), int, void*);
extern void qemu_plugin_register_atexit_cb(PluginId, void (*)(PluginId, void*), void*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t count;

static void executed(unsigned processor, void* instructions) {
  (void)processor;
  count += (uintptr_t)instructions;
}

static void translated(PluginId id, Block* block) {
  (void)id;
  const uintptr_t instructions = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, kNoRegisters, (void*)instructions);
}

static void ended(PluginId id, void* nothing) {
  (void)id;
  (void)nothing;
  fprintf(stderr, "instructions %" PRIu64 "\n", count);
}

__attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void* info,
                                                               int count_of_options,
                                                               char** options) {
  (void)info;
  (void)count_of_options;
  (void)options;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
