"""The command line while it works: signals, failures in the middle, the progress bar."""

import io
import itertools
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _command, _core
from dmlcpu._command import _progress, _slabs

from commands import equal, fails, run, succeeds
from scripts import run_shell

plan = _core.plan


def interrupting(monkeypatch, number, at=3):
    """Sends a signal to the process in the middle of the work; returns the slabs that were begun."""
    begun = []
    function = dmlcpu.argmax

    def argmax(*args, **kwargs):
        begun.append(1)
        if len(begun) == at:
            signal.raise_signal(number)
            signal.raise_signal(number)  # impatience does not disturb the way out
        return function(*args, **kwargs)

    monkeypatch.setattr(_slabs, "SLAB_BYTES", 1000)
    monkeypatch.setattr(dmlcpu, "argmax", argmax)
    # Options are checked by the core's own function.
    monkeypatch.setattr(
        _command._operators._core, "plan", lambda _f, *a, **k: plan(function, *a, **k)
    )
    return begun


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals(name, folder, monkeypatch, capsys):
    number = getattr(signal, name)
    np.save("x.npy", np.zeros((100, 200)))
    np.save("out.npy", np.arange(3))
    ignored = signal.signal(number, signal.default_int_handler)  # nohup's, where tests run under it
    before = signal.getsignal(number)
    begun = interrupting(monkeypatch, number)
    try:
        assert run("argmax", "x.npy", "--axis", "1", "-o", "out.npy") == 128 + number
        assert signal.getsignal(number) is before
    finally:
        signal.signal(number, ignored)
    assert capsys.readouterr().err == f"python -m dmlcpu argmax: ended by {name}\n"
    assert len(begun) == 3
    assert sorted(os.listdir()) == ["out.npy", "x.npy"]
    equal("out.npy", np.arange(3))


def test_ignored_signals_stay_ignored(folder, monkeypatch):
    """As under nohup."""
    np.save("x.npy", np.zeros((100, 200)))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupting(monkeypatch, signal.SIGHUP)
        succeeds("argmax", "x.npy", "--axis", "1", "-o", "out.npy")
    finally:
        signal.signal(signal.SIGHUP, before)


def test_failure_in_the_middle(folder, monkeypatch, capsys):
    np.save("x.npy", np.zeros((100, 200)))
    np.save("v.npy", np.arange(3))
    begun = []

    def fail(*_args, **_kwargs):
        begun.append(1)
        if len(begun) == 2:
            assert len([name for name in os.listdir() if name.endswith(".part")]) == 2
            raise MemoryError
        return top_k(*_args, **_kwargs)

    top_k = dmlcpu.top_k
    monkeypatch.setattr(_slabs, "SLAB_BYTES", 1000)
    monkeypatch.setattr(dmlcpu, "top_k", fail)
    monkeypatch.setattr(_command._operators._core, "plan", lambda _f, *a, **k: plan(top_k, *a, **k))
    fails(capsys, "out of memory", "topk", "x.npy", "-k", "3", "-o", "v.npy", "i.npy")
    assert len(begun) == 2
    equal("v.npy", np.arange(3))


LONG = 10  # seconds


@pytest.fixture
def foreground():
    """Programs in the background ignore SIGINT, and so do the tests that they run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_after(seconds):
    """Sends SIGINT when the work has taken so long; returns when it was sent, in a list."""
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(seconds, interrupt).start()
    return sent


def test_a_long_call_is_interrupted(folder, foreground, monkeypatch, capsys):
    """The core takes no notice of signals, so that the main thread, which Python tells, is not in it."""
    threads = []

    def argmin(*_args, **_kwargs):
        threads.append(threading.current_thread())
        time.sleep(LONG)

    np.save("x.npy", np.zeros((100, 200)))
    monkeypatch.setattr(dmlcpu, "argmin", argmin)
    monkeypatch.setattr(
        _command._operators._core, "plan", lambda _f, *a, **k: plan(dmlcpu.argmax, *a, **k)
    )
    sent = interrupted_after(0.3)
    assert run("argmin", "x.npy", "-o", "out.npy") == 130
    assert time.monotonic() - sent[0] < 1
    assert threads != [threading.main_thread()]
    assert capsys.readouterr().err == "python -m dmlcpu argmin: ended by SIGINT\n"
    assert os.listdir() == ["x.npy"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_waiting_for_a_pipe_is_interrupted(folder, foreground):
    np.save("x.npy", np.zeros((100, 200)))
    os.mkfifo("pipe")
    for arguments in (["argmin", "pipe", "-o", "out.npy"], ["argmin", "x.npy", "-o", "pipe"]):
        sent = interrupted_after(0.3)
        assert run(*arguments) == 130
        assert time.monotonic() - sent[0] < 1
    assert sorted(os.listdir()) == ["pipe", "x.npy"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX does")
def test_outputs_of_a_gigabyte_are_interrupted(folder):
    """Of a row of which half is wanted, in one call of the core's, while results are written."""
    n = 2**28
    x = np.lib.format.open_memmap("x.npy", "w+", np.float32, (n,))
    for start in range(0, n, 2**24):
        x[start : start + 2**24] = np.random.default_rng(start).random(2**24, np.float32)
    x.flush()
    # Commands in the background ignore SIGINT.
    code, out, said = run_shell(
        f"""
        "$PYTHON" -m dmlcpu topk x.npy -k {n // 2} -o v.npy i.npy &
        until ls i.npy.*.part > /dev/null 2>&1; do sleep 0.1; done
        sleep 2
        date +%s.%N
        kill -TERM $!
        wait $!
        code=$?
        date +%s.%N
        exit $code
        """,
        folder,
    )
    assert code == 128 + signal.SIGTERM, said
    sent, ended = map(float, out.split())
    assert ended - sent < 1
    assert os.listdir() == ["x.npy"]


def test_no_thread_to_be_had(folder, monkeypatch):
    def fail(_thread):
        raise RuntimeError("can't start new thread")

    np.save("x.npy", np.arange(12))
    monkeypatch.setattr(threading.Thread, "start", fail)
    succeeds("argmax", "x.npy", "-o", "out.npy")
    equal("out.npy", np.array([11], np.uint32))


# Progress


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.mark.parametrize(("seconds", "shown"), [(0.5, 0), (2, 11), (100, 100)])
def test_progress(seconds, shown, monkeypatch):
    """From the first second on, ten times a second at most; the row is cleared at the end."""
    clock = itertools.count(0, 1)
    times = [seconds * i / 100 for i in range(101)]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: times[next(clock)])
    screen = Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    _progress.follow("argmax", iter([i / 100 for i in range(1, 101)]))
    rows = screen.getvalue().split("\r\x1b[K")[1:]
    assert abs(len(rows) - (shown + 1 if shown else 0)) <= 1
    if rows:
        assert rows[-1] == ""
        assert all(row.startswith("argmax [") for row in rows[:-1])
    if seconds == 100:
        assert rows[49] == "argmax [###############               ]  50%, 0:50 left"


def test_no_progress_without_a_terminal(monkeypatch):
    times = itertools.count(0, 10)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(times))
    screen = Screen(False)
    monkeypatch.setattr(sys, "stderr", screen)
    _progress.follow("argmax", iter([0.5, 1]))
    assert screen.getvalue() == ""


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("argmax", ["--axis", "1"]),
        ("argmax", ["--axis", "0"]),
        ("argmax", []),
        ("topk", ["-k", "3"]),
        ("topk", ["-k", "3", "--axis", "0"]),
        ("gather", []),
    ],
)
def test_progress_is_real(command, options, folder, monkeypatch):
    """Work is in at least ten steps of about one size, whatever the axis."""
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.standard_normal((50, 60)))
    np.save("indices.npy", rng.integers(0, 50, (50, 1)))
    monkeypatch.setattr(_slabs, "SLAB_BYTES", 2000)
    seen = []
    follow = _progress.follow
    monkeypatch.setattr(
        _progress,
        "follow",
        lambda title, work: follow(title, (seen.append(done) or done for done in work)),
    )
    files = ["x.npy", "indices.npy"] if command == "gather" else ["x.npy"]
    outputs = ["out.npy"] if command != "topk" else ["v.npy", "i.npy"]
    succeeds(command, *files, *options, "-o", *outputs)
    assert len(seen) >= 10
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert max(np.diff([0, *seen])) <= 0.1 + 1e-9
