"""Random works as tables: how often dmlcpu is the fastest, and the works where it is furthest from it."""

import statistics

import report
from measure import medians_of

GROUPS = ("argmin, argmax", "top-k, k > 1", "top-k, k = 1", "gather")
QUANTILES = (2, 5, 25, 50, 75)  # percent
WORST = 20  # works that are listed
LARGE_BYTES = 2**14
FAR_BELOW = 0.7


def group_of(work):
    if work.operator == "top_k":
        return "top-k, k > 1" if work.k > 1 else "top-k, k = 1"
    return "gather" if work.operator == "gather_nd" else "argmin, argmax"


def origin(results):
    return (
        f"{results['count']} works of each measure, seed {results['seed']}. Of each work, the fastest "
        "other library counts that gives the same answer.\n\n"
    )


def summary_row(name, works, ratios):
    far = sum(r < FAR_BELOW and w["moved"] >= LARGE_BYTES for w, r in zip(works, ratios))
    return [
        name,
        f"{statistics.geometric_mean(ratios):.2f}",
        f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}",
        f"{min(ratios):.2f}",
        f"{far}",
    ]


def beside_others(works):
    """A summary by group, then the worst works. Works that no other library does do not count."""
    ratios = {work["number"]: report.ratio_of(work["seconds"]) for work in works}
    works = [work for work in works if ratios[work["number"]] is not None]
    rows = []
    for name in (*GROUPS, "all"):
        members = [work for work in works if name in (work["group"], "all")]
        if members:
            rows.append(summary_row(name, members, [ratios[work["number"]] for work in members]))
    header = ["times as fast as the best other", "geometric mean", "slower", "worst"]
    header.append(f"below {FAR_BELOW}, of at least {LARGE_BYTES // 1024} KB moved")
    text = report.table(header, rows)
    rows = []
    for work in sorted(works, key=lambda work: ratios[work["number"]])[:WORST]:
        medians = medians_of(work["seconds"])
        best = report.best_peer(medians)
        rows.append(
            [
                f"{work['number']}: {work['work']}",
                report.text_of(medians["dmlcpu"]),
                f"{best} {report.text_of(medians[best])}",
                f"{ratios[work['number']]:.2f}",
                work["plan"],
            ]
        )
    return text + "\n" + report.table(["work", "dmlcpu", "best other", "ratio", "plan"], rows)


def quantile(values, percent):
    """Between the two values that are next to it, linearly."""
    values = sorted(values)
    place = (len(values) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def layouts(works, bandwidth):
    """Quantiles of the share of the bandwidth, then the worst works."""
    rows = []
    for name in ("argmax", "top-k"):
        shares = [work["share"] for work in works if work["work"].startswith(name)]
        if shares:
            rows.append([name, *(f"{quantile(shares, percent):.2g}" for percent in QUANTILES)])
    header = [f"share of {bandwidth / 1e9:.1f} GB/s", *(f"{percent} %" for percent in QUANTILES)]
    text = report.table(header, rows)
    rows = [
        [
            f"{work['number']}: {work['work']}",
            report.text_of(statistics.median(work["seconds"])),
            f"{work['share']:.3f}",
            work["plan"],
        ]
        for work in sorted(works, key=lambda work: work["share"])[:WORST]
    ]
    return text + "\n" + report.table(["work", "dmlcpu", "share", "plan"], rows)
