"""What DirectML's descriptors cost on a few elements, from C++: bench/dispatch.cpp, built against the
installed package's library."""

import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import report


def place(option):
    command = [sys.executable, "-m", "dmlcpu", option]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def dispatch(arguments):
    page = report.Page(arguments, ["work", "median", "least"])
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "dispatch"
        library = place("--cmake-dir").parents[1]
        subprocess.run(
            ["c++", "-std=c++17", "-O2", Path(__file__).with_suffix(".cpp"),
             f"-I{place('--include-dir')}", "-DDMLCPU_SHARED=1", f"-L{library}", "-ldmlcpu",
             f"-Wl,-rpath,{library}", "-o", program],
            check=True,
        )  # fmt: skip
        command = [program, str(arguments.rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    results = {}
    for line in done.stdout.splitlines():
        name, nanoseconds = line.split("\t")
        results.setdefault(name, []).append(float(nanoseconds))
    for name, median in measure.medians_of(results).items():
        page.add([name, f"{median:.0f} ns", f"{min(results[name]):.0f} ns"], results[name])
    page.write()
