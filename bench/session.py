"""What every mode of the bench needs: the machine, the workloads chosen, files of results."""

import datetime
import json

import numpy as np

from dmlcpu import _machine

import builds
import competitors
import measure
import report


def machine():
    """What is written with the results; notes a machine that others use as well."""
    _machine.note_load()
    return {
        "processor": _machine.processor(),
        "threads": measure.threads(),
        "instruction_set": builds.installed().get_instruction_set(),
        "date": datetime.date.today().isoformat(),
        "versions": competitors.versions(),
    }


def tensors_of(workload):
    return workload.make(np.random.default_rng(0))


def chosen(selection, arguments):
    return [w for w in selection if arguments.only in w.name]


def write(arguments, about, results, text, plot=None):
    """Writes the files that the arguments name: `results` as JSON, `text` as Markdown, under the machine;
    plot(path) draws them."""
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"machine": about, "results": results}, file, indent=1)
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(report.machine_text(about) + text)
    if arguments.plot and plot:
        plot(arguments.plot)
    elif arguments.plot:
        print(f"no plot of {arguments.mode}")
