"""show_config and explain."""

import os
import platform
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

import dmlcpu
from dmlcpu import _core
from dmlcpu._diagnosis import _config, _machine

from checks import row
from scripts import run_python, start_python

needs_openmp = pytest.mark.skipif(not _core.has_openmp(), reason="built without OpenMP")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="as Linux does it")


def config():
    return dmlcpu.show_config("dicts")


def test_sections():
    shown = config()
    assert list(shown) == [
        "dmlcpu", "build", "instruction sets", "openmp", "threads", "environment", "python", "numpy",
        "platform", "notes",
    ]  # fmt: skip
    assert shown["dmlcpu"]["version"] == dmlcpu.__version__
    assert Path(shown["dmlcpu"]["module"]).samefile(_core.__file__)
    assert re.fullmatch(r"(GNU|Clang|AppleClang) \d+\.\S+", shown["build"]["compiler"])
    assert shown["python"]["version"] == platform.python_version()
    assert shown["numpy"]["version"] == np.__version__


def test_flags_name_no_folder():
    for value in _core.build_info().values():
        assert "/" not in value
    assert "-O" in config()["build"]["flags"]


def test_text_has_every_value(capsys):
    assert dmlcpu.show_config() is None
    text = capsys.readouterr().out
    for section, values in config().items():
        assert f"{section}\n" in text
        if isinstance(values, dict):
            assert all(f"  {key}" in text for key in values)
    assert f"in use                  {dmlcpu.get_instruction_set()}\n" in text
    assert f"number                  {dmlcpu.get_num_threads()}\n" in text


def test_text_of_values():
    assert _config.as_text({"a": {"b": None, "c": 1, "d": True, "e": [1, 2]}, "notes": []}) == (
        "a\n  b                       -\n  c                       1\n"
        "  d                       yes\n  e                       1, 2\nnotes\n  none"
    )


@pytest.mark.parametrize("mode", ["dict", None])
def test_other_modes(mode):
    with pytest.raises(ValueError, match=f'^mode: must be "stdout" or "dicts", got {mode!r}$'):
        dmlcpu.show_config(mode)


def test_instruction_set_and_what_chose_it():
    before = dmlcpu.get_instruction_set()
    smallest, largest = dmlcpu.instruction_sets()[0], dmlcpu.instruction_sets()[-1]
    try:
        dmlcpu.use_instruction_set(smallest)
        shown = config()
        sets = shown["instruction sets"]
        assert (sets["in use"], sets["chosen by"]) == (smallest, "use_instruction_set")
        notes = [note for note in shown["notes"] if note.startswith(f"{smallest} is in use")]
        assert len(notes) == (smallest != largest)
        dmlcpu.use_instruction_set("auto")
        sets = config()["instruction sets"]
        assert (sets["in use"], sets["chosen by"]) == (largest, "processor")
        assert sets["supported"] == list(dmlcpu.instruction_sets())
        assert sets["built"][: len(sets["supported"])] == sets["supported"]
        assert list(sets["flags"]) == sets["built"]
    finally:
        dmlcpu.use_instruction_set(before)


def own_command(*arguments, **environment):
    return start_python("-m", "dmlcpu", *arguments, **environment)


def test_command_prints_it():
    smallest = dmlcpu.instruction_sets()[0]
    done = own_command(DMLCPU_ISA=smallest, OMP_NUM_THREADS="3", KMP_OTHER="x")
    assert done.returncode == 0, done.stderr
    assert row(done.stdout, "in use") == smallest
    assert row(done.stdout, "chosen by") == "DMLCPU_ISA"
    assert row(done.stdout, "OMP_NUM_THREADS") == "3"
    assert row(done.stdout, "OMP_WAIT_POLICY") == "-"
    assert row(done.stdout, "KMP_OTHER") == "x"
    assert row(done.stdout, "set by") == "OMP_NUM_THREADS"
    own = own_command(DMLCPU_NUM_THREADS="4", OMP_NUM_THREADS="3")
    assert (row(own.stdout, "set by"), row(own.stdout, "number")) == ("DMLCPU_NUM_THREADS", "4")
    assert own_command("--version").stdout == f"dmlcpu {dmlcpu.__version__}\n"


@needs_openmp
def test_openmp_runtime_and_its_file():
    shown = config()["openmp"]
    assert shown["built in"] is True
    assert shown["specification"] in _config._SPECIFICATIONS.values()
    if sys.platform in ("linux", "darwin"):
        loaded = [pool["filepath"] for pool in threadpoolctl.threadpool_info()
                  if pool["user_api"] == "openmp"]  # fmt: skip
        assert any(os.path.samefile(shown["file"], file) for file in loaded)
        assert shown["runtime"] in ("GNU", "LLVM", "Intel")


def test_what_set_the_number_of_threads():
    with dmlcpu.num_threads(3):
        assert config()["threads"]["set by"] == "num_threads"
        assert config()["threads"]["number"] == 3
    dmlcpu.set_num_threads(7)
    try:
        assert config()["threads"]["set by"] == "set_num_threads"
        assert "7 threads share" in " ".join(config()["notes"]) or os.cpu_count() >= 7
    finally:
        dmlcpu.set_num_threads(None)


@needs_openmp
def test_number_set_for_openmp():
    with threadpoolctl.threadpool_limits(99, user_api="openmp"):
        assert config()["threads"]["set by"] == "omp_set_num_threads"
        assert config()["threads"]["number"] == 99


def test_whose_threads_run_calls():
    code = 'import dmlcpu; print(dmlcpu.show_config("dicts")["threads"]["run by"])'
    assert run_python(code, DMLCPU_THREADS="") == "dmlcpu"
    wanted = "OpenMP" if _core.has_openmp() else "dmlcpu"
    assert run_python(code, DMLCPU_THREADS="openmp") == wanted


@on_linux
def test_what_set_the_number_of_a_fresh_process():
    code = """
    import os
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import dmlcpu
    print(dmlcpu.show_config("dicts")["threads"]["set by"], flush=True)
    if os.fork() == 0:
        print(dmlcpu.show_config("dicts")["threads"]["set by"], flush=True)
        os._exit(0)
    os.wait()
    """
    first = "affinity" if os.cpu_count() > 1 else "processors"
    assert run_python(code).splitlines() == [first, "forked child"]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, 0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (
            {
                "proc/self/cgroup": "1:name=x:/\n0::/a/b\n",
                "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/c\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
    ],
)
def test_limit_of_a_container(files, limit, tmp_path, monkeypatch):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _core.cpu_quota(str(tmp_path)) == limit
    monkeypatch.setattr(_config, "container_limit", lambda: limit or None)
    monkeypatch.setattr(_machine, "usable_processors", lambda: 64)
    with dmlcpu.num_threads(3):
        noted = [note for note in config()["notes"] if "container" in note]
    assert len(noted) == (limit > 0)


def test_load(monkeypatch):
    monkeypatch.setattr(_machine, "load", lambda: 5.25)
    monkeypatch.setattr(_machine, "usable_processors", lambda: 64)
    assert not [note for note in config()["notes"] if "load average" in note]
    monkeypatch.setattr(_machine, "usable_processors", lambda: 5)
    assert "the load average is 5.2 on 5 processors" in " ".join(config()["notes"])


# explain


def test_explain_a_plan():
    x = np.zeros((4000, 400), np.float32)
    with dmlcpu.num_threads(2):
        plan = dmlcpu.explain(dmlcpu.argmax, x, axis=0)
    assert str(plan) == repr(plan) == plan.text
    first, second, *_ = plan.text.splitlines()
    assert first == f"argmax, {dmlcpu.get_instruction_set()}"
    assert second.startswith("columns in place")
    assert f"\nscratch {plan.scratch_bytes} bytes\ncandidates\n" in plan.text
    assert plan.text.count("\n* ") == 1
    assert plan.threads == 2
    assert 0 < plan.scratch_bytes < x.nbytes


def test_explain_allocates_no_result():
    """The output would be 2^50 bytes."""
    x = np.broadcast_to(np.zeros(1, np.uint8), (2**50, 1))
    assert dmlcpu.explain(dmlcpu.argmax, x, 1, index_dtype=np.int64).scratch_bytes < 2**24


def test_explain_a_call_without_elements():
    for function, shape, options in (
        (dmlcpu.argmax, (0, 3), {"axis": 1}),
        (dmlcpu.top_k, (0, 3), {"k": 1}),
        (dmlcpu.top_k, (4, 0, 3), {"k": 2}),
    ):
        plan = dmlcpu.explain(function, np.zeros(shape), **options)
        assert (plan.scratch_bytes, "candidates" in plan.text) == (0, False)


def test_explain_runs_nothing():
    x = np.arange(12.0).reshape(3, 4)
    out = np.full((3, 1), 77, np.uint32)
    dmlcpu.explain(dmlcpu.argmax, x, 1, out=out)
    assert (out == 77).all()
    # An index out of range is found by running alone; of one byte, indices would be copied.
    for dtype in (np.int8, np.int64):
        plan = dmlcpu.explain(dmlcpu.gather_nd, x, np.full((5, 1), 9, dtype))
        assert "tuples 1 x 1 x 5 in" in plan.text


def test_explain_runs_what_makes_the_input():
    """An input whose elements are computed by an operator when they are read."""

    class Lazy:
        def __array__(self, dtype=None, copy=None):
            return dmlcpu.argmax(np.eye(4), axis=1, keepdims=False).astype(np.float32)

    assert "n 4 by 1" in dmlcpu.explain(dmlcpu.argmax, Lazy()).text
    found = []

    class Seen(Lazy):
        def __array__(self, dtype=None, copy=None):
            found.append(super().__array__())
            return found[0]

    dmlcpu.explain(dmlcpu.argmax, Seen())
    np.testing.assert_array_equal(found[0], [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("function", "arguments", "options", "error", "text"),
    [
        (dmlcpu.argmax, ([1, 2], 1), {}, np.exceptions.AxisError, "axis: must be in [-1, 0] (input has 1 dimension), got 1"),
        (dmlcpu.top_k, ([1, 2], 3), {}, ValueError, "k: must be in [1, 2] (the size of axis 0), got 3"),
        (dmlcpu.argmax, ([1, 2],), {"nothing": 0}, TypeError, "argmax() got an unexpected keyword argument 'nothing'"),
        (dmlcpu.argmax, ([1, 2],), {"out": np.zeros(2)}, TypeError, "out: must be of dtype uint32, got float64"),
        (np.argmax, ([1, 2],), {}, TypeError, "function: must be dmlcpu.argmax, dmlcpu.argmin, dmlcpu.top_k or dmlcpu.gather_nd, got argmax"),
        ("argmax", ([1, 2],), {}, TypeError, "function: must be dmlcpu.argmax, dmlcpu.argmin, dmlcpu.top_k or dmlcpu.gather_nd, got str"),
    ],
)  # fmt: skip
def test_errors_of_explain(function, arguments, options, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        dmlcpu.explain(function, *arguments, **options)
    assert dmlcpu.argmax([1.0, 2.0], keepdims=False) == 1  # no plan is wanted any more
