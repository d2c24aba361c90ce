"""The examples in C and C++ of headers, README and pages compile, and what they assert holds."""

import re
import subprocess
from pathlib import Path

import pytest

import pages

ROOT = Path(__file__).parent.parent
HEADERS = sorted((ROOT / "cpp/include/dmlcpu").iterdir())

# Everything that has an example, of what clients call.
FUNCTIONS = {
    "typed.hpp": {"View<", "argmin<", "argmax<", "top_k<", "gather_nd<"},
    "operators.hpp": {"output_shape(", "run("},
    "runtime.hpp": {
        "has_openmp(",
        "num_threads(",
        "thread_source(",
        "uses_openmp(",
        "is_contended(",
        "cpu_quota(",
        "openmp_version(",
        "openmp_file(",
        "built_instruction_sets(",
        "instruction_set_source(",
        "set_num_threads(",
        "exchange_thread_override(",
        "ScopedThreads ",
        "set_grain_bytes(",
        "force_candidate(",
        "cache_bytes(",
        "instruction_sets(",
        "instruction_set(",
        "use_instruction_set(",
    },
    "directml.hpp": {"feature_level_required(", "CompiledOperator ", "dispatch("},
    "directml_c.h": {
        "dmlcpu_compile(",
        "dmlcpu_dispatch(",
        "dmlcpu_release(",
        "dmlcpu_feature_level_required(",
        "dmlcpu_buffer_tensor_size(",
        "dmlcpu_set_num_threads(",
        "dmlcpu_use_instruction_set(",
        "dmlcpu_message(",
        "dmlcpu_version(",
        "DMLCPU_COMPILE_OPTIONS_INIT",
    },
}


def examples(path):
    """The fenced blocks of a header's comments."""
    lines = [re.sub(r"^ *(///| \*)(?: |$)", "", line) for line in path.read_text().splitlines()]
    return re.findall(r"^```\n(.*?)^```", "\n".join(lines), re.M | re.S)


def run(compiler, source, cpp_build, folder):
    """Compile and run a program, its assertions switched on."""
    program = folder / "program"
    subprocess.run(
        [*compiler, source, f"-I{ROOT}/cpp/include", f"-L{cpp_build}", "-ldmlcpu",
         "-DDMLCPU_SHARED=1", f"-Wl,-rpath,{cpp_build}", "-o", program],
        check=True,
    )  # fmt: skip
    subprocess.run([program], check=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_examples(name):
    text = "\n".join(examples(ROOT / "cpp/include/dmlcpu" / name))
    assert [function for function in FUNCTIONS[name] if function not in text] == []


def test_cpp_examples(cpp_build, tmp_path):
    blocks = [block for path in HEADERS if path.suffix == ".hpp" for block in examples(path)]
    assert len(blocks) >= 10
    assert len(pages.blocks("README.md", "cpp")) == 2
    for name in pages.PAGES:
        found = pages.blocks(name, "cpp")
        blocks += [re.sub(r"^#include.*\n", "", block, flags=re.M) for block in found]
    body = "\n".join(f"  {{\n{block}  }}" for block in blocks)
    (tmp_path / "main.cpp").write_text(
        "#undef NDEBUG\n#include <cassert>\n"
        "#include <dmlcpu/directml.h>\n#include <dmlcpu/dmlcpu.hpp>\n"
        f"int main() {{\n{body}\n}}\n"
    )
    run(["c++", "-std=c++17"], tmp_path / "main.cpp", cpp_build, tmp_path)


def test_c_examples(cpp_build, tmp_path):
    (block,) = examples(ROOT / "cpp/include/dmlcpu/directml_c.h")
    (tmp_path / "main.c").write_text(
        "#undef NDEBUG\n#include <assert.h>\n#include <dmlcpu/directml.h>\n#include <stdio.h>\n"
        f"int main(void) {{\n{block}return 0;\n}}\n"
    )
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run(["cc", "-std=c99", *warnings], tmp_path / "main.c", cpp_build, tmp_path)
