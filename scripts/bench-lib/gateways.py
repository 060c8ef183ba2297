"""The gateways that are compared, each with what it takes to stand between dev and net.

Every gateway has the same four members: a name, whether it is `attached` to dev (it brings its own device, and
there is no link), which upstream it uses (`CONNECT`, `SOCKS5` or straight), and `start`, which returns its processes.
"""

import json
import os
import shutil

from lab import LAN, NET, PROXY, WAN, WAY_OUT, LabError, run

TUNNEL = "tun-bench"
RELAY_PORT = 10880


class Gateway:
    """The plain forwarding path: no process at all."""

    name = "direct"
    attached = False
    proxied = False
    # Whether it answers DNS, and whether with addresses of its own.
    names = False
    fakes_names = False
    # Whether the kernel forwards for it.
    forwards = True
    packages = ()

    def plays(self, section):
        """Whether this gateway can be measured in a section."""
        return {"dns": self.names, "forward": self.forwards, "switch": False,
                "page": False}.get(section, True)

    def missing(self, programs):
        """What keeps this gateway from running here, or None."""
        return None

    def start(self, lab, upstream_port):
        return []


class Redirecting(Gateway):
    """A relay on kernel sockets behind nft REDIRECT."""

    program = ""
    forwards = False

    def missing(self, programs):
        return None if shutil.which(self.program) else f"{self.program} is not installed"

    def redirect(self, lab):
        path = self.configure(lab, "redirect.nft", f"""
table ip bench {{
    chain incoming {{
        type nat hook prerouting priority dstnat;
        iifname "lan0" meta l4proto tcp redirect to :{RELAY_PORT}
    }}
}}
""")
        run("ip", "netns", "exec", lab.gw, "nft", "-f", path)

    def configure(self, lab, name, text):
        path = os.path.join(lab.directory, name)
        with open(path, "w") as file:
            file.write(text)
        return path


class Redsocks(Redirecting):
    """redsocks with splice, to the measuring upstream by CONNECT."""

    name = "redsocks"
    program = "redsocks"
    packages = ("redsocks", "nftables")
    proxied = True

    def start(self, lab, upstream_port):
        path = self.configure(lab, "redsocks.conf", f"""
base {{ log_debug = off; log_info = off; log = "stderr"; daemon = off; redirector = iptables;
       rlimit_nofile = 20000; redsocks_conn_max = 3332; }}
redsocks {{ local_ip = 0.0.0.0; local_port = {RELAY_PORT}; ip = {WAY_OUT}; port = {upstream_port};
           type = http-connect; listenq = 1024; splice = on; }}
""")
        self.redirect(lab)
        return [lab.spawn(lab.gw, ["redsocks", "-c", path])]


class HAProxy(Redirecting):
    """haproxy in TCP mode, one thread, splice, straight to the original destination."""

    name = "haproxy"
    program = "haproxy"
    packages = ("haproxy", "nftables")

    def start(self, lab, upstream_port):
        path = self.configure(lab, "haproxy.cfg", f"""
global
    maxconn 7500
    nbthread 1
defaults
    mode tcp
    option splice-auto
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen relay
    bind 0.0.0.0:{RELAY_PORT}
    server original 0.0.0.0:0
""")
        self.redirect(lab)
        return [lab.spawn(lab.gw, ["haproxy", "-db", "-q", "-f", path])]


class Pasta(Gateway):
    """pasta: a TAP device in dev, its packets mirrored to kernel sockets in gw."""

    name = "pasta"
    attached = True
    forwards = False
    packages = ("passt",)

    def missing(self, programs):
        return None if shutil.which("pasta") else "pasta (package passt) is not installed"

    def start(self, lab, upstream_port):
        process = lab.spawn(lab.gw, ["pasta", "--foreground", "--quiet", "--config-net", "--no-map-gw", "--runas", "0",
                                     "--ns-ifname", "tap0", "-t", "none", "-u", "none", "-T", "none", "-U", "none",
                                     "--netns", f"/run/netns/{lab.dev}"])
        lab.wait_for_device(lab.dev, "tap0")
        return [process]


class Slirp(Gateway):
    """slirp4netns: libslirp's TCP in user space, MTU 1500."""

    name = "slirp4netns"
    attached = True
    forwards = False
    packages = ("slirp4netns",)

    def missing(self, programs):
        return None if shutil.which("slirp4netns") else "slirp4netns is not installed"

    def start(self, lab, upstream_port):
        process = lab.spawn(lab.gw, ["slirp4netns", "--configure", "--mtu=1500", "--netns-type=path",
                                     f"/run/netns/{lab.dev}", "tap0"])
        lab.wait_for_device(lab.dev, "tap0")
        return [process]


class Tunnel(Gateway):
    """A gateway with a TUN device: what comes in from dev is routed into it."""

    proxied = True
    forwards = False

    def route(self, lab, device):
        lab.wait_for_device(lab.gw, device)
        lab.ip(lab.gw, "address", "replace", "10.63.0.1/24", "dev", device)
        lab.ip(lab.gw, "link", "set", device, "up")
        lab.ip(lab.gw, "route", "add", "default", "dev", device, "table", "61")
        lab.ip(lab.gw, "rule", "add", "iif", "lan0", "lookup", "61")


class Starship(Tunnel):
    """Ours: starshipd on TUN, to the measuring upstream by CONNECT.

    Another build, or the same one with other settings, is given as NAME=PATH or NAME=PATH,JSON: the objects of JSON are
    laid over those of the configuration, and an empty PATH means the build at hand.
    """

    names = True
    fakes_names = True
    packages = ("dnsperf", "dnsmasq-base")

    def __init__(self, text="starship="):
        self.name, found, rest = text.partition("=")
        self.path, _, settings = rest.partition(",")
        if not found or not self.name:
            raise LabError(f"--daemon wants NAME=PATH or NAME=PATH,JSON, not {text!r}")
        self.settings = json.loads(settings or "{}")

    def missing(self, programs):
        path = self.path or programs.daemon
        return None if os.access(path, os.X_OK) else f"{path} is not built"

    def start(self, lab, upstream_port):
        configuration = {
            "tun": {"name": TUNNEL, "mtu": 1500},
            "network": {"setup": "none"},
            "control": False,
            "profiles": [{"id": "bench", "upstream": {"type": "http", "host": WAY_OUT, "port": upstream_port}}],
            "active": "bench",
        }
        for key, value in self.settings.items():
            merged = isinstance(value, dict) and key in configuration
            configuration[key] = {**configuration[key], **value} if merged else value
        path = os.path.join(lab.directory, "starship.json5")
        with open(path, "w") as file:
            json.dump(configuration, file)
        process = lab.spawn(lab.gw, [self.path or lab.programs.daemon, "--config", path])
        self.route(lab, TUNNEL)
        return [process]

    def start_names(self, lab):
        configuration = {
            "tun": {"name": TUNNEL, "mtu": 1500},
            "network": {"setup": "none"},
            "control": False,
            "state": lab.directory,
            "dns": {"listen": [f"{LAN}:53"], "resolvers": [f"{NET}:53"]},
            "profiles": [{"id": "bench", "upstream": {"type": "http", "host": WAY_OUT, "port": PROXY},
                          "domains": ["proxied.test"]}],
            "active": "bench",
        }
        path = os.path.join(lab.directory, "starship.json5")
        with open(path, "w") as file:
            json.dump({**configuration, **self.settings}, file)
        return [lab.spawn(lab.gw, [self.path or lab.programs.daemon, "--config", path])]


class Unlisted(Starship):
    """Ours in domain mode with the machine's network set up, for a target that no list names: the kernel forwards it."""

    forwards = True
    masquerades = True

    def __init__(self, name="unlisted"):
        super().__init__(f"{name}=")

    def plays(self, section):
        return section == "forward"

    def start(self, lab, upstream_port):
        configuration = {
            "tun": {"name": TUNNEL, "mtu": 1500},
            "network": {"setup": "gateway", "lan": ["lan0"], "uplink": "wan0", "masquerade": self.masquerades},
            "control": False,
            "state": lab.directory,
            "dns": {"resolvers": [f"{NET}:53"]},
            "profiles": [{"id": "bench", "upstream": {"type": "http", "host": WAY_OUT, "port": upstream_port},
                          "domains": ["proxied.test"]}],
            "active": "bench",
        }
        path = os.path.join(lab.directory, "starship.json5")
        with open(path, "w") as file:
            json.dump(configuration, file)
        process = lab.spawn(lab.gw, [self.path or lab.programs.daemon, "--config", path])
        lab.wait_for("table of ours", "ip", "netns", "exec", lab.gw, "nft", "list", "table", "inet", "starship")
        return [process]


class Routed(Unlisted):
    """The same without masquerading, as on the plain forwarding path: the servers know the way to the devices."""

    masquerades = False

    def __init__(self):
        super().__init__("routed")


class Switched(Starship):
    """Ours with the machine's network set up, a control socket and two profiles, all traffic through the first."""

    def __init__(self):
        super().__init__("switched=")

    def plays(self, section):
        return section == "switch"

    def start(self, lab, upstream_port):
        self.socket = os.path.join(lab.directory, "control.sock")
        upstreams = {"first": upstream_port, "other": PROXY}
        configuration = {
            "tun": {"name": TUNNEL, "mtu": 1500},
            "network": {"setup": "gateway", "lan": ["lan0"], "uplink": "wan0"},
            "control": {"socket": self.socket},
            "state": lab.directory,
            "dns": {"resolvers": [f"{NET}:53"]},
            "log": {"flows": "none"},
            "profiles": [{"id": name, "upstream": {"type": "http", "host": WAY_OUT, "port": port}}
                         for name, port in upstreams.items()],
            "active": "first",
        }
        path = os.path.join(lab.directory, "starship.json5")
        with open(path, "w") as file:
            json.dump(configuration, file)
        return [lab.spawn(lab.gw, [self.path or lab.programs.daemon, "--config", path])]


class Paged(Starship):
    """Ours with the machine's network set up and its page on two LANs, all traffic through one upstream."""

    def __init__(self):
        super().__init__("paged=")

    def plays(self, section):
        return section == "page"

    def start(self, lab, upstream_port):
        lab.add_other()
        configuration = {
            "tun": {"name": TUNNEL, "mtu": 1500},
            "network": {"setup": "gateway", "lan": ["lan0", "lan1"], "uplink": "wan0"},
            "control": False,
            "state": lab.directory,
            "dns": {"resolvers": [f"{NET}:53"]},
            "profiles": [{"id": "bench", "upstream": {"type": "http", "host": WAY_OUT, "port": upstream_port}}],
            "active": "bench",
        }
        path = os.path.join(lab.directory, "starship.json5")
        with open(path, "w") as file:
            json.dump(configuration, file)
        process = lab.spawn(lab.gw, [self.path or lab.programs.daemon, "--config", path])
        # Until then the kernel forwards by itself, and resets what it forwarded.
        lab.wait_for("gateway that is ready", "grep", "-q", "event=ready", os.path.join(lab.directory, "log"))
        return [process]


class Router(Gateway):
    """The plain forwarding path of a router that masquerades, as every lab's box does: one nft rule."""

    name = "router"
    packages = ("nftables",)

    def plays(self, section):
        return section == "forward"

    def start(self, lab, upstream_port):
        run("ip", "netns", "exec", lab.gw, "nft",
            'table inet bench { chain uplink { type nat hook postrouting priority 100; oifname "wan0" masquerade; }; }')
        return []


class Dnsmasq(Gateway):
    """dnsmasq as the forwarder of a router, with a cache as large as ours."""

    name = "dnsmasq"
    names = True
    packages = ("dnsmasq-base",)

    def plays(self, section):
        return section == "dns"

    def missing(self, programs):
        return None if shutil.which("dnsmasq") else "dnsmasq (package dnsmasq-base) is not installed"

    def start_names(self, lab):
        return [lab.spawn(lab.gw, [
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
            "--pid-file=", f"--listen-address={LAN}", "--bind-interfaces", f"--server={NET}", "--cache-size=10000",
            "--dns-forward-max=1024"])]


class Peer(Tunnel):
    """Any other tunnel, given as NAME=COMMAND with placeholders.

    The command runs in the gateway's namespace and makes the device {tun}. Placeholders: {tun}, {upstream_host},
    {upstream_port} (CONNECT and SOCKS5 on one port), {netns} (the gateway's), {dir} (scratch), {lan}, {wan}, {mtu}.
    """

    def __init__(self, text):
        self.name, found, self.command = text.partition("=")
        if not found or not self.name or not self.command:
            raise LabError(f"--peer wants NAME=COMMAND, not {text!r}")

    def start(self, lab, upstream_port):
        values = {"tun": TUNNEL, "upstream_host": WAY_OUT, "upstream_port": str(upstream_port), "netns": lab.gw,
                  "dir": lab.directory, "lan": LAN, "wan": WAN, "mtu": "1500"}
        command = self.command
        for key, value in values.items():
            command = command.replace("{" + key + "}", value)
        process = lab.spawn(lab.gw, ["sh", "-c", "exec " + command])
        self.route(lab, TUNNEL)
        return [process]


def known():
    """The gateways that need no command line, ours first."""
    return [Starship(), Unlisted(), Routed(), Switched(), Paged(), Gateway(), Router(), Redsocks(), HAProxy(), Pasta(),
            Slirp(), Dnsmasq()]
