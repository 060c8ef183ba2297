"""What is measured. Each section is a function that takes one gateway through one fresh lab and yields rows.

A row is a dictionary: `metric` and `value`, and beside it whatever tells how much the run was disturbed. `direct`
is a gateway like the others, so every ratio is one of two rows of the same repetition.
"""

import json
import time

import client
from lab import DUPLEX, ECHO, ECHO_PROXY, NET, OTHER_LAN, PROXY, SINK, SOURCE, Lab, LabError
from measure import Meter, cpu_seconds, memory
from perf import Profile
from routing import Routing

DISTURBED = 0.15
GIGABYTE = 1e9
IDLE_SECONDS = 10


class Section:
    """One section's way through a lab: opens it, starts the gateway, measures, and closes everything."""

    # Whom a section measures: the gateways that are installed, unless it has contenders of its own and needs no lab.
    contenders = None

    def __init__(self, options, gateway):
        self.options = options
        self.gateway = gateway
        self.rows = []

    def row(self, metric, value, **more):
        self.rows.append({"gateway": self.gateway.name, "metric": metric, "value": value, **more})

    def open(self, echo=False, link=None):
        """A fresh lab with the gateway running in it, `echo` with the upstream that echoes by itself."""
        self.lab = Lab(self.options.programs, link=link, attached=self.gateway.attached)
        try:
            self.processes = self.gateway.start(self.lab, ECHO_PROXY if echo else PROXY)
            client.wait_until_ready(self.lab, ECHO)
        except BaseException:
            self.lab.close()
            raise
        return self.lab

    def undisturbed(self, name, measure, attempts=3):
        """Runs a measurement, again when others took CPU, and keeps the least disturbed one."""
        best = None
        for _ in range(attempts if self.options.repeat_disturbed else 1):
            meter = Meter(self.processes, self.lab.processes)
            profile = Profile(self.options.profile, self.processes, f"{self.gateway.name}-{name}")
            meter.start()
            try:
                outcome = measure()
                cost = meter.stop()
            finally:
                profile.stop()
            if best is None or cost["others"] < best[1]["others"]:
                best = outcome, cost
            if cost["others"] <= DISTURBED:
                break
        return best

    def measure(self):
        raise NotImplementedError


def moved_between(path, key, began, ended):
    """How many bytes the server had counted at two instants, by its own lines, straight lines between them."""
    points = []
    with open(path) as file:
        for line in file:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # The last line may be half written.
            points.append((entry["at"], entry[key]))

    def count(at):
        before = (at, 0)
        for point in points:
            if point[0] >= at:
                if point[0] == before[0]:
                    return point[1]
                share = (at - before[0]) / (point[0] - before[0])
                return before[1] + share * (point[1] - before[1])
            before = point
        return before[1]

    return count(ended) - count(began)


class Throughput(Section):
    """Streams as fast as they go, on a clean link."""

    workloads = (("up1", "up", 1), ("down1", "down", 1), ("up8", "up", 8), ("down8", "down", 8), ("both1", "both", 1))
    link = None
    warmup = 0.3
    prefix = ""
    # Gbit/s, or Mbit/s where that is what a link carries.
    scale = 1

    def measure(self):
        with self.open(link=self.link):
            for name, direction, streams in self.workloads:
                if self.options.workloads and name not in self.options.workloads:
                    continue
                outcome, cost = self.undisturbed(self.prefix + name, lambda: self.stream(direction, streams))
                rate, total, differing = outcome
                if differing:
                    self.row(f"{self.prefix}{name} streams whose ends count differently", differing)
                self.row(f"{self.prefix}{name}", rate * self.scale, **cost)
                if self.prefix == "" and total > 0:
                    if self.processes:
                        self.row(f"{name} gateway CPU s/GB", cost["gateway_cpu"] / total * GIGABYTE, **cost)
                    self.row(f"{name} machine CPU s/GB", cost["machine_cpu"] / total * GIGABYTE, **cost)

    def stream(self, direction, streams):
        """Gbit/s as the receivers saw them, all bytes that were moved, and how many streams lost some."""
        port = {"up": SINK, "down": SOURCE, "both": DUPLEX}[direction]
        result = client.once(
            self.lab, "throughput", "--to", f"{NET}:{port}", "--direction", direction, "--streams", streams,
            "--seconds", self.seconds(), "--warmup", self.warmup, "--drain", 0 if self.link else 5)
        received = result["window_received"]
        total = result["received"]
        if direction != "down":
            received += moved_between(self.lab.counts_path, "received", result["began"], result["ended"])
            total += result["sent"]
        differing = 0 if self.link else streams - result["matched"]
        return received * 8 / (result["ended"] - result["began"]), total, differing

    def seconds(self):
        return self.options.seconds


class Forward(Throughput):
    """What no list names, beside the plain forwarding path: our rules must cost it nothing."""

    workloads = (("up1", "up", 1), ("down1", "down", 1), ("up8", "up", 8), ("down8", "down", 8))
    prefix = "forwarded "


class Loss(Throughput):
    """Eight streams over the emulated link: 10 ms each way, 1 % loss in each direction."""

    workloads = (("up8", "up", 8), ("down8", "down", 8))
    warmup = 1
    percent = 1
    scale = 1000

    def __init__(self, options, gateway):
        super().__init__(options, gateway)
        self.link = {"loss": f"{self.percent}%", "delay": 10}
        self.prefix = f"{self.percent} % loss "

    def seconds(self):
        return max(self.options.seconds, 1) if self.options.quick else max(self.options.seconds, 8)


class HeavyLoss(Loss):
    """The same with 3 %."""

    percent = 3


class Rate(Section):
    """Short connections: connect, one byte each way, close, 32 at a time."""

    def measure(self):
        with self.open():
            outcome, cost = self.undisturbed("cps", lambda: client.once(
                self.lab, "rate", "--to", f"{NET}:{ECHO}", "--at-once", 32, "--seconds", self.options.seconds))
            if outcome["failed"]:
                self.row("failed connections", outcome["failed"])
            self.row("connections/s", outcome["rate"], **cost)
            self.row("connection p99 ms", outcome["p99_us"] / 1000, **cost)
            if self.processes:
                self.row("gateway CPU us/connection", cost["gateway_cpu"] / outcome["connections"] * 1e6, **cost)
            self.row("machine CPU us/connection", cost["machine_cpu"] / outcome["connections"] * 1e6, **cost)


class Latency(Section):
    """One connection at a time: first byte (connect, one byte there and back) and ping-pong of one byte."""

    def measure(self):
        with self.open():
            for kind, label in (("first-byte", "first byte"), ("ping-pong", "ping-pong")):
                count = 200 if self.options.quick else 2000
                outcome, cost = self.undisturbed(kind, lambda: client.once(
                    self.lab, "latency", "--kind", kind, "--to", f"{NET}:{ECHO}", "--count", count))
                self.row(f"{label} p50 us", outcome["p50_us"], **cost)
                self.row(f"{label} p99 us", outcome["p99_us"], **cost)


class Memory(Section):
    """What connections cost while they are open, and what is left of it after they have closed."""

    counts = (1000, 10000)

    def measure(self):
        if self.gateway.name == "direct":
            return
        for count in self.counts:
            with self.open(echo=self.gateway.proxied):
                self.row("RSS idle MiB", memory(self.processes)["rss"])
                holder = client.Holder(self.lab, ECHO, count)
                self.state(f"{count} open", holder.opened["opened"])
                self.row(f"{count} open, seconds", holder.opened["seconds"])
                if holder.opened["opened"] < count:
                    self.row(f"{count} wanted, opened", holder.opened["opened"])
                moved = holder.move(16384)
                self.row(f"{count} moved 16 KB, seconds", moved["seconds"])
                if moved["moved"] < holder.opened["opened"]:
                    self.row(f"{count} wanted, moved", moved["moved"])
                self.state(f"{count} moved 16 KB", moved["moved"])
                if count == max(self.counts):
                    self.idle(count)
                holder.close()
                time.sleep(2)
                self.state(f"{count} closed", count)

    def state(self, label, reached):
        sizes = memory(self.processes)
        self.row(f"{label} RSS MiB", sizes["rss"], reached=reached)
        self.row(f"{label} PSS MiB", sizes["pss"], reached=reached)
        self.row(f"{label} descriptors", sizes["descriptors"], reached=reached)

    def idle(self, count):
        """CPU of the gateway while nothing moves, in percent of one processor."""
        pids = [process.pid for process in self.processes]
        seconds = 2 if self.options.quick else IDLE_SECONDS
        time.sleep(1)
        before, began = cpu_seconds(pids), time.monotonic()
        time.sleep(seconds)
        self.row(f"{count} idle CPU %", (cpu_seconds(pids) - before) / (time.monotonic() - began) * 100)


class Scaling(Section):
    """The same work on and beside more and more flows of one table: cost for each gigabyte and for each connection.

    Always pieces of 8 KiB, there and back, on every flow in turn, eight at a time, and the same sum of bytes: one flow
    moves as many pieces as ten thousand do together. Larger pieces, or more at a time, would measure something
    else: the slow start of flows that rested while others had their turn, and how small a client cuts its
    segments when the queue before the gateway makes the round trip long.
    """

    counts = (1, 10, 100, 1000, 10000)
    piece = 8192
    pieces = 40000
    at_once = 8

    def measure(self):
        if not self.processes_expected():
            return
        for count in self.counts:
            with self.open(echo=self.gateway.proxied):
                holder = client.Holder(self.lab, ECHO, count, self.at_once)
                if holder.opened["opened"] < count:
                    self.row(f"{count} wanted, opened", holder.opened["opened"])
                    holder.close()
                    continue
                moved, cost = self.undisturbed(
                    f"{count}-flows-move", lambda: holder.move(self.piece, self.pieces // count))
                self.row(f"{count} flows CPU s/GB", cost["gateway_cpu"] / (2 * moved["bytes"]) * GIGABYTE, **cost)
                outcome, cost = self.undisturbed(f"{count}-flows-cps", lambda: client.once(
                    self.lab, "rate", "--to", f"{NET}:{ECHO}", "--at-once", 32, "--seconds", 1))
                self.row(f"{count} flows CPU us/connection",
                         cost["gateway_cpu"] / max(1, outcome["connections"]) * 1e6, **cost)
                holder.close()

    def processes_expected(self):
        return self.gateway.name != "direct"


class Switch(Section):
    """The default moves to another upstream while ten thousand flows are open and new ones are opened all the time: from
    the command to the first byte of the first flow by the new upstream."""

    count = 10000

    def measure(self):
        with self.open(echo=True):
            holder = client.Holder(self.lab, ECHO, self.count)
            opener = client.Opener(self.lab, ECHO)
            time.sleep(1.5)
            opener.begin()
            time.sleep(0.1)
            began = time.monotonic()
            answer = client.ask(self.gateway.socket, "POST", "/v1/activate", {"profile": "other", "all": True})
            answered = time.monotonic()
            seen = opener.seen()
            flows = client.ask(self.gateway.socket, "GET", "/v1/flows?profile=other&limit=10000", None)["flows"]
            first = min(seen[int(flow["client"].rpartition(":")[2])] for flow in flows)
            self.row("flows open at the switch", holder.opened["opened"])
            self.row("switch, first flow ms", (first - began) * 1000)
            self.row("switch, answer ms", (answered - began) * 1000)
            self.row("switch, flows reset", answer["flows"]["reset"])
            opener.close()
            self.lab.stop(holder.process)


class Page(Throughput):
    """A download that is paced at 100 Mbit/s, by itself and while another device asks for the page as fast as it can."""

    connections = 32
    warmup = 1

    def measure(self):
        with self.open() as lab:
            lab.pace("100mbit")
            (alone, _, _), cost = self.undisturbed("paced-alone", lambda: self.stream("down", 1))
            if alone == 0:
                raise LabError(f"nothing came of the paced flow\n{lab.log()}")
            self.row("paced flow alone Mbit/s", alone * 1000, **cost)
            self.row("paced flow alone, gateway CPU %", cost["gateway_cpu"] / cost["wall"] * 100, **cost)
            (flooded, asked), cost = self.undisturbed("paced-under-flood", self.flooded)
            self.row("paced flow under a flood Mbit/s", flooded * 1000, **cost)
            self.row("paced flow under a flood, gateway CPU %", cost["gateway_cpu"] / cost["wall"] * 100, **cost)
            self.row("paced flow under a flood, of alone", flooded / alone, **cost)
            for name, rate in asked.items():
                self.row(f"page flood, {name}/s", rate)

    def flooded(self):
        flood = client.Flood(self.lab, OTHER_LAN, self.connections)
        rate, _, _ = self.stream("down", 1)
        return rate, flood.close()

    def seconds(self):
        return max(self.options.seconds, 1) if self.options.quick else max(self.options.seconds, 8)


SECTIONS = {
    "throughput": (Throughput,),
    "cps": (Rate,),
    "latency": (Latency,),
    "memory": (Memory,),
    "forward": (Forward,),
    "loss": (Loss, HeavyLoss),
    "scaling": (Scaling,),
    "switch": (Switch,),
    "page": (Page,),
    "routing": (Routing,),
}

# What each section runs without being asked for more: a gateway that cannot play is left out.
LEFT_OUT = {
    "loss": {"pasta", "slirp4netns"},
    "scaling": {"pasta", "slirp4netns"},
}
