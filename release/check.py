"""Checks what repaired wheels hold; names the first file that should not be as it is.

    python release/check.py [--machine FOLDER]... WHEEL...

No file names a folder of a builder's machine (--machine: one more). Linux's libraries need nothing but
each other and what the manylinux and musllinux policies leave to the system, and find each other inside
the wheel alone. Every library that was copied into the wheel comes with its licence. The description
links nothing that an index lacks. For Linux's wheels this needs pyelftools, which comes with auditwheel.
"""

import argparse
import io
import posixpath
import re
import zipfile
from email.parser import Parser
from pathlib import Path

from repair import is_library, licenses_of

# Home folders, and those in which services and containers build.
MACHINES = rb"(?<![\w./])/(?:home|root|work|Users|project|host|github)/[\w.]|[A-Z]:\\(?:a|Users)\\"

# dmlcpu's own libraries in its package.
OWN = r"dmlcpu/(lib/.*|_core\..*|(lib)?dmlcpu\.dll)"

# What each kind of wheel may need of the system.
SYSTEM = {
    "manylinux": r"(libc|libm|libgcc_s|libstdc\+\+)\.so\.\d|ld-linux-[\w-]+\.so\.\d",
    "musllinux": r"libc\.musl-\w+\.so\.1",
}


def check(condition, name, text):
    if not condition:
        raise SystemExit(f"{name}: {text}")


def check_folders(name, data, machines):
    found = re.search(b"|".join([MACHINES, *(re.escape(m.encode()) for m in machines)]), data)
    check(found is None, name, f"must name no folder of a machine, got {found and found[0]!r}")


def check_elf(name, data, names, system):
    """What a library needs, and where it looks for that."""
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile

    found = set()
    needed = []
    for section in ELFFile(io.BytesIO(data)).iter_sections():
        for tag in section.iter_tags() if isinstance(section, DynamicSection) else ():
            if tag.entry.d_tag == "DT_NEEDED":
                needed.append(tag.needed)
            elif tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH"):
                paths = tag.rpath if tag.entry.d_tag == "DT_RPATH" else tag.runpath
                for path in paths.split(":"):
                    folder = posixpath.dirname(name)
                    folder = posixpath.normpath(path.replace("$ORIGIN", folder, 1))
                    inside = {
                        posixpath.basename(n) for n in names if posixpath.dirname(n) == folder
                    }
                    check(
                        path.startswith("$ORIGIN") and inside,
                        name,
                        f"RPATH must be inside the wheel, got {path}",
                    )
                    found |= inside
    for library in needed:
        check(
            library in found or re.fullmatch(system, library),
            name,
            f"must need only what is in the wheel or in every system, got {library}",
        )


def check_hardening(name, data, cet=True):
    """What cmake/Hardening.cmake asks of compilers and linkers, `cet` among it, and that a library shows
    no names but its own."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(data))
    segments = {segment.header.p_type: segment.header.p_flags for segment in elf.iter_segments()}
    check(segments["PT_GNU_STACK"] & 1 == 0, name, "must have a stack that is no code")
    tags = {
        tag.entry.d_tag: tag.entry.d_val for tag in elf.get_section_by_name(".dynamic").iter_tags()
    }
    now = "DT_BIND_NOW" in tags or tags.get("DT_FLAGS", 0) & 8 or tags.get("DT_FLAGS_1", 0) & 1
    check(now and "PT_GNU_RELRO" in segments, name, "must be linked with -z relro -z now")
    symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())[1:]
    needed = {symbol.name for symbol in symbols if symbol.entry.st_shndx == "SHN_UNDEF"}
    shown = {symbol.name for symbol in symbols} - needed - {""}  # those of sections on aarch64
    functions = [s for s in symbols if s.name in shown and s.entry.st_info.type == "STT_FUNC"]
    own = r"PyInit__core" if "_core." in name else r"dmlcpu_\w+|_Z\w*6dmlcpu\w*|_Z\w*DMLCalc\w*"
    others = sorted(symbol for symbol in shown if not re.fullmatch(own, symbol))
    check(not others, name, f"must show only its own names, got {', '.join(others)}")
    # By the instruction that functions begin with: a library's properties do not tell it where start
    # files, as Debian's, are not made for CET.
    if cet and elf.header.e_machine == "EM_X86_64":
        for symbol in functions:
            (offset,) = elf.address_offsets(symbol.entry.st_value)
            landing = data[offset : offset + 4] == b"\xf3\x0f\x1e\xfa"
            check(landing, name, f"must be compiled with -fcf-protection, not so {symbol.name}")


def check_licenses(contents, folder):
    """Of what the tools copied into the wheel."""
    metadata = Parser().parsestr(contents[f"{folder}/METADATA"].decode())
    expression, files = metadata["License-Expression"], metadata.get_all("License-File", [])
    bundled = [n for n in contents if is_library(n) and not re.fullmatch(OWN, n)]
    for spdx, file in licenses_of(bundled):
        check(spdx in expression, "License-Expression", f"must have {spdx}, got {expression}")
        check(file in files, "License-File", f"must have {file}, got {', '.join(files)}")
    for file in files:
        check(
            contents.get(f"{folder}/licenses/{file}"), file, "must be in the wheel, with its text"
        )


def check_wheel(path, machines):
    with zipfile.ZipFile(path) as archive:
        contents = {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
    (folder,) = {n.split("/")[0] for n in contents if n.split("/")[0].endswith(".dist-info")}
    kind = re.search(r"-(manylinux|musllinux|macosx|win)_", path.name)
    check(kind, path.name, "must be a repaired wheel: of manylinux, musllinux, macosx or win")
    for name, data in contents.items():
        check_folders(name, data, machines)
        if data.startswith(b"\x7fELF"):
            check_elf(name, data, contents, SYSTEM[kind[1]])
            if re.fullmatch(OWN, name):
                check_hardening(name, data)
    description = contents[f"{folder}/METADATA"].decode().split("\n\n", 1)[1]
    link = re.search(r"\]\((?![a-z]+:|#)[^)]*\)", description)
    check(link is None, "METADATA", f"must link nothing by a relative path, got {link and link[0]}")
    check_licenses(contents, folder)
    for name in ("py.typed", "lib/cmake/dmlcpu/dmlcpuConfig.cmake", "include/dmlcpu/dmlcpu.hpp"):
        check(f"dmlcpu/{name}" in contents, f"dmlcpu/{name}", "must be in the wheel")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", action="append", default=[], metavar="FOLDER")
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL")
    arguments = parser.parse_args()
    for wheel in arguments.wheels:
        check_wheel(wheel, arguments.machine)
        print(f"{wheel.name}: as it should be")


if __name__ == "__main__":
    main()
