"""Where a gateway spends its time: perf beside a measurement, one recording for each workload.

The recordings are for `perf report --no-children -i FILE`; the virtual machines that this was made for have no hardware
counters, so the samples come from the clock.
"""

import os
import signal
import subprocess
import time


class Profile:
    """Records the processes of a gateway while a measurement runs; does nothing without a directory."""

    def __init__(self, directory, processes, name):
        self.recorder = None
        if not directory or not processes:
            return
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, name.replace(" ", "-").replace("%", "") + ".data")
        pids = ",".join(str(process.pid) for process in processes)
        self.recorder = subprocess.Popen(
            ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", "1999", "--call-graph", "fp", "-p", pids,
             "-o", path], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # It needs a moment before it records.
        time.sleep(0.5)

    def stop(self):
        if self.recorder:
            self.recorder.send_signal(signal.SIGINT)
            self.recorder.wait(30)
