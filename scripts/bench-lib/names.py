"""The DNS service: answers of its own, and names that a resolver knows, beside dnsmasq. dnsperf asks from dev.

The resolver is a dnsmasq in net that knows everything below `other.test` by itself. A gateway of this section has
`start_names`, which makes it answer on LAN:53 with that resolver behind it; ours gives the names below `proxied.test`
fake addresses, so that part is ours alone.
"""

import os
import re

from lab import LAN, NET, Lab, LabError
from sections import Section

# The names of the project's target; one device may hold so many (and a few more).
FAKE_NAMES = 8000
STEADY_RATE = 5000
# More than any cache here holds, and more than are asked for in a run of usual length.
UNKNOWN_NAMES = 400_000
KNOWN_NAMES = 5000


class Names(Section):
    """Queries as fast as they are answered, and at a steady rate."""

    def measure(self):
        with self.open_names():
            if self.gateway.fakes_names:
                fake = self.names("fake", "proxied.test", FAKE_NAMES)
                self.steady("first fake answers", fake, runs=1)
                self.fastest("fake answers", fake)
                self.steady("fake answers", fake)
            self.fastest("forwarded answers", self.names("unknown", "other.test", UNKNOWN_NAMES), concurrency=50)
            known = self.names("known", "known.other.test", KNOWN_NAMES)
            self.ask(known, runs=1)
            self.fastest("cached answers", known)

    def open_names(self):
        self.lab = Lab(self.options.programs)
        try:
            self.resolver = self.lab.spawn(
                self.lab.net, ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
                               "--user=root", "--pid-file=", f"--listen-address={NET}", "--bind-interfaces",
                               "--address=/other.test/203.0.113.7", "--local-ttl=300"])
            self.processes = self.gateway.start_names(self.lab)
            self.wait_for_answer()
        except BaseException:
            self.lab.close()
            raise
        return self.lab

    def wait_for_answer(self):
        """Asks until somebody answers."""
        path = self.names("first", "first.other.test", 1)
        for _ in range(50):
            if self.ask(path, runs=1, patience=0.2)["answered"]:
                return
        raise LabError(f"no answer from {self.gateway.name}\n{self.lab.log()}")

    def names(self, kind, domain, count):
        """A file of questions as dnsperf reads them."""
        path = os.path.join(self.lab.directory, f"{kind}.names")
        with open(path, "w") as file:
            file.writelines(f"n{number}.{domain} A\n" for number in range(count))
        return path

    def fastest(self, name, path, concurrency=200):
        outcome, cost = self.undisturbed(name, lambda: self.ask(path, concurrency=concurrency))
        self.row(f"{name}/s", outcome["rate"], **cost)
        if outcome["lost"]:
            self.row(f"{name} that did not come", outcome["lost"], **cost)
        if cost["gateway_cpu"]:
            self.row(f"{name}/s of one core", outcome["answered"] / cost["gateway_cpu"], **cost)

    def steady(self, name, path, runs=None):
        # A name is new once: so many times through the file is no run that can be had again.
        outcome, cost = self.undisturbed(
            name, lambda: self.ask(path, runs, rate=STEADY_RATE, verbose=True), attempts=1 if runs else 3)
        for percent in (50, 99):
            place = min(len(outcome["times"]) - 1, len(outcome["times"]) * percent // 100)
            self.row(f"{name} at {STEADY_RATE}/s p{percent} us", outcome["times"][place] * 1e6, **cost)

    def ask(self, path, runs=None, rate=None, concurrency=200, verbose=False, patience=1):
        """Runs dnsperf once: through the file so many times, or for the time of a run."""
        output = os.path.join(self.lab.directory, "dnsperf.out")
        words = ["dnsperf", "-s", LAN, "-d", path, "-c", 8, "-q", concurrency, "-t", patience]
        words += ["-n", runs] if runs else ["-l", self.options.seconds]
        words += ["-Q", rate] if rate else []
        words += ["-v"] if verbose else []
        process = self.lab.spawn(self.lab.dev, words, output=output)
        process.wait(self.options.seconds + 60)
        self.lab.stop(process)
        with open(output) as file:
            text = file.read()
        times = sorted(float(found) for found in re.findall(r"^> NOERROR \S+ \S+ ([\d.]+)", text, re.MULTILINE))
        if verbose and not times:
            raise LabError(f"dnsperf said nothing of single queries: {text[-500:]}")
        return {"rate": number(r"Queries per second:\s+([\d.]+)", text),
                "answered": number(r"NOERROR (\d+) \(", text),
                "lost": number(r"Queries lost:\s+(\d+)", text), "times": times}


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else 0.0
