"""What the package shows: attributes that load themselves, completion, names of other libraries."""

import importlib.util

import pytest

import dmlcpu

from scripts import run_python

DOORS = ("dask", "onnx", "torch")
SUBMODULES = ("directml", "numpy", *DOORS)
USES = {"directml": "support_table", "onnx": "ops"}  # of others argmax


def test_completion_shows_what_is_public():
    assert {name for name in dir(dmlcpu) if not name.startswith("_")} >= set(SUBMODULES)
    public = "{*dmlcpu.__all__, " + ", ".join(map(repr, SUBMODULES)) + "}"
    code = f"import dmlcpu; print({{n for n in dir(dmlcpu) if n[0] != '_'}} - {public})"
    assert run_python(code) == "set()"


@pytest.mark.parametrize("name", DOORS)
def test_doors_load_themselves(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}")
    use = USES.get(name, "argmax")
    run_python(
        f"""
        import inspect, sys, dmlcpu
        door, module = dmlcpu.{name}, "dmlcpu.{name}"
        assert not inspect.isclass(door) and not hasattr(door, "__wrapped__")
        assert not {{module, "{name}"}} & set(sys.modules)
        assert callable(door.{use})
        assert dmlcpu.{name} is sys.modules[module] is not door
        assert door.{use} is dmlcpu.{name}.{use} and door.__all__ == dmlcpu.{name}.__all__
        assert "{use}" in dir(door) and door.__doc__ == dmlcpu.{name}.__doc__
        try:
            door.no_such_name
        except AttributeError as error:
            assert str(error) == "module 'dmlcpu.{name}' has no attribute 'no_such_name'"
        """
    )


@pytest.mark.parametrize("name", SUBMODULES)
def test_threads_load_one_together(name):
    if name in DOORS and importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}")
    use = USES.get(name, "argmax")
    run_python(
        f"""
        import threading, dmlcpu
        barrier = threading.Barrier(8)
        found = []

        def use():
            barrier.wait()
            found.append(dmlcpu.{name}.{use})

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8 and len(set(map(id, found))) == 1
        """
    )


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize(
    "use",
    ["import dmlcpu.{0}", "import dmlcpu; dmlcpu.{0}.argmax", "import dmlcpu; dir(dmlcpu.{0})"],
)
def test_doors_say_what_to_install(name, use):
    code = f"""
        import sys
        sys.modules["{name}"] = None
        try:
            {use.format(name)}
        except ImportError as error:
            print(error)
    """
    text = run_python(code)
    assert text.startswith(f"dmlcpu.{name}: needs ")
    assert f'(pip install "dmlcpu[{name}]" installs ' in text
