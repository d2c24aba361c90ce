"""A progress bar on a terminal."""

import sys
import time


class Progress:
    """Works done, of all, and the time left, on one row of stderr; silent where that is no terminal."""

    WIDTH = 30

    def __init__(self, title, total):
        self.title, self.total, self.done = title, total, 0
        self.start = time.monotonic()
        self.shown = sys.stderr.isatty()
        self.show()

    def step(self):
        self.done += 1
        self.show()

    def show(self):
        if not self.shown or not self.total:
            return
        filled = self.WIDTH * self.done // self.total
        text = f"{self.title} [{'#' * filled:{self.WIDTH}}] {self.done}/{self.total}"
        if self.done:
            left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
            text += f", {int(left) // 60}:{int(left) % 60:02} left"
        sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if self.done == self.total else ""))
        sys.stderr.flush()
