"""Python's lock is given up during long calls, so that other threads run."""

import sys
import threading

import numpy as np

import dmlcpu


def test_other_threads_run_during_a_call():
    """A thread that waits for the lock records which call it met. No thread has to give the lock up
    by the clock, so one that waits gets it only from a call, or from a caller that waits itself. How
    soon it wakes up is the system's choice, so calls get longer until it woke up in time."""
    x = np.zeros(2**30, np.int8)  # never written: address space, not memory
    begun = threading.Semaphore(0)
    call = None
    met = []

    def record():
        begun.acquire()
        met.append(call)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        for attempt in range(40):
            other = threading.Thread(target=record)
            other.start()  # returns when it runs, which then waits for `begun`
            call = attempt
            begun.release()
            dmlcpu.argmax(x[: 2 ** min(20 + attempt, 30)])
            call = None
            other.join()
            if met[-1] == attempt:
                break
    finally:
        sys.setswitchinterval(before)
    assert met[-1] == attempt, met
