// Keeps a shared object in memory.
#pragma once

namespace dmlcpu {

/// Keeps the shared object that holds the function from being unloaded for as long as the process
/// lives. Does nothing where the system cannot say which object that is.
void keep_loaded(void (*function)());

}  // namespace dmlcpu
