"""Reading what a run cost: CPU of the gateway and of the machine, memory, descriptors, and who disturbed it.

A process's own CPU time comes from /proc/PID/task/*/schedstat, in nanoseconds; the machine's from /proc/stat, in
ticks of 10 ms. What other processes took is told apart by asking /proc before and after a run: everything but ours
and the kernel's threads, reaped children included.
"""

import os
import time

TICK = 1 / os.sysconf("SC_CLK_TCK")
KERNEL_THREADS = 2


def read(path):
    with open(path) as file:
        return file.read()


def cpu_seconds(pids):
    """CPU seconds that all threads of these processes have used."""
    total = 0
    for pid in pids:
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                total += int(read(f"/proc/{pid}/task/{task}/schedstat").split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total / 1e9


def machine():
    """Busy and stolen seconds of all processors since boot."""
    fields = [int(word) for word in read("/proc/stat").split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, interrupt, soft, steal = fields[:8]
    return (user + nice + system + interrupt + soft) * TICK, steal * TICK


def everybody():
    """Each process's CPU seconds, reaped children included, and its parent."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = read(f"/proc/{name}/stat").rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[int(name)] = (sum(int(word) for word in fields[11:15]) * TICK, int(fields[1]))
    return found


def others(before, after, ours):
    """CPU seconds of the processes that are neither ours nor the kernel's."""
    def total(snapshot):
        return sum(seconds for pid, (seconds, parent) in snapshot.items()
                   if pid not in ours and parent not in ours and KERNEL_THREADS not in (pid, parent))
    return max(0.0, total(after) - total(before))


class Meter:
    """The cost of what happens between `start` and `stop`.

    `ours` are the processes of the lab; this program and its children count as ours too.
    """

    def __init__(self, gateway, ours):
        self.gateway = [process.pid for process in gateway]
        self.ours = {process.pid for process in ours} | {os.getpid()}

    def start(self):
        self.processes = everybody()
        self.busy, self.steal = machine()
        self.gateway_cpu = cpu_seconds(self.gateway)
        self.began = time.monotonic()

    def stop(self):
        seconds = time.monotonic() - self.began
        gateway_cpu = cpu_seconds(self.gateway) - self.gateway_cpu
        busy, steal = machine()
        foreign = others(self.processes, everybody(), self.ours)
        return {
            "wall": seconds,
            "gateway_cpu": gateway_cpu,
            "machine_cpu": max(0.0, busy - self.busy - foreign),
            "steal": (steal - self.steal) / seconds / os.cpu_count(),
            "others": foreign / seconds,
        }


def memory(processes):
    """Resident and proportional memory in MiB and open descriptors, all processes of a gateway together."""
    sizes = {"rss": 0.0, "pss": 0.0, "descriptors": 0}
    for process in processes:
        for line in read(f"/proc/{process.pid}/smaps_rollup").splitlines():
            name, _, value = line.partition(":")
            if name in ("Rss", "Pss"):
                sizes[name.lower()] += int(value.split()[0]) / 1024
        sizes["descriptors"] += len(os.listdir(f"/proc/{process.pid}/fd"))
    return sizes
