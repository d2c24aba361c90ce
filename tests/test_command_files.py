"""What the command line reads: bad files, files larger than the memory.

tests/test_command_outputs.py is about what it writes, tests/test_command_pipes.py about pipes.
"""

import os
import pickle
import sys
import textwrap
import warnings
from contextlib import suppress

import numpy as np
import pytest

import dmlcpu

from commands import equal, fails, run, succeeds
from scripts import run_python, start_python

RNG = np.random.default_rng(0)


def bad_files():
    np.save("good.npy", np.arange(6.0).reshape(2, 3))
    np.savez("archive.npz", np.zeros(3), weights=np.ones(2))
    np.save("objects.npy", np.array([1, "a"], object), allow_pickle=True)
    np.save("records.npy", np.zeros(3, np.dtype([("a", "f4")])))
    np.save("swapped.npy", np.zeros(3, ">f4"))
    np.save("complex.npy", np.zeros(3, complex))
    with open("empty.npy", "wb"):
        pass
    with open("good.npy", "rb") as whole, open("short.npy", "wb") as short:
        short.write(whole.read()[:-1])
    with open("good.npy", "rb") as whole, open("header.npy", "wb") as header:
        header.write(whole.read()[:50])
    with open("pickled.npy", "wb") as file:
        pickle.dump([1], file)
    with open("text.npy", "w") as file:
        file.write("1 2 3")
    header_only("negative.npy", shape=(-3, 2))
    header_only("huge.npy", shape=(0, 2**40, 2**40))
    header_only("nested.npy", descr=("<f4", (3,)))
    np.save("half.npy", np.zeros(3, "V2"))
    os.mkdir("folder.npy")
    with suppress(OSError):  # no name on Windows
        np.save("a\nb.npy", np.zeros(3, complex))


def header_only(path, **changed):
    header = {"descr": "<f4", "fortran_order": False, "shape": (3, 2), **changed}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(24))


WRITE_AGAIN = "the file is truncated or damaged, write it again"
DTYPES = (
    "float32, float16, float64, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
    "bool"
)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("missing.npy", "missing.npy: No such file or directory"),
        ("folder.npy", "folder.npy: Is a directory"),
        ("archive.npz", "archive.npz: must be an .npy file, got an .npz archive of weights, arr_0; save one of its arrays by numpy.save"),
        ("empty.npy", "empty.npy: must be an .npy file, got an empty one; write it again"),
        ("pickled.npy", "pickled.npy: must be an .npy file, got a pickle; if you trust it, load it and save its array by numpy.save"),
        ("text.npy", "text.npy: must be an .npy file, got another format; save the array by numpy.save"),
        ("short.npy", "short.npy: must hold 48 bytes after its header, of float64 of shape (2, 3), got 47; the file is truncated, write or copy it again"),
        ("header.npy", f"header.npy: must have a header that NumPy reads, got: EOF: reading array header, expected 118 bytes got 40; {WRITE_AGAIN}"),
        ("negative.npy", f"negative.npy: must have a header that NumPy reads, got: float32 of shape (-3, 2); {WRITE_AGAIN}"),
        ("nested.npy", f"nested.npy: must have a header that NumPy reads, got: ('<f4', (3,)) of shape (3, 2); {WRITE_AGAIN}"),
        ("huge.npy", f"huge.npy: must have a shape that NumPy takes, got (0, {2**40}, {2**40})"),
        ("objects.npy", "objects.npy: must hold numbers, got Python objects, object of shape (2,); if you trust the file, load it with allow_pickle=True, and save it with a numeric dtype"),
        ("half.npy", "half.npy: must hold numbers, got |V2, which does not say what its 2 bytes are; if they are bfloat16, give --bfloat16"),
        ("records.npy", f"input (records.npy): must be of dtype {DTYPES}, got [('a', '<f4')]"),
        ("complex.npy", f"input (complex.npy): must be of dtype {DTYPES}, got complex128"),
        ("a\nb.npy", f"input ('a\\nb.npy'): must be of dtype {DTYPES}, got complex128"),
        ("swapped.npy", f"input (swapped.npy): must be of dtype {DTYPES}, got >f4 (not in this machine's byte order)"),
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
        ("indices (good.npy): must be of dtype int8 to int64 or uint8 to uint64, got float64", ["gather", "good.npy", "good.npy", "-o", "o.npy"]),
        ("output: must be different files, got ./x.npy for both", ["topk", "good.npy", "-k", "1", "-o", "x.npy", "./x.npy"]),
        ("folder.npy: must be a file or a pipe, got a folder or a device", ["argmin", "good.npy", "-o", "folder.npy"]),
        ("/dev/zero: must be a file or a pipe, got a folder or a device", ["argmin", "good.npy", "-o", "/dev/zero"]),
        ("output: must be the name of a file, got ''", ["argmin", "good.npy", "-o", ""]),
        ("output: must be given (-o) for more than 1000 elements, got 1500", ["gather", "good.npy", "many_rows.npy"]),
        ("--bfloat16: must be for a file of |V2, got good.npy, float64 of shape (2, 3)", ["argmin", "good.npy", "--bfloat16"]),
        ("indices (-): must be a file where the input is standard input, got the same", ["gather", "/dev/stdin", "-"]),
    ],
)  # fmt: skip
def test_failed_work(text, arguments, folder, capsys):
    bad_files()
    np.save("many_rows.npy", np.zeros((500, 1), int))
    fails(capsys, text, *arguments)


def test_damaged_headers(folder, capsys):
    """Whatever is wrong, a text names the file."""
    np.save("x.npy", np.arange(12.0).reshape(3, 4))
    with open("x.npy", "rb") as file:
        whole = file.read()
    for _ in range(500):
        damaged = bytearray(whole)
        for at in RNG.integers(6, 128, RNG.integers(1, 5)):
            damaged[at] = RNG.integers(0, 256)
        with open("x.npy", "wb") as file:
            file.write(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a file of Python 2
            code = run("argmax", "x.npy", "-o", "out.npy")
        said = capsys.readouterr().err
        assert code == 0 or (code == 1 and "x.npy" in said and said.count("\n") == 1), damaged[:128]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_of_the_format(version, folder):
    x = np.asfortranarray(RNG.standard_normal((3, 4)))
    with open("x.npy", "wb") as file:
        np.lib.format.write_array(file, x, version)
    succeeds("argmax", "x.npy", "--axis", "1", "-o", "out.npy")
    equal("out.npy", dmlcpu.argmax(x, 1))


def test_bfloat16(folder):
    """NumPy writes it as |V2, which it stays."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = RNG.standard_normal((20, 30)).astype(ml_dtypes.bfloat16)
    x[::3, ::4] = np.nan
    np.save("x.npy", x)
    succeeds("argmin", "x.npy", "--axis", "1", "--bfloat16", "-o", "out.npy")
    equal("out.npy", dmlcpu.argmin(x, 1))
    succeeds("topk", "x.npy", "-k", "4", "--bfloat16", "-o", "v.npy", "i.npy")
    want = dmlcpu.top_k(x, 4)
    equal("i.npy", want.indices)
    assert np.array_equal(np.load("v.npy").view(np.uint16), want.values.view(np.uint16))
    np.save("rows.npy", np.array([[3], [1]]))
    succeeds("gather", "x.npy", "rows.npy", "--bfloat16", "-o", "out.npy")
    assert np.array_equal(np.load("out.npy").view(np.uint16), x[[3, 1]].view(np.uint16))


def test_bfloat16_needs_its_package(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    np.save("x.npy", np.zeros(3, "V2"))
    text = "--bfloat16: needs ml_dtypes: pip install ml_dtypes"
    fails(capsys, text, "argmax", "x.npy", "--bfloat16")


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_address_space(folder):
    """A map that does not fit is no error of the system's without a name."""
    np.lib.format.open_memmap("x.npy", "w+", np.float32, (2**30,))
    code = """
        import os, resource, sys
        from dmlcpu import _command
        os.chdir(sys.argv[1])
        limit = 3 * 2**30
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        print(_command.main(["argmax", "x.npy"]), file=sys.stderr)
    """
    done = start_python(
        "-c", textwrap.dedent(code), str(folder), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"
    )
    text = (
        "x.npy: float32 of shape (1073741824,) must be mapped, and its 4294967296 bytes do not fit the "
        "address space that is left; raise the limit (ulimit -v), or divide the file\n1\n"
    )
    assert done.stderr.startswith(f"python -m dmlcpu argmax: error: {text}")


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
