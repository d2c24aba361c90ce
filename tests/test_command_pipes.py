"""What the command line reads from pipes and writes to them, and what it prints."""

import contextlib
import io
import os
import shutil
import threading

import numpy as np
import pytest

import dmlcpu
from dmlcpu._command import _outputs

from commands import equal, fails, run, succeeds
from scripts import SCRIPTS, run_shell

RNG = np.random.default_rng(0)
X = np.arange(12.0).reshape(3, 4)


def files():
    np.save("x.npy", X)
    np.save("rows.npy", np.array([[2], [0]]))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_read(folder, capsys):
    arrays = [
        RNG.standard_normal((300, 70)),
        np.asfortranarray(np.ones((3, 4), np.int8)),
        np.float32(3),
    ]
    os.mkfifo("pipe")

    def argmax_of(data):
        def write():
            with contextlib.suppress(BrokenPipeError), open("pipe", "wb") as pipe:
                pipe.write(data)

        thread = threading.Thread(target=write)
        thread.start()
        code = run("argmax", "pipe", "-o", "out.npy")
        thread.join()
        return code

    for x in arrays:
        data = io.BytesIO()
        np.save(data, x)
        assert argmax_of(data.getvalue()) == 0
        equal("out.npy", dmlcpu.argmax(x))
    assert argmax_of(data.getvalue()[:-1]) == 1
    assert capsys.readouterr().err.startswith(
        "python -m dmlcpu argmax: error: pipe: must hold 4 bytes after its header, of float32 of shape (), got 3;"
    )
    assert argmax_of(b"PK1234") == 1
    text = "pipe: must be an .npy file, got an .npz archive; save one of its arrays by numpy.save"
    assert text in capsys.readouterr().err


@pytest.mark.slow
def test_standard_input(folder):
    np.save("x.npy", np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    np.save("rows.npy", np.array([[2]]))
    script = """
        set -e
        dmlcpu argmax - < x.npy
        cat x.npy | dmlcpu argmax /dev/stdin --axis 0
        { head -c 0; dmlcpu argmax - --no-keepdims; } < x.npy
        cat x.npy x.npy | { dmlcpu topk - -k 1 --axis 0; }
        dmlcpu gather <(cat x.npy) - < rows.npy
    """
    code, out, said = run_shell(script, folder)
    assert (code, said) == (0, "")
    assert out.split("\n") == [
        "[[11]]", "[[2 2 2 2]]", "11", "values", "[[ 8.  9. 10. 11.]]", "indices", "[[2 2 2 2]]",
        "[[ 8.  9. 10. 11.]]", "",
    ]  # fmt: skip
    for script, text in (
        (
            "head -c 100 x.npy | dmlcpu argmax -",
            "standard input: must have a header that NumPy reads",
        ),
        ("dmlcpu argmax - <&-", "standard input: Bad file descriptor"),
    ):
        code, out, said = run_shell(script, folder)
        assert (code, out) == (1, "")
        assert text in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_written(folder, capsys):
    """One after the other, as a reader may read them."""
    files()
    os.mkfifo("one")
    os.mkfifo("two")
    read = []

    def reader():
        for name in ("one", "two"):
            with open(name, "rb") as pipe:
                read.append(np.load(io.BytesIO(pipe.read())))

    thread = threading.Thread(target=reader)
    thread.start()
    succeeds("topk", "x.npy", "-k", "3", "-o", "one", "two")
    thread.join()
    assert np.array_equal(read[0], dmlcpu.top_k(X, 3).values)
    assert np.array_equal(read[1], dmlcpu.top_k(X, 3).indices)
    succeeds("topk", "x.npy", "-k", "3", "-o", "v.npy", os.devnull)
    equal("v.npy", dmlcpu.top_k(X, 3).values)
    for name in ("one", "./one"):
        text = f"output: must be different files, got one and {name}, which are one"
        fails(capsys, text, "topk", "x.npy", "-k", "3", "-o", "one", name)


@pytest.mark.slow
def test_standard_output(folder):
    files()
    np.save("many.npy", np.zeros((300, 400, 5)))
    np.save("i.npy", np.arange(10))
    script = """
        set -e -o pipefail
        dmlcpu argmax x.npy -o - --index-dtype int64 | dmlcpu gather i.npy - --mode clip
        dmlcpu topk x.npy -k 1 -o v.npy /dev/stdout | dmlcpu argmax - --axis 0
        dmlcpu argmax many.npy --axis 2 -o - > to_file.npy
        dmlcpu topk x.npy -k 1 -o >(cat > values.npy) i.npy
        dmlcpu argmax x.npy
    """
    code, out, said = run_shell(script, folder)
    assert (code, said) == (0, "")
    assert out == "[9]\n[[0]]\n[[11]]\n"
    equal("to_file.npy", np.zeros((300, 400, 1), np.uint32))
    equal("v.npy", np.array([[3.0], [7.0], [11.0]]))
    for script, text in (
        ("dmlcpu argmax x.npy -o - >> x.npy", "got standard output, the same file as x.npy"),
        ("dmlcpu argmax x.npy >> x.npy", "got standard output, the same file as x.npy"),
        ("dmlcpu argmax - -o x.npy < x.npy", "got x.npy, the same file as standard input"),
        ("dmlcpu argmax x.npy -o - >&-", "standard output: Bad file descriptor"),
        ("dmlcpu argmax x.npy >&-", "standard output: Bad file descriptor"),
        (
            "set -o pipefail; dmlcpu argmax many.npy --axis 2 -o - | true",
            "standard output: Broken pipe",
        ),
    ):
        code, out, said = run_shell(script, folder)
        assert (code, out) == (1, ""), script
        assert text in said
        assert said.count("\n") == 1
    equal("x.npy", X)
    # What the daemons of some systems do.
    assert run_shell("dmlcpu argmax x.npy -o out.npy <&- >&- 2>&-", folder) == (0, "", "")
    equal("out.npy", dmlcpu.argmax(X))


def test_small_results_are_printed(folder, capsys):
    files()
    np.save("thirds.npy", np.arange(1000) / 3)
    for arguments, want in (
        (["argmax", "x.npy"], "[[11]]\n"),
        (["argmin", "x.npy", "--axis", "1", "--no-keepdims"], "[0 0 0]\n"),
        (["argmin", "x.npy", "--no-keepdims"], "0\n"),
        (
            ["topk", "x.npy", "-k", "1"],
            "values\n[[ 3.]\n [ 7.]\n [11.]]\nindices\n[[3]\n [3]\n [3]]\n",
        ),
        (["gather", "x.npy", "rows.npy"], "[[ 8.  9. 10. 11.]\n [ 0.  1.  2.  3.]]\n"),
    ):
        succeeds(*arguments)
        assert capsys.readouterr().out == want
    # Whole, and to the last digit.
    succeeds("topk", "thirds.npy", "-k", "1000", "--smallest")
    printed = capsys.readouterr().out.split("values\n")[1].split("indices\n")[0]
    assert np.array_equal(np.array(printed.strip("[]\n").split(), float), np.arange(1000) / 3)
    np.save("more.npy", np.zeros((1001, 2)))
    text = "output: must be given (-o) for more than 1000 elements, got 1001"
    fails(capsys, text, "argmax", "more.npy", "--axis", "1")


def test_terminals_get_no_bytes(folder, capsys, monkeypatch):
    files()
    monkeypatch.setattr(_outputs.os, "isatty", lambda _number: True)
    text = "output: must be a file or a pipe, got a terminal; without -o small results are printed"
    fails(capsys, text, "argmax", "x.npy", "-o", "-")


def test_command_of_its_own(folder):
    """`dmlcpu` beside `python -m dmlcpu`, which says its own name."""
    files()
    command = shutil.which("dmlcpu", path=str(SCRIPTS))
    if command is None:
        pytest.skip("dmlcpu is not installed here")
    for arguments, code, out, said in (
        ("--version", 0, f"dmlcpu {dmlcpu.__version__}\n", ""),
        ("argmax x.npy", 0, "[[11]]\n", ""),
        ("argmax x.npy -o x.npy", 1, "", "dmlcpu argmax: error: output: must not be a file that is read, got x.npy, the same file as x.npy\n"),
    ):  # fmt: skip
        assert run_shell(f'"{command}" {arguments}', folder) == (code, out, said)
