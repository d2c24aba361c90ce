"""What the machine lets this process use, and the environment variables that count."""

import contextlib
import os
import platform
import sys

__all__ = ["affinity", "environment", "load", "note_load", "processor", "usable_processors"]

# Shown even where they are not set; of the same prefixes others are shown where they are.
_VARIABLES = (
    "DMLCPU_ISA", "DMLCPU_NUM_THREADS", "DMLCPU_THREADS", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES", "OMP_STACKSIZE",
)  # fmt: skip
_PREFIXES = ("DMLCPU_", "OMP_", "GOMP_", "KMP_")


def environment() -> dict[str, str | None]:
    """The variables that dmlcpu and OpenMP read, and their values now."""
    others = sorted(
        name for name in os.environ if name.startswith(_PREFIXES) and name not in _VARIABLES
    )
    return {name: os.environ.get(name) for name in (*_VARIABLES, *others)}


def affinity() -> list[int] | None:
    """The processors that this thread may use; None where the system has no affinities."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    return sorted(os.sched_getaffinity(0))


def usable_processors() -> int:
    """How many processors the process may use, whatever share of their time."""
    may_use = affinity()
    return (os.cpu_count() or 1) if may_use is None else len(may_use)


def processor() -> str | None:
    """Its name."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as rows:
        for row in rows:
            if row.startswith("model name"):
                return row.split(":", 1)[1].strip()
    return platform.processor() or None


def load() -> float | None:
    """The load average of the last minute: how many threads ran or waited; None where there is none."""
    with contextlib.suppress(AttributeError, OSError):
        return os.getloadavg()[0]
    return None


def note_load() -> None:
    """Says on standard error that a machine is busy on which something is about to be timed."""
    average, processors = load() or 0.0, os.cpu_count() or 1
    if average > processors:
        print(
            f"note: the machine is busy: load average {average:.1f}, {processors} processors; times are "
            "of what it leaves",
            file=sys.stderr,
        )
