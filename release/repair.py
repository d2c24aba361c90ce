"""Makes a wheel complete: with the libraries that other machines may lack, and the licences of all in it.

    python release/repair.py WHEEL FOLDER

The platform's tool (auditwheel, delocate, delvewheel) copies the libraries into a wheel in FOLDER. Their
licences, and that of pybind11, whose code is in the extension module, are then added to its metadata. A
library whose licence is not known here is an error.
"""

import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LICENSES = Path(__file__).parent / "licenses"

# By the platform that a wheel is named after; a Windows wheel has its own DLL beside the module already.
TOOLS = {
    "linux": ["auditwheel", "repair", "--wheel-dir"],
    "macosx": ["delocate-wheel", "--wheel-dir"],
    "win": ["delvewheel", "repair", "--ignore-existing", "--analyze-existing", "--wheel-dir"],
}

# Of what wheels hold besides dmlcpu: the SPDX expression, and the file with the text. Tools put a hash or
# a version after the names of libraries.
PYBIND11 = ("BSD-3-Clause", "pybind11.txt")
GCC = ("GPL-3.0-or-later WITH GCC-exception-3.1", "gcc.txt")
LLVM = ("Apache-2.0 WITH LLVM-exception", "llvm.txt")
LIBRARIES = {"libgomp": GCC, "libgcc_s": GCC, "libstdc++": GCC, "libomp": LLVM}


def is_library(name):
    """By its name, also with a version or what Linux distributions add to that."""
    return re.search(r"\.(so|dylib|dll)(\.|-|$)", name) is not None


def licenses_of(bundled):
    """What applies to these files and to pybind11, each once."""
    found = {PYBIND11}
    for name in bundled:
        known = re.match(r"[A-Za-z_+]+", Path(name).name)
        if known is None or known[0] not in LIBRARIES:
            raise SystemExit(
                f"{name}: must be one of {', '.join(LIBRARIES)}, whose licences are known"
            )
        found.add(LIBRARIES[known[0]])
    return sorted(found)


def with_licenses(metadata, licenses):
    """METADATA that names them after the package's own."""
    expression = " AND ".join(spdx for spdx, _ in licenses)
    files = "".join(f"License-File: {file}\n" for _, file in licenses)
    metadata, expressions = re.subn(
        r"^(License-Expression: .*)$", rf"\1 AND {expression}", metadata, count=1, flags=re.M
    )
    metadata, last = re.subn(
        r"((?:^License-File: .*\n)+)", rf"\1{files}", metadata, count=1, flags=re.M
    )
    if expressions != 1 or last != 1:
        raise SystemExit("METADATA: must have a License-Expression and a License-File")
    return metadata


def record(files):
    """RECORD, of the (name, bytes) of all other files."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(data)])
    return text


def add_licenses(repaired, original, target):
    """Writes the repaired wheel anew, with the licences of what it holds more than the original."""
    with zipfile.ZipFile(original) as archive:
        own = {name for name in archive.namelist() if is_library(name)}
    with zipfile.ZipFile(repaired) as archive:
        entries = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        contents = {name: archive.read(name) for name in entries}
    (recorded,) = (name for name in contents if name.endswith(".dist-info/RECORD"))
    folder = recorded.removesuffix("/RECORD")
    licenses = licenses_of(name for name in contents if is_library(name) and name not in own)
    metadata = contents[f"{folder}/METADATA"].decode()
    contents[f"{folder}/METADATA"] = with_licenses(metadata, licenses).encode()
    for _, file in licenses:
        contents[f"{folder}/licenses/{file}"] = (LICENSES / file).read_bytes()
    del contents[recorded]
    text = record(contents.items())
    text.write(f"{recorded},,\n")
    contents[recorded] = text.getvalue().encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            info = entries.get(name)
            if info is None:  # a licence
                info = zipfile.ZipInfo(name, entries[recorded].date_time)
                info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)


def main():
    wheel, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        (platform,) = re.findall(r"-(linux|macosx|win)_[^-]*\.whl$", wheel.name)
        subprocess.run([*TOOLS[platform], temporary, wheel], check=True)
        (repaired,) = Path(temporary).glob("*.whl")
        add_licenses(repaired, wheel, folder / repaired.name)
        print(folder / repaired.name)


if __name__ == "__main__":
    main()
