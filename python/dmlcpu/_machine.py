"""What the machine lets this process use, and the environment variables that count."""

import contextlib
import os
import platform
from pathlib import Path

__all__ = ["affinity", "container_limit", "environment", "processor", "usable_processors"]

# Shown even where they are not set; of the same prefixes others are shown where they are.
_VARIABLES = (
    "DMLCPU_ISA", "DMLCPU_PLACEMENT", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY",
    "OMP_PROC_BIND", "OMP_PLACES", "OMP_STACKSIZE",
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


def container_limit(root: str = "/") -> float | None:
    """How many processors' time Linux's control groups let the process use, None if all.

    OpenMP does not look at it, so that it starts more threads than can run at once.
    """
    limits = []
    with contextlib.suppress(OSError, ValueError):
        for row in Path(root, "proc/self/cgroup").read_text().splitlines():
            _, controllers, group = row.split(":", 2)
            if controllers == "":
                limits += _limits(Path(root, "sys/fs/cgroup"), group, ["cpu.max"])
            elif "cpu" in controllers.split(","):
                files = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
                limits += _limits(Path(root, "sys/fs/cgroup/cpu"), group, files)
    return min(limits, default=None)


def _limits(mount: Path, group: str, files: list[str]) -> list[float]:
    """The limits of a group and of those that it is in, whose files hold a quota and a period."""
    found = []
    folder = mount / group.lstrip("/")
    for place in (folder, *folder.parents):
        with contextlib.suppress(OSError, ValueError):
            texts = [(place / file).read_text() for file in files]
            quota, period = (float(number) for number in " ".join(texts).split())
            if quota > 0:
                found.append(quota / period)
        if place == mount:
            break
    return found
