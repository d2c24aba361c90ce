// The shared object that holds a function.
#pragma once

namespace dmlcpu {

/// The file of the object that holds the function, which stays valid while it is loaded; null where
/// the system cannot say.
const char* object_file(void (*function)());

/// Keeps the object that holds the function from being unloaded for as long as the process lives.
/// Does nothing where the system cannot say which object that is.
void keep_loaded(void (*function)());

}  // namespace dmlcpu
