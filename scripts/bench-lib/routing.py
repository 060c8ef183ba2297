"""Matching names against a million suffixes: three matchers, each in a process of its own, without lab and gateway."""

import json
import subprocess

from lab import LabError

SUFFIXES = 1_000_000


class Matcher:
    """What takes a gateway's place in the table."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind


class Routing:
    """Loads the list, asks for names in no order, and counts wrong answers; for ours also what a whole decision costs."""

    contenders = (Matcher("starship", "index"), Matcher("linear list", "linear"), Matcher("dictionary", "dictionary"))

    def __init__(self, options, matcher):
        self.options = options
        self.gateway = matcher
        self.rows = []

    def row(self, metric, value):
        self.rows.append({"gateway": self.gateway.name, "metric": metric, "value": value})

    def measure(self):
        result = self.run()
        if result["wrong"]:
            self.row("suffixes, wrong answers", result["wrong"])
        self.row("million suffixes, load s", result["load_seconds"])
        self.row("million suffixes, memory MB", result["memory_mb"])
        self.row("million suffixes, more while loading MB", result["load_peak_mb"])
        self.row("million suffixes, match us", result["match_ns"] / 1000)
        for key, label in (("verdict_ns", "verdict us"), ("decide_ns", "decision us"),
                           ("decide_and_say_ns", "decision in words us"),
                           ("decide_by_rule_ns", "decision by a rule us"),
                           ("decide_by_rule_and_say_ns", "decision by a rule in words us")):
            if key in result:
                self.row(f"million suffixes, {label}", result[key] / 1000)

    def run(self):
        command = [self.options.programs.bench, "routing", "--matcher", self.gateway.kind, "--suffixes", SUFFIXES,
                   "--seconds", min(self.options.seconds, 2)]
        try:
            result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise LabError(f"{self.gateway.kind}: not done after 120 s")
        if result.returncode != 0:
            raise LabError(f"{self.gateway.kind}: {result.stderr.strip()}")
        return json.loads(result.stdout.splitlines()[-1])
