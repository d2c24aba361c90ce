"""What the command line writes: outputs that are never inputs, appear whole, and keep mode and owner of
what they replace."""

import os
import stat
import sys

import numpy as np
import pytest

import dmlcpu
from dmlcpu._command import _replaced

from commands import equal, fails, run, succeeds
from scripts import needs, run_python, run_shell

RNG = np.random.default_rng(0)
FILES = {"x.npy": np.arange(12.0).reshape(3, 4), "rows.npy": np.array([[2], [0]])}
COMMANDS = {
    "argmax": ["argmax", "x.npy", "-o", "OUT"],
    "argmin": ["argmin", "x.npy", "--axis", "1", "-o", "OUT"],
    "values": ["topk", "x.npy", "-k", "2", "-o", "OUT", "other.npy"],
    "indices": ["topk", "x.npy", "-k", "2", "-o", "other.npy", "OUT"],
    "gather": ["gather", "x.npy", "rows.npy", "-o", "OUT"],
}


def files():
    for name, array in FILES.items():
        np.save(name, array)


def of(command, output, **names):
    """The arguments of a command, with other names of files."""
    return [
        names.get(a.removesuffix(".npy"), a) if a != "OUT" else output for a in COMMANDS[command]
    ]


def spellings(file):
    """Other names of a file of this folder."""
    stem = file.removesuffix(".npy")
    os.makedirs("sub", exist_ok=True)
    os.symlink(file, f"link-{stem}")
    os.symlink(f"link-{stem}", f"link-of-link-{stem}")
    os.symlink(os.path.join("..", file), f"sub/{stem}")
    os.symlink(".", f"folder-{stem}")
    os.link(file, f"hard-{stem}")
    names = [file, f"./{file}", f"sub/../{file}", os.path.abspath(file), f"link-{stem}",
             f"link-of-link-{stem}", f"sub/{stem}", f"folder-{stem}/{file}", f"hard-{stem}"]  # fmt: skip
    if os.path.exists("/proc/self/fd"):
        names.append(f"/proc/self/fd/{os.open(file, os.O_RDONLY)}")
    return names


# Outputs that are inputs


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("file", FILES)
def test_output_is_no_input(command, file, folder, capsys):
    if file == "rows.npy" and command != "gather":
        pytest.skip("is not read")
    files()
    names = spellings(file)
    try:
        for name in names:
            text = f"output: must not be a file that is read, got {name}, the same file as {file}"
            fails(capsys, text, *of(command, name))
        for name in names:
            read = {file.removesuffix(".npy"): name}
            assert run(*of(command, file, **read)) == 1
            assert "output: must not be a file that is read" in capsys.readouterr().err
    finally:
        if names[-1].startswith("/proc"):
            os.close(int(names[-1].rsplit("/", 1)[1]))
    for name, array in FILES.items():
        equal(name, array)


def test_two_outputs_are_two_files(folder, capsys):
    files()
    np.save("v.npy", np.arange(3))
    for name in spellings("v.npy"):
        assert run("topk", "x.npy", "-k", "1", "-o", "v.npy", name) == 1
        assert "output: must be different files" in capsys.readouterr().err
    equal("v.npy", np.arange(3))
    # Those that are not there yet, by every way to their folder.
    os.symlink("new.npy", "dangling")
    for name in (
        "new.npy",
        "./new.npy",
        "folder-v/new.npy",
        os.path.abspath("new.npy"),
        "dangling",
    ):
        text = f"output: must be different files, got {name} for both"
        fails(capsys, text, "topk", "x.npy", "-k", "1", "-o", "new.npy", name)


def test_file_systems_that_ignore_case(folder, capsys, monkeypatch):
    """There the two names are one file, which only making them shows."""
    files()
    monkeypatch.setattr(
        _replaced.os, "open", lambda path, *args, open=os.open: open(path.lower(), *args)
    )
    monkeypatch.setattr(_replaced.os, "unlink", lambda path, unlink=os.unlink: unlink(path.lower()))
    text = "output: must be different files, got V.npy for both"
    fails(capsys, text, "topk", "x.npy", "-k", "1", "-o", "v.npy", "V.npy")


def test_output_that_was_removed(folder, capsys):
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("needs /proc")
    files()
    with open("gone.npy", "w") as gone:
        os.unlink("gone.npy")
        name = f"/proc/self/fd/{gone.fileno()}"
        text = f"{name}: must have a name, got a file that was removed"
        fails(capsys, text, "argmax", "x.npy", "-o", name)


# Outputs that are there


def test_no_clobber(folder, capsys, monkeypatch):
    files()
    np.save("there.npy", np.arange(3))
    os.symlink("there.npy", "link.npy")
    for name in ("there.npy", "./there.npy", "link.npy"):
        text = f"{name}: must be a new file with --no-clobber, got one that is there"
        for command in COMMANDS:
            fails(capsys, text, *of(command, name), "--no-clobber")
    for command in COMMANDS:
        succeeds(*of(command, "new.npy"), "--no-clobber")
        assert run(*of(command, "new.npy"), "--no-clobber") == 1
        for name in {"new.npy", "other.npy"} & set(os.listdir()):
            os.unlink(name)
    equal("there.npy", np.arange(3))


@pytest.mark.parametrize("has_links", [True, False])
def test_no_clobber_of_what_appears_meanwhile(has_links, folder, capsys, monkeypatch):
    files()
    complete = _replaced.Replaced.complete

    def appear(output):
        complete(output)
        np.save("new.npy", np.arange(3))

    def fail(*_args):
        raise PermissionError

    if not has_links:
        monkeypatch.setattr(os, "link", fail)
    succeeds("argmax", "x.npy", "-o", "first.npy", "--no-clobber")
    monkeypatch.setattr(_replaced.Replaced, "complete", appear)
    assert run("argmax", "x.npy", "-o", "new.npy", "--no-clobber") == 1
    assert "new.npy: must be a new file with --no-clobber" in capsys.readouterr().err
    equal("new.npy", np.arange(3))
    equal("first.npy", dmlcpu.argmax(FILES["x.npy"]))
    assert sorted(os.listdir()) == ["first.npy", "new.npy", "rows.npy", "x.npy"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660, 0o400, 0o755])
def test_replaced_output_keeps_its_mode(mode, folder, capsys):
    files()
    np.save("out.npy", np.arange(3))
    os.chmod("out.npy", mode)
    if not os.access("out.npy", os.W_OK):
        fails(capsys, "out.npy: Permission denied", "argmax", "x.npy", "-o", "out.npy")
        return
    succeeds("argmax", "x.npy", "-o", "out.npy")
    equal("out.npy", dmlcpu.argmax(FILES["x.npy"]))
    assert stat.S_IMODE(os.stat("out.npy").st_mode) == mode


def test_nobody_reads_results_before_they_may(folder, monkeypatch):
    """The other name's mode is the output's from the start; its owner stays too."""
    files()
    np.save("out.npy", np.arange(3))
    os.chmod("out.npy", 0o600)
    if os.getuid() == 0:
        os.chown("out.npy", 1234, 567)
    seen = []
    make = os.open
    monkeypatch.setattr(os, "open", lambda p, f, m: seen.append(m) or make(p, f, m))
    monkeypatch.setattr(
        _replaced, "_allocate", lambda *_args: seen.append(os.stat(part()).st_mode & 0o777)
    )
    before = os.stat("out.npy")
    run("argmax", "x.npy", "-o", "out.npy")  # fails, as nothing is allocated
    assert seen == [0o600, 0o600]
    monkeypatch.undo()
    os.chdir(folder)
    succeeds("argmax", "x.npy", "-o", "out.npy")
    after = os.stat("out.npy")
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def part():
    (name,) = [name for name in os.listdir() if name.endswith(".part")]
    return name


def test_output_has_the_usual_permissions(folder):
    files()
    succeeds("argmax", "x.npy", "-o", "out.npy")
    assert stat.S_IMODE(os.stat("out.npy").st_mode) == stat.S_IMODE(os.stat("x.npy").st_mode)


def test_output_replaces_what_a_link_leads_to(folder):
    files()
    np.save("real.npy", np.zeros(9))
    os.symlink("real.npy", "link.npy")
    succeeds("argmax", "x.npy", "-o", "link.npy")
    assert os.path.islink("link.npy")
    equal("real.npy", dmlcpu.argmax(FILES["x.npy"]))


# Names


def test_no_folder_of_the_output(folder, capsys):
    files()
    place = os.path.realpath("no/out.npy")
    fails(capsys, f"{place}: No such file or directory", "argmin", "x.npy", "-o", "no/out.npy")


def test_names_of_any_length_and_kind(folder, capsys):
    files()
    limit = os.pathconf(".", "PC_NAME_MAX")
    twins = ["v" * (limit - 1) + end for end in "ab"]
    succeeds("topk", "x.npy", "-k", "2", "-o", *twins)
    equal(twins[0], dmlcpu.top_k(FILES["x.npy"], 2).values)
    equal(twins[1], dmlcpu.top_k(FILES["x.npy"], 2).indices)
    for name in ("a\nb", " a  b ", "\udcff", "é" * (limit // 2), "c.npy", "-o"):
        succeeds("argmax", "x.npy", "-o", f"./{name}")
        equal(f"./{name}", dmlcpu.argmax(FILES["x.npy"]))
        assert run("gather", "x.npy", "rows.npy", "-o", f"./{name}", "--no-clobber") == 1
        assert capsys.readouterr().err.count("\n") == 1
    for name in ("v" * (limit + 1), "é" * limit):
        assert run("argmax", "x.npy", "-o", name) == 1
        assert capsys.readouterr().err.endswith(f"{name}: File name too long\n")
    assert not [name for name in os.listdir() if name.endswith(".part")]


def test_parts_of_killed_runs_are_named(folder, capsys):
    files()
    target = "out.npy"
    left = [f"{target}.dmlcpu-{n:08x}.part" for n in (1, 2**32 - 1)]
    others = [f"{target}.part", f"{target}.dmlcpu-12345678", "other.npy.dmlcpu-12345678.part"]
    for name in left + others:
        with open(name, "w"):
            pass
    succeeds("argmax", "x.npy", "-o", target)
    text = "is left of a run that was killed, unless that is still at work; remove it"
    assert capsys.readouterr().err == "".join(f"note: {name} {text}\n" for name in left)
    assert set(left + others) <= set(os.listdir())


# What is on the disk


def test_without_preallocation(folder, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    x = RNG.standard_normal((2000, 2000), np.float32)
    np.save("x.npy", x)
    succeeds("topk", "x.npy", "-k", "500", "-o", "v.npy", "i.npy")
    equal("v.npy", dmlcpu.top_k(x, 500).values)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="reads blocks as POSIX has them")
@pytest.mark.parametrize("piece", [2**24, 10**5])
def test_all_blocks_are_allocated_before_the_work(piece, folder, monkeypatch):
    """Else a full disk ends the process where it writes to the mapping."""
    np.save("x.npy", np.zeros((1000, 1000), np.float32))
    monkeypatch.setattr(_replaced, "_PIECE_BYTES", piece // 4096 * 4096)
    begun = []
    create = _replaced.Replaced.create

    def created(output, result):
        array = create(output, result)
        status = os.stat(part())
        begun.append(status.st_blocks * 512 >= status.st_size == 128 + result.nbytes)
        return array

    monkeypatch.setattr(_replaced.Replaced, "create", created)
    np.save("rows.npy", np.arange(1000)[:, None])
    succeeds("gather", "x.npy", "rows.npy", "-o", "out.npy")
    assert begun == [True]


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


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk as Linux does")
def test_disk_that_is_full(folder):
    needs("unshare", "mount")
    np.save("x.npy", np.zeros((1000, 1000), np.float32))
    os.mkdir("disk")
    code, out, said = run_shell(
        """
        unshare -rm true || exit 77
        unshare -rm bash -c '
        mount -t tmpfs -o size=2m none disk || exit 77
        "$PYTHON" -m dmlcpu topk x.npy -k 900 -o disk/v.npy disk/i.npy
        echo $?; ls disk'
        """,
        folder,
    )
    if code == 77:
        pytest.skip("mounts nothing here")
    assert out == "1\n"
    assert "disk/v.npy: No space left on device\n" in said
