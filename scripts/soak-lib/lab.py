"""The soak's lab: the namespaces of scripts/lab, the link emulator between devices and gateway, proxies, resolver, origin.

    devices 10.9.0.10 … ── linkemulator ── gateway (starshipd) ── internet: two proxies, a resolver ── origin

Everything that was made is undone by `close`, by name and by process id.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.dirname(HERE)
ORIGINS = ("198.51.100.10", "198.51.100.11")
GATEWAY, RESOLVER = "10.9.0.1", "10.77.0.2"
FIRST_DEVICE = "10.9.0.10"
PROXIES = {"a": 10809, "b": 10808}


class LabError(Exception):
    """A step that did not work, with the words of the tool that refused."""


def run(*words, check=True, timeout=30):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout)
    if check and result.returncode != 0:
        raise LabError(f"{' '.join(map(str, words))}: {(result.stderr or result.stdout).strip()}")
    return result


class Lab:
    def __init__(self, binaries, devices, workers, state=None):
        self.binaries, self.devices, self.workers = binaries, devices, workers
        self.name = f"starshipsoak{os.getpid()}"
        self.directory = tempfile.mkdtemp(prefix="starship-soak-")
        self.processes = []
        self.proxies = {}
        run(f"{SCRIPTS}/lab", "sweep")
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def space(self, end):
        return f"{self.name}-{end}"

    def path(self, name):
        return os.path.join(self.directory, name)

    def ip(self, end, *words, check=True):
        return run("ip", "-n", self.space(end), *words, check=check)

    # Making

    def make(self):
        run(f"{SCRIPTS}/lab", "spaces", self.name)
        # Made here, the devices keep their addresses while the emulator between them changes.
        for end, device in (("device", "eth0"), ("gateway", "lan")):
            self.ip(end, "tuntap", "add", "mode", "tun", "name", device)
        self.emulate()
        run(f"{SCRIPTS}/lab", "links", self.name)
        first = int(FIRST_DEVICE.rsplit(".", 1)[1])
        for number in range(self.devices):
            self.ip("device", "address", "add", f"10.9.0.{first + number}/24", "dev", "eth0")
        # Names for the proxies, which ask nobody else.
        with open(f"/etc/netns/{self.space('internet')}/hosts", "a", encoding="utf-8") as hosts:
            hosts.writelines(f"{ORIGINS[0]} n{number}.soak.example\n" for number in range(50))
        origin = self.start("origin", ["/usr/bin/python3", "-B", f"{HERE}/origin.py", *ORIGINS], output="origin.out")
        self.wait("the origin", lambda: "ready" in self.text("origin.out") and origin.poll() is None)
        for profile in PROXIES:
            self.start_proxy(profile)
        self.start_resolver()

    def emulate(self, *impairment):
        """Joins the devices and the gateway, by a link that is as bad as is said."""
        words = [f"{self.binaries}/linkemulator", "--left", f"{self.space('device')}:eth0", "--right",
                 f"{self.space('gateway')}:lan", *impairment]
        output = self.path("emulator.out")
        with open(output, "wb") as out:
            self.emulator = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=out, stderr=out)
        self.processes.append(self.emulator)
        self.wait("the link", lambda: "ready" in self.text("emulator.out"))

    def start_proxy(self, profile):
        kind = "http" if profile == "a" else "socks"
        other = "socks" if profile == "a" else "http"
        port = PROXIES[profile]
        outbound = 'outbound: "direct"' if kind == "http" else ""
        with open(self.path(f"{profile}.json5"), "w", encoding="utf-8") as file:
            file.write(f"""{{
  tun: false, network: {{ setup: "none" }}, control: false, {other}: false, log: {{ flows: "none" }},
  {kind}: {{ listen: "{RESOLVER}:{port}", allow: ["10.77.0.0/24"], {outbound} }},
  profiles: [{{ id: "{profile}", upstream: {{ type: "direct" }} }}], active: "{profile}",
}}
""")
        self.proxies[profile] = self.start(
            "internet", [f"{self.binaries}/starshipd", "--config", self.path(f"{profile}.json5")],
            errors=f"{profile}.log")
        self.wait(f"the proxy {profile}", lambda: "event=ready" in self.text(f"{profile}.log"))

    def start_resolver(self):
        self.resolver = self.start("internet", [
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
            "--pid-file=", f"--listen-address={RESOLVER}", "--bind-interfaces", "--local-ttl=60",
            f"--address=/soak.example/{ORIGINS[0]}", f"--address=/direct.example/{ORIGINS[1]}"])

    def configure(self, remark=""):
        """The gateway's configuration; another remark makes it another file."""
        domains = '["soak.example"]'
        text = f"""{{
  // {remark}
  tun: {{ name: "starship0", workers: {self.workers} }},
  network: {{ setup: "gateway", lan: ["lan"], uplink: "wan" }},
  dns: {{ resolvers: ["{RESOLVER}:53"] }},
  socks: {{ listen: "{GATEWAY}:10808", allow: ["10.9.0.0/24"] }},
  limits: {{ udpIdle: "5s", dnsIdle: "2s", timeWait: "2s" }},
  log: {{ flows: "none" }},
  control: {{ socket: "{self.path('control.sock')}" }}, state: "{self.path('state')}",
  health: {{ url: "http://{ORIGINS[1]}/", interval: "5s", timeout: "2s" }},
  profiles: [
    {{ id: "a", upstream: {{ type: "http", host: "{RESOLVER}", port: {PROXIES['a']} }}, domains: {domains} }},
    {{ id: "b", upstream: {{ type: "socks5", host: "{RESOLVER}", port: {PROXIES['b']} }}, domains: {domains} }},
    {{ id: "all", upstream: {{ type: "http", host: "{RESOLVER}", port: {PROXIES['a']} }} }},
  ],
  active: "a",
}}
"""
        with open(self.path("gateway.json5"), "w", encoding="utf-8") as file:
            file.write(text)

    def start_gateway(self):
        self.configure()
        self.daemon = self.start(
            "gateway", [f"{self.binaries}/starshipd", "--config", self.path("gateway.json5")], errors="gateway.log")
        self.wait("the gateway", lambda: "event=ready" in self.text("gateway.log"))

    def start_devices(self, seed):
        return self.start(
            "device", ["/usr/bin/python3", "-B", f"{HERE}/devices.py", FIRST_DEVICE, self.devices, GATEWAY, seed],
            output="devices.out", errors="devices.log")

    def start(self, end, words, output=None, errors=None):
        """Starts a program in a namespace; its pid is its own, because `ip` becomes it."""
        def sink(name):
            return open(self.path(name), "ab") if name else subprocess.DEVNULL

        with_output, with_errors = sink(output), sink(errors)
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(end), *map(str, words)], stdin=subprocess.DEVNULL, stdout=with_output,
            stderr=with_errors, cwd=self.directory, start_new_session=True)
        for file in (with_output, with_errors):
            if hasattr(file, "close"):
                file.close()
        self.processes.append(process)
        return process

    def stop(self, process, how=signal.SIGTERM, patience=10):
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
        if process.stdin:
            process.stdin.close()
        if process in self.processes:
            self.processes.remove(process)

    def close(self):
        for process in reversed(list(self.processes)):
            try:
                process.send_signal(signal.SIGCONT)
                self.stop(process)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"scripts/soak: {error}", file=sys.stderr)
        run(f"{SCRIPTS}/lab", "down", self.name, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    # Looking

    def wait(self, what, holds, seconds=20):
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                logs = "\n".join(self.text(name)[-500:] for name in os.listdir(self.directory) if name.endswith(".log"))
                raise LabError(f"{what} is not there after {seconds} s\n{logs}")
            time.sleep(0.05)

    def text(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def control(self, *words, check=True):
        return run("ip", "netns", "exec", self.space("gateway"), f"{self.binaries}/starshipctl", "--socket",
                   self.path("control.sock"), *words, check=check)

    def status(self):
        """The daemon's own words about itself; None while it cannot be asked."""
        try:
            return json.loads(self.control("status", "--json", check=False).stdout)
        except (ValueError, subprocess.TimeoutExpired):
            return None

    def resident(self):
        """Resident memory in KiB."""
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
