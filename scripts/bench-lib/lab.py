"""A lab of three network namespaces, dev - gw - net, and the processes that run in them.

    dev 10.61.0.2 --- 10.61.0.1 gw 10.62.0.1 --- 10.62.0.2 net

A lab lives for one repetition: fresh namespaces, fresh sockets, no TIME-WAIT left over. Whatever was made
is undone by `close`, by name and by process id, also after a failure.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

DEVICE, LAN = "10.61.0.2", "10.61.0.1"
OTHER_DEVICE, OTHER_LAN = "10.64.0.2", "10.64.0.1"
WAN, NET = "10.62.0.1", "10.62.0.2"
# The upstreams have an address of their own: what goes to an upstream's machine goes there directly, by no CONNECT.
WAY_OUT = "10.62.0.3"
SINK, SOURCE, DUPLEX, ECHO = 9001, 9002, 9003, 9004
PROXY, ECHO_PROXY = 8118, 8119

# Every namespace alike: cubic, the whole port range, and ports that are usable again after a second.
SETTINGS = {
    "net/ipv4/tcp_congestion_control": "cubic",
    "net/ipv4/ip_local_port_range": "1024 65535",
    "net/ipv4/ip_local_reserved_ports": "8100-8199,9000-9099,10808-10899",
    "net/ipv4/tcp_tw_reuse": "1",
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
}


class LabError(Exception):
    """A step of the set-up that did not work, with the words of the tool that refused."""


def run(*words, check=True, timeout=20):
    """Runs a command to its end and returns what it printed."""
    result = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    if check and result.returncode != 0:
        raise LabError(f"{' '.join(words)}: {(result.stderr or result.stdout).strip()}")
    return result.stdout


def allow_cubic():
    """Lets namespaces choose cubic: they may have only what the host's list names (it stays in the list)."""
    path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
    with open(path) as file:
        allowed = file.read().split()
    if "cubic" not in allowed:
        with open(path, "w") as file:
            file.write(" ".join(allowed + ["cubic"]))


def sweep():
    """Removes what a run that was killed has left: namespaces named after a process that is gone."""
    for line in run("ip", "netns", "list").splitlines():
        found = re.match(r"bench(\d+)-\d+-(dev|gw|net|other)\b", line)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            for pid in run("ip", "netns", "pids", found[0], check=False).split():
                os.kill(int(pid), signal.SIGKILL)
            run("ip", "netns", "delete", found[0], check=False)


class Lab:
    """One dev - gw - net line, with the load generator's server and upstream in net.

    `link` is None for a veth between dev and gw, or the options of the link emulator. An `attached` lab has no link
    between dev and gw at all: the gateway under test brings its own device into dev.
    """

    serial = 0

    def __init__(self, programs, link=None, attached=False):
        Lab.serial += 1
        self.programs = programs
        prefix = f"bench{os.getpid()}-{Lab.serial}"
        self.dev, self.gw, self.net = (f"{prefix}-{end}" for end in ("dev", "gw", "net"))
        self.other = f"{prefix}-other"
        self.directory = tempfile.mkdtemp(prefix=prefix + "-")
        self.processes = []
        self.made = []
        try:
            for namespace in (self.dev, self.gw, self.net):
                run("ip", "netns", "add", namespace)
                self.made.append(namespace)
                self.prepare(namespace)
            self.join(self.gw, "wan0", WAN, self.net, "net0", NET)
            self.ip(self.net, "address", "add", f"{WAY_OUT}/24", "dev", "net0")
            if link is not None:
                self.emulate(link)
            elif not attached:
                self.join(self.dev, "dev0", DEVICE, self.gw, "lan0", LAN)
            if not attached:
                self.ip(self.dev, "route", "add", "default", "via", LAN)
            self.ip(self.net, "route", "add", "default", "via", WAN)
            self.ip(self.gw, "route", "add", "default", "via", NET)
            self.serve()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ip(self, namespace, *words):
        run("ip", "-n", namespace, *words)

    def prepare(self, namespace):
        script = "".join(f"echo '{value}' > /proc/sys/{key};" for key, value in SETTINGS.items())
        run("ip", "netns", "exec", namespace, "sh", "-ec", script)
        self.ip(namespace, "link", "set", "lo", "up")

    def join(self, left, left_name, left_address, right, right_name, right_address):
        """A veth pair with MTU 1500 and every offload on, as a good driver would have."""
        run("ip", "link", "add", left_name, "netns", left, "mtu", "1500", "type", "veth",
            "peer", "name", right_name, "netns", right, "mtu", "1500")
        for namespace, name, address in ((left, left_name, left_address), (right, right_name, right_address)):
            run("ip", "netns", "exec", namespace, "ethtool", "-K", name, "tso", "on", "gso", "on", "gro", "on")
            self.address(namespace, name, address)

    def add_other(self):
        """A second device, on a LAN of its own: lan1 of the gateway."""
        run("ip", "netns", "add", self.other)
        self.made.append(self.other)
        self.prepare(self.other)
        self.join(self.other, "dev0", OTHER_DEVICE, self.gw, "lan1", OTHER_LAN)
        self.ip(self.other, "route", "add", "default", "via", OTHER_LAN)

    def pace(self, rate):
        """What net sends goes no faster than this."""
        run("ip", "netns", "exec", self.net, "tc", "qdisc", "add", "dev", "net0", "root", "tbf", "rate", rate,
            "burst", "128k", "latency", "50ms")

    def address(self, namespace, name, address):
        self.ip(namespace, "address", "add", f"{address}/24", "dev", name)
        self.ip(namespace, "link", "set", name, "up")

    def serve(self):
        """Starts the servers, the measuring upstream and the upstream that echoes by itself."""
        self.counts_path = os.path.join(self.directory, "server.jsonl")
        self.server = self.spawn(
            self.net, [self.programs.bench, "server", "--listen", NET, "--sink", SINK, "--source", SOURCE,
                       "--duplex", DUPLEX, "--echo", ECHO], output=self.counts_path)
        self.upstream = self.spawn(self.net, [self.programs.bench, "upstream", "--listen", f"{WAY_OUT}:{PROXY}"])
        self.echo_upstream = self.spawn(
            self.net, [self.programs.bench, "upstream", "--echo", "--listen", f"{WAY_OUT}:{ECHO_PROXY}"])

    def spawn(self, namespace, words, output=None, interactive=False):
        """Starts a process in a namespace (None: ours); its pid is its own, because `ip` becomes it."""
        errors = open(os.path.join(self.directory, "log"), "ab")
        sink = open(output, "wb") if output else (subprocess.PIPE if interactive else errors)
        process = subprocess.Popen(
            (["ip", "netns", "exec", namespace] if namespace else []) + [str(word) for word in words],
            stdin=subprocess.PIPE if interactive else subprocess.DEVNULL, stdout=sink, stderr=errors,
            cwd=self.directory, start_new_session=True)
        for file in (errors, sink):
            if hasattr(file, "close"):
                file.close()
        self.processes.append(process)
        return process

    def log(self):
        """What the lab's processes have written, the last lines."""
        with open(os.path.join(self.directory, "log"), errors="replace") as file:
            return file.read()[-2000:].strip()

    def stop(self, process):
        """Ends one process, politely first."""
        for number, patience in ((signal.SIGTERM, 2), (signal.SIGKILL, 5)):
            if process.poll() is not None:
                break
            process.send_signal(number)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        if process in self.processes:
            self.processes.remove(process)

    def leftovers(self):
        """Processes that children of ours started and left in our namespaces (pasta forks)."""
        pids = set()
        for namespace in self.made:
            pids.update(int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).split())
        return pids

    def close(self):
        for process in list(reversed(self.processes)):
            self.stop(process)
        for pid in self.leftovers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for namespace in self.made:
            run("ip", "netns", "delete", namespace, check=False)
        self.made = []
        shutil.rmtree(self.directory, ignore_errors=True)

    def emulate(self, link):
        """Joins dev and gw by the link emulator's two TUN devices, dev0 and lan0."""
        words = [self.programs.emulator, "--left", f"{self.dev}:dev0", "--right", f"{self.gw}:lan0"]
        for name, value in link.items():
            words += [f"--{name}", value]
        self.emulator = self.spawn(None, words, interactive=True)
        if b"ready" not in self.emulator.stdout.readline():
            raise LabError(f"the link emulator did not start\n{self.log()}")
        self.address(self.dev, "dev0", DEVICE)
        self.address(self.gw, "lan0", LAN)

    def wait_for(self, what, *words, seconds=5):
        """Waits until a command succeeds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if subprocess.run(words, capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        raise LabError(f"no {what} after {seconds} s\n{self.log()}")

    def wait_for_device(self, namespace, name):
        """Waits until a process has made its network device."""
        self.wait_for(f"device {name}", "ip", "-n", namespace, "link", "show", name)
