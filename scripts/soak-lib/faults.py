"""What is broken while the devices go on: each fault is made, lasts for a while, and is undone."""
import signal
import time


def killed_upstream(profile):
    def fault(lab, seconds):
        lab.load.send_signal(signal.SIGUSR2)
        lab.stop(lab.proxies[profile], signal.SIGKILL)
        time.sleep(seconds)
        lab.start_proxy(profile)

    return fault


def dead_resolver(lab, seconds):
    lab.stop(lab.resolver, signal.SIGKILL)
    time.sleep(seconds)
    lab.start_resolver()


def silent_resolver(lab, seconds):
    lab.resolver.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    lab.resolver.send_signal(signal.SIGCONT)


def lan_down(lab, seconds):
    lab.ip("gateway", "link", "set", "lan", "down")
    time.sleep(seconds / 3)
    lab.ip("gateway", "link", "set", "lan", "up")
    lab.ip("gateway", "address", "replace", "fd00:9::1/64", "dev", "lan", "nodad")


def uplink_down(lab, seconds):
    lab.ip("gateway", "link", "set", "wan", "down")
    time.sleep(seconds / 3)
    lab.ip("gateway", "link", "set", "wan", "up")
    lab.ip("gateway", "route", "replace", "default", "via", "10.77.0.2")
    lab.ip("gateway", "address", "replace", "fd00:77::1/64", "dev", "wan", "nodad")


def bad_link(lab, seconds):
    lab.stop(lab.emulator)
    lab.emulate("--loss", "0.03", "--reorder", "0.1", "--duplicate", "0.02", "--corrupt", "0.005", "--delay", "5")
    time.sleep(2 * seconds)
    lab.stop(lab.emulator)
    lab.emulate()


def stopped(lab, seconds):
    lab.daemon.send_signal(signal.SIGSTOP)
    time.sleep(1)
    lab.daemon.send_signal(signal.SIGCONT)


def reloaded(lab, seconds):
    lab.configure(remark=f"{time.time()}")
    lab.daemon.send_signal(signal.SIGHUP)


def aborted_clients(lab, seconds):
    lab.load.send_signal(signal.SIGUSR1)


FAULTS = {
    "upstream a killed": killed_upstream("a"),
    "clients aborted": aborted_clients,
    "resolver killed": dead_resolver,
    "link loses, reorders, doubles": bad_link,
    "SIGSTOP for 1 s": stopped,
    "upstream b killed": killed_upstream("b"),
    "LAN down and up": lan_down,
    "reload": reloaded,
    "uplink down and up": uplink_down,
    "resolver silent": silent_resolver,
}


def switches(lab, random):
    """One switch after the other: of all devices, and of one."""
    number = 0
    while True:
        number += 1
        profile = ("b", "a", "all")[number % 3]
        device = f"10.9.0.{10 + random.randrange(lab.devices)}"
        if number % 2:
            yield f"use {profile} --all", ("use", profile, "--all")
        else:
            yield f"use {profile} --device", ("use", profile, "--device", device, "--for", "1m")
