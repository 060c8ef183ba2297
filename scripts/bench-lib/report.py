"""From rows to one Markdown table, and to the targets that the project has set itself.

A value is the median over the repetitions. A ratio is the median of the ratios that were taken within one
repetition, so what slows the whole machine for a minute falls out of it.
"""

from collections import defaultdict
from statistics import median


class Results:
    """All rows of a run, found by gateway and metric, repetition by repetition."""

    def __init__(self, rows):
        self.values = defaultdict(lambda: defaultdict(list))
        self.metrics = []
        self.gateways = []
        self.disturbed = 0
        for row in rows:
            # More than one value in a repetition (each memory run has an idle one): they all count.
            self.values[row["gateway"], row["metric"]][row["repetition"]].append(row["value"])
            if row["metric"] not in self.metrics:
                self.metrics.append(row["metric"])
            if row["gateway"] not in self.gateways:
                self.gateways.append(row["gateway"])
            if row.get("others", 0) > 0.15:
                self.disturbed += 1

    def all(self, gateway, metric):
        return [value for values in self.values.get((gateway, metric), {}).values() for value in values]

    def median(self, gateway, metric):
        values = self.all(gateway, metric)
        return median(values) if values else None

    def ratio(self, gateway, reference, metric):
        """How `gateway` compares with `reference`, or None where one of them has no value."""
        ours = self.values.get((gateway, metric), {})
        theirs = self.values.get((reference, metric), {})
        ratios = [median(ours[repetition]) / median(theirs[repetition])
                  for repetition in ours if repetition in theirs and median(theirs[repetition]) > 0]
        return median(ratios) if ratios else None


def number(value):
    """Three or four digits, whatever the size."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def unit(metric):
    """The unit of metrics whose name does not end in one."""
    if " loss " in metric:
        return ", Mbit/s"
    return ", Gbit/s" if metric in ("up1", "down1", "up8", "down8", "both1") else ""


def table(results, ranges=False):
    """One Markdown table: a row for each metric, a column for each gateway, throughput also as a ratio to direct."""
    lines = ["| | " + " | ".join(results.gateways) + " |", "|---|" + "---:|" * len(results.gateways)]
    for metric in results.metrics:
        cells = []
        for gateway in results.gateways:
            values = results.all(gateway, metric)
            cell = number(median(values)) if values else "-"
            if ranges and len(values) > 1:
                cell += f" ({number(min(values))}–{number(max(values))})"
            if unit(metric) and gateway != "direct":
                ratio = results.ratio(gateway, "direct", metric)
                cell += f" ×{ratio:.2f}" if ratio is not None else ""
            cells.append(cell)
        lines.append(f"| {metric}{unit(metric)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


class Target:
    """One line of what has to hold: a ratio to another gateway of the same run, or a value of its own."""

    def __init__(self, metric, sign, limit, reference=None, ours=None):
        self.metric, self.sign, self.limit, self.reference, self.ours = metric, sign, limit, reference, ours

    def judge(self, results, ours):
        """The line to print and whether it is met, None where the run has not measured it."""
        ours = self.ours or ours
        bound = {">=": "at least", "<=": "at most", "<": "under"}[self.sign]
        if self.reference:
            found = results.ratio(ours, self.reference, self.metric)
            wanted = f"{bound} {self.limit} × {self.reference}"
            measured = (f"{number(results.median(ours, self.metric))} against "
                        f"{number(results.median(self.reference, self.metric))}, ratio {number(found)}")
        else:
            found = results.median(ours, self.metric)
            wanted = f"{bound} {self.limit}"
            measured = number(found)
        if found is None:
            return f"| {self.metric} | {wanted} | not measured | - |", None
        met = {">=": found >= self.limit, "<=": found <= self.limit, "<": found < self.limit}[self.sign]
        return f"| {self.metric} | {wanted} | {measured} | {'met' if met else '**missed**'} |", met


FLOWS = ("up1", "down1", "up8", "down8")
TARGETS = (
    [Target(name, ">=", 1, "haproxy") for name in FLOWS]
    + [Target(f"{name} gateway CPU s/GB", "<=", 0.6, "haproxy") for name in FLOWS]
    + [Target("connections/s", ">=", 1.15, "redsocks"),
       Target("first byte p50 us", "<=", 1, "redsocks"),
       Target("first byte p99 us", "<=", 1.1, "redsocks"),
       Target("ping-pong p50 us", "<=", 1.1, "redsocks"),
       Target("RSS idle MiB", "<", 15),
       Target("10000 moved 16 KB RSS MiB", "<", 35),
       Target("10000 closed RSS MiB", "<", 20),
       Target("10000 idle CPU %", "<", 0.5),
       Target("fake answers/s of one core", ">=", 50_000),
       Target("first fake answers at 5000/s p99 us", "<", 1000),
       Target("fake answers at 5000/s p99 us", "<", 1000),
       Target("forwarded answers/s", ">=", 1, "dnsmasq")]
    + [Target(f"forwarded {name}", ">=", 0.95, "direct", ours="routed") for name in FLOWS]
    + [Target(f"forwarded {name}", ">=", 0.95, "router", ours="unlisted") for name in FLOWS]
    + [Target(f"{loss} % loss {name}", ">=", 0.95, "direct") for loss in (1, 3) for name in ("up8", "down8")]
    + [Target("switch, first flow ms", "<", 50, ours="switched"),
       Target("paced flow under a flood, of alone", ">=", 0.95, ours="paged"),
       Target("million suffixes, load s", "<", 3),
       Target("million suffixes, memory MB", "<", 100),
       Target("million suffixes, match us", "<", 1)]
)


def targets(results, ours="starship"):
    """The table of targets, and whether none of those that were measured was missed."""
    lines = ["| target | wanted | measured | |", "|---|---|---|---|"]
    good = True
    for target in TARGETS:
        line, met = target.judge(results, ours)
        lines.append(line)
        good = good and met is not False
    for more, met in (growth(results, ours), failures(results, ours)):
        lines += more
        good = good and met
    return "\n".join(lines), good


FAILURES = ("count differently", "failed connections", "wanted, opened", "wanted, moved", "runs that failed",
            "that did not come", "wrong answers")


def failures(results, ours):
    """What went wrong is missed, whatever the numbers say: these metrics exist only where something did."""
    found = [metric for metric in results.metrics
             if any(word in metric for word in FAILURES) and results.all(ours, metric)]
    lines = [f"| {metric} | none | {number(max(results.all(ours, metric)))} | **missed** |" for metric in found]
    return lines, not found


def growth(results, ours):
    """Cost from 10 to 10,000 flows: in step means that it stays within a factor of two of the cost at 10."""
    lines, good = [], True
    for kind in ("CPU s/GB", "CPU us/connection"):
        base = results.median(ours, f"10 flows {kind}")
        for count in (100, 1000, 10000):
            value = results.median(ours, f"{count} flows {kind}")
            if not base or value is None:
                continue
            met = value <= 2 * base
            good = good and met
            lines.append(f"| {count} flows {kind} | at most 2 × 10 flows | {number(value)} against {number(base)} "
                         f"| {'met' if met else '**missed**'} |")
    return lines, good
