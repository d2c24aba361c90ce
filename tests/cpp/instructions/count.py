"""Instructions that the kernels execute on another processor, for each 64 bytes, by QEMU: nothing else
tells here how fast they would be. Fails where they are more than a twentieth above the limits.

    python tests/cpp/instructions/count.py TRIPLE BUILD

TRIPLE is what Debian names the compiler after, such as aarch64-linux-gnu; BUILD a folder of CMake's with
the static library that it made, of x86-64-v2 alone for x86_64-linux-gnu.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ROW = 16 * 1024
# Bytes of a call, and instructions for each 64 of them. g++ 12 has these counts; x86-64-v2, whose vectors
# are as long, has the second ones.
WORKS = {
    "rows float32": (16 * ROW, {"aarch64": 24.4, "x86_64": 26.3}),
    "rows uint8": (16 * ROW, {"aarch64": 13.2, "x86_64": 14.2}),
    "rows float16": (16 * ROW, {"aarch64": 37.4, "x86_64": 47.3}),
    "columns float32": (64 * ROW, {"aarch64": 32.4, "x86_64": 38.1}),
    "columns uint8": (64 * ROW, {"aarch64": 36.7, "x86_64": 54.9}),
    "columns float16": (64 * ROW, {"aarch64": 55.6, "x86_64": 65.1}),
    "top-k rows": (16 * ROW, {"aarch64": 64.0, "x86_64": 71.7}),
    "top-k columns": (64 * ROW, {"aarch64": 89.1, "x86_64": 109.1}),
}
TOLERANCE = 1.05


def executed(command, work, repeats):
    run = subprocess.run([*command, work, str(repeats)], capture_output=True, text=True, check=True)
    return int(run.stderr.split()[-1])


def main(triple, build):
    processor = triple.partition("-")[0]
    with tempfile.TemporaryDirectory() as folder:
        plugin, program = f"{folder}/plugin.so", f"{folder}/calls"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-o", plugin, HERE / "plugin.c"], check=True
        )
        compiler = [f"{triple}-g++", "-std=c++17", "-O2", "-fopenmp", "-o", program]
        sources = ["-I", ROOT / "cpp/include", HERE / "calls.cpp", f"{build}/libdmlcpu.a"]
        subprocess.run([*compiler, *sources], check=True)
        libraries = [] if processor == "x86_64" else ["-L", f"/usr/{triple}"]
        command = [f"qemu-{processor}", *libraries, "-cpu", "max", "-plugin", plugin, program]
        worse = []
        print(f"instructions for each 64 bytes, {processor}")
        for work, (size, limits) in WORKS.items():
            count = (executed(command, work, 3) - executed(command, work, 1)) / 2 / (size / 64)
            print(f"{work:16} {count:6.1f}, limit {limits[processor]}")
            if count > limits[processor] * TOLERANCE:
                worse.append(work)
    if worse:
        sys.exit(f"more instructions than the limits: {', '.join(worse)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
