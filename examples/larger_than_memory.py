# %% [markdown]
# # Arrays larger than memory
#
# `numpy.memmap` makes a file an array: the kernel reads its pages when they are touched, and drops them
# when memory is short. dmlcpu reads such an array where it is and makes no copy, so that a file may be
# larger than memory. Here the program is forbidden memory of its own for half the file; what copies it
# fails.
#
# It needs Linux and `pip install matplotlib`; it makes a file of 256 MiB in a temporary folder, and
# writes `larger_than_memory.png`.

# %% A file
import resource
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dmlcpu

folder = tempfile.TemporaryDirectory(dir=".")  # other folders for temporary files may be memory
path = Path(folder.name) / "signals.npy"
signals, samples = 64, 2**20
file = np.lib.format.open_memmap(path, "w+", np.float32, (signals, samples))
rng = np.random.default_rng(0)
for row in file:
    row[:] = rng.standard_normal(samples, np.float32)
    row[rng.integers(samples)] += 100
del file
print(f"{path.stat().st_size / 2**20:.0f} MiB")


# %% A limit on memory
def memory(kind):
    """MiB of this process: RssAnon is its own memory, RssFile pages of files, VmData what is limited."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind + ":"):
            return int(line.split()[1]) / 1024


dmlcpu.argmax(np.zeros(2**20))  # starts the threads
before = memory("RssAnon"), memory("RssFile")
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
resource.setrlimit(resource.RLIMIT_DATA, (int((memory("VmData") + 128) * 2**20), hard))

# %% Opened, not read
mapped = np.load(path, mmap_mode="r")
print(type(mapped).__name__, mapped.shape, mapped.dtype)

# %% Indices of its size fail
try:
    np.argsort(mapped, axis=1)
except MemoryError as error:
    print("np.argsort:", error)

# %% The operators read it in place
where = dmlcpu.argmax(mapped, axis=1, keepdims=False)
peaks = dmlcpu.top_k(mapped, 3)
print("the highest sample of the first signals", where[:4], peaks.values[:4, 0])

# %% Results in files, too
k = 10_000
shape = signals, k
highest = np.lib.format.open_memmap(path.with_name("highest.npy"), "w+", np.float32, shape)
places = np.lib.format.open_memmap(path.with_name("places.npy"), "w+", np.uint32, shape)
dmlcpu.top_k(mapped, k, out=(highest, places))
highest.flush()
places.flush()
print("the 10,000 highest of each, sorted:", highest[0, :3], places[0, :3])

# %% What memory it took
own, of_files = memory("RssAnon") - before[0], memory("RssFile") - before[1]
print(f"own memory grew by {own:.0f} MiB, pages of files by {of_files:.0f} MiB")

# %% The picture
resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
figure, axis = plt.subplots(figsize=(8, 2.4), layout="constrained")
sizes = {
    "the process's own memory": own,
    "pages of files, which the kernel may drop": of_files,
    "the file": path.stat().st_size / 2**20,
}
bars = axis.barh(list(sizes), list(sizes.values()))
axis.bar_label(bars, fmt=" %.0f MiB")
axis.set(xlabel="MiB")
axis.margins(x=0.15)
figure.savefig("larger_than_memory.png")
folder.cleanup()
