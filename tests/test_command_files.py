"""What the command line reads and writes: bad files, outputs that appear whole, files larger than the
memory."""

import os
import stat
import sys

import numpy as np
import pytest

import dmlcpu

from commands import equal, fails, succeeds
from scripts import run_python

RNG = np.random.default_rng(0)


def bad_files():
    np.save("good.npy", np.arange(6.0).reshape(2, 3))
    np.savez("archive.npz", np.zeros(3))
    np.save("objects.npy", np.array([1, "a"], object), allow_pickle=True)
    np.save("records.npy", np.zeros(3, np.dtype([("a", "f4")])))
    np.save("swapped.npy", np.zeros(3, ">f4"))
    np.save("complex.npy", np.zeros(3, complex))
    with open("empty.npy", "wb"):
        pass
    with open("good.npy", "rb") as whole, open("short.npy", "wb") as short:
        short.write(whole.read()[:-1])
    os.mkdir("folder.npy")


DTYPES = (
    "float32, float16, float64, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
    "bool"
)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("missing.npy", "missing.npy: No such file or directory"),
        ("folder.npy", "folder.npy: Is a directory"),
        ("archive.npz", "archive.npz: must be an .npy file, got another format"),
        ("empty.npy", "empty.npy: must be an .npy file, got another format"),
        ("short.npy", "short.npy: mmap length is greater than file size"),
        ("objects.npy", "objects.npy: Array can't be memory-mapped: Python objects in dtype."),
        ("records.npy", f"input: must be of dtype {DTYPES}, got [('a', '<f4')]"),
        ("complex.npy", f"input: must be of dtype {DTYPES}, got complex128"),
        ("swapped.npy", f"input: must be of dtype {DTYPES}, got >f4 (not in this machine's byte order)"),
    ],
)  # fmt: skip
def test_bad_inputs(file, text, folder, capsys):
    bad_files()
    np.save("out.npy", np.arange(3))
    fails(capsys, text, "argmax", file, "-o", "out.npy")
    equal("out.npy", np.arange(3))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("axis: must be in [-2, 1] (input has 2 dimensions), got 2", ["argmax", "good.npy", "--axis", "2", "-o", "o.npy"]),
        ("k: must be in [1, 3] (the size of axis 1), got 4", ["topk", "good.npy", "-k", "4", "-o", "v.npy", "i.npy"]),
        ("indices: must be of dtype int8 to int64 or uint8 to uint64, got float64", ["gather", "good.npy", "good.npy", "-o", "o.npy"]),
        ("output: must be different files, got x.npy for both", ["topk", "good.npy", "-k", "1", "-o", "x.npy", "./x.npy"]),
        ("folder.npy: must be a file, got a folder or a device", ["argmin", "good.npy", "-o", "folder.npy"]),
        ("/dev/null: must be a file, got a folder or a device", ["argmin", "good.npy", "-o", "/dev/null"]),
    ],
)  # fmt: skip
def test_failed_work(text, arguments, folder, capsys):
    bad_files()
    fails(capsys, text, *arguments)


def test_no_folder_of_the_output(folder, capsys):
    bad_files()
    place = os.path.realpath("no/out.npy")
    fails(capsys, f"{place}: No such file or directory", "argmin", "good.npy", "-o", "no/out.npy")


def test_output_replaces_what_a_link_leads_to(folder):
    np.save("x.npy", np.array([1, 3, 2]))
    np.save("real.npy", np.zeros(9))
    os.symlink("real.npy", "link.npy")
    succeeds("argmax", "x.npy", "-o", "link.npy")
    assert os.path.islink("link.npy")
    equal("real.npy", np.array([1], np.uint32))


def test_output_has_the_usual_permissions(folder):
    np.save("x.npy", np.array([1, 3, 2]))
    succeeds("argmax", "x.npy", "-o", "out.npy")
    assert stat.S_IMODE(os.stat("out.npy").st_mode) == stat.S_IMODE(os.stat("x.npy").st_mode)


def test_output_may_be_the_input(folder):
    np.save("x.npy", np.array([1, 3, 2]))
    succeeds("argmax", "x.npy", "-o", "x.npy")
    equal("x.npy", np.array([1], np.uint32))


def test_without_preallocation(folder, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    x = RNG.standard_normal((2000, 2000), np.float32)
    np.save("x.npy", x)
    succeeds("topk", "x.npy", "-k", "500", "-o", "v.npy", "i.npy")
    equal("v.npy", dmlcpu.top_k(x, 500).values)


@pytest.mark.skipif(sys.platform != "linux", reason="limits files as Linux does")
def test_full_disk(folder):
    """A limit on files' sizes takes the place of a full disk; a mapping would end in SIGBUS."""
    np.save("x.npy", np.zeros((1000, 1000), np.float32))
    np.save("v.npy", np.arange(3))
    out = run_python(
        """
        import os
        import resource
        import sys
        from dmlcpu import _command
        os.chdir(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
        print(_command.main(["topk", "x.npy", "-k", "900", "-o", "v.npy", "i.npy"]), os.listdir())
        """,
        str(folder),
    )
    assert out in ("1 ['x.npy', 'v.npy']", "1 ['v.npy', 'x.npy']")
    equal("v.npy", np.arange(3))


LIMITED = """
import os
import resource
import sys
import numpy as np
from dmlcpu import _command
os.chdir(sys.argv[1])
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    np.load("x.npy")
    print("room for the file")
except MemoryError:
    pass
print(_command.main(sys.argv[3:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize(
    "command",
    [
        "argmax x.npy --axis 1 -o out.npy",
        "argmax x.npy --axis 0 -o out.npy",
        "argmin x.npy -o out.npy",
        "topk x.npy -k 100 --axis 1 -o v.npy i.npy",
        "topk x.npy -k 3 --axis 0 -o v.npy i.npy",
        "gather x.npy indices.npy -o out.npy",
        "topk flat.npy -k 1000 -o v.npy i.npy",
    ],
)
def test_files_larger_than_the_memory(command, folder):
    """256 MiB, where the process may allocate 100, half of which the interpreter and NumPy take.
    Most of it is a hole, so that the file takes no room on the disk."""
    shape = (2**11, 2**15)
    x = np.lib.format.open_memmap("x.npy", "w+", np.float32, shape)
    x[::41, ::997] = RNG.standard_normal(x[::41, ::997].shape)
    x.flush()
    if "flat" in command:
        flat = np.lib.format.open_memmap("flat.npy", "w+", np.float32, (x.size,))
        flat[::40009] = RNG.standard_normal(flat[::40009].shape)
    # The output of the gather is as large as the input.
    np.save("indices.npy", np.arange(shape[0])[::-1, None])
    out = run_python(LIMITED, str(folder), str(100 * 2**20), *command.split(), OMP_NUM_THREADS="1",
                     OPENBLAS_NUM_THREADS="1")  # fmt: skip
    assert out == "0"
    if command.startswith("argmax x.npy --axis 1"):
        equal("out.npy", dmlcpu.argmax(x, 1))
    elif "argmax x.npy --axis 0" in command:
        equal("out.npy", dmlcpu.argmax(x, 0))
    elif "argmin" in command:
        equal("out.npy", dmlcpu.argmin(x))
    elif "gather" in command:
        assert np.array_equal(np.load("out.npy", mmap_mode="r")[::-1][::41], x[::41])
    else:
        source = flat if "flat" in command else x
        k = int(command.split()[command.split().index("-k") + 1])
        axis = 0 if "--axis 0" in command else -1
        want = dmlcpu.top_k(source, k, axis=axis)
        equal("v.npy", want.values)
        equal("i.npy", want.indices)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_narrow_indices_larger_than_the_memory(folder):
    """They are copied to four times as many bytes, but slab by slab."""
    np.save("x.npy", np.arange(256, dtype=np.uint8)[::-1])
    indices = np.lib.format.open_memmap("indices.npy", "w+", np.uint8, (2**27, 1))
    indices[::1009, 0] = np.arange(len(indices[::1009])) % 256
    indices.flush()
    code = LIMITED.replace('np.load("x.npy")', 'np.load("indices.npy")')
    limit = str(125 * 2**20)
    command = ["gather", "x.npy", "indices.npy", "-o", "out.npy"]
    assert run_python(code, str(folder), limit, *command, OMP_NUM_THREADS="1",
                      OPENBLAS_NUM_THREADS="1") == "0"  # fmt: skip
    out = np.load("out.npy", mmap_mode="r")
    assert np.array_equal(out[::1009], 255 - indices[::1009, 0])
