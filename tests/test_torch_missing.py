"""The door for PyTorch where PyTorch is missing or too old, and what `import dmlcpu` leaves alone."""

from scripts import run_python


def test_importing_the_package_imports_no_torch():
    run_python("import sys, dmlcpu; assert not {'torch', 'dmlcpu.torch'} & set(sys.modules)")


def test_error_without_torch():
    code = """
        import sys
        sys.modules["torch"] = None
        try:
            import dmlcpu.torch
        except ImportError as error:
            print(error)
    """
    text = run_python(code)
    assert text.startswith("dmlcpu.torch: needs PyTorch, got ")
    assert text.endswith(' (pip install "dmlcpu[torch]" installs it)')


def test_error_with_old_torch():
    code = """
        import sys, types
        torch = sys.modules["torch"] = types.ModuleType("torch")
        vars(torch).update(library=types.ModuleType("library"), __version__="2.8.0")
        try:
            import dmlcpu.torch
        except ImportError as error:
            print(error)
    """
    assert run_python(code) == "dmlcpu.torch: needs PyTorch 2.9 or newer, got 2.8.0"
