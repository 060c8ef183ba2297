"""A phone's browser in front of the page: headless Chromium, driven over DevTools by a pipe.

    page.py PROFILE NAME=ADDRESS... <COMMANDS   does the commands, one a line, and prints a line of JSON for each
    page.py flood URL COUNT                     so many requests, one after the other: prints how often each status
                                                came, and the seconds
    page.py hostile ADDRESS GATEWAY FIELDS      a site whose pages have a browser send whatever it can to GATEWAY, a
                                                URL, with FIELDS in each form: / by itself, /form goes there,
                                                a second after it was looked at

The browser keeps its things in the directory PROFILE, and finds these names at these addresses; all others it asks the
device's resolver for. Commands:

    dark, light        the phone's colours
    script, no-script  with JavaScript, or without
    open URL           opens a page:                                   {"status": 200, "url": …, "title": …}
    begin URL          the same, and does not wait for its images
    type NAME TEXT     types into the field of that name
    field NAME         {"value": what is typed there, "words": what describes it, "invalid": whether it is marked}
    press LABEL        taps the button or link with that text:         as `open`
    tick LABEL         taps the box with that label:                   whether it is ticked now
    until TEXT         waits until the page shows a text by itself
    again TEXT         loads the page anew until it shows a text
    text               all text of the page
    post URL FIELDS    what a page's own form of these fields gets:    status
    source URL         what a page's own request of a URL gets:        {"type": …, "base64": …}
    look               {"width", "content": pixels, "back": colour, "low": what is tapped and lower than
                       44 pixels, "state": the classes of the proxy's state}
    axe FILE           what axe-core (its script) finds wrong:         ["rule: element", …]
    photo FILE         a picture of the whole page (PNG)
    wait SECONDS       lets the page go on
    answers [COUNT URL]  what has come since the last time, once there are COUNT answers of URLs that begin so:
                                                                       ["POST URL 403", …]
    frames [COUNT]     the frames that show nothing but an error, once there are so many:  [URL, …]
"""

import base64
import collections
import http.client
import http.server
import json
import os
import select
import subprocess
import sys
import time
import urllib.parse

# A phone shows a page at once; a machine that is busy with other tests takes its time.
PATIENCE = 40
# A page on the Internet may well ask an address of a LAN: that is what the page has to bear.
OPEN = "LocalNetworkAccessChecks,PrivateNetworkAccessRespectPreflightResults,BlockInsecurePrivateNetworkRequests"
FIND = """(() => {
    const wanted = LABEL;
    const found = [...document.querySelectorAll(KINDS)].filter(one => one.textContent.trim() === wanted);
    if (found.length !== 1) return null;
    found[0].scrollIntoView({ block: "center" });
    const place = found[0].getBoundingClientRect();
    return [place.x + place.width / 2, place.y + place.height / 2];
})()"""
FIELD = """(() => {
    const field = document.getElementsByName(NAME)[0];
    const words = (field.getAttribute("aria-describedby") ?? "").split(" ")
        .map(id => document.getElementById(id)?.textContent ?? "").join(" ");
    return { value: field.value, words, invalid: field.getAttribute("aria-invalid") === "true" };
})()"""
TICKED = """[...document.querySelectorAll("label")].find(one => one.textContent.trim() === LABEL).control.checked"""
LOOK = """(() => {
    const low = [...document.querySelectorAll("button, .button, nav a, input[type=text], summary")]
        .filter(one => one.getBoundingClientRect().height < 43.5 && one.offsetParent).map(one => one.outerHTML);
    return { width: innerWidth, content: document.documentElement.scrollWidth,
             back: getComputedStyle(document.body).backgroundColor, low,
             state: document.querySelector("div.status")?.className ?? "" };
})()"""
AXE = """axe.run(document).then(found => found.violations.flatMap(
    rule => rule.nodes.map(node => rule.id + ": " + node.html + " " + node.failureSummary)))"""
SOURCE = """fetch(PLACE, { cache: "no-store" }).then(async answer => {
    const octets = new Uint8Array(await answer.arrayBuffer());
    return { type: answer.headers.get("Content-Type"), base64: btoa(String.fromCharCode(...octets)) };
})"""

# How the browser says that the page which was asked is gone.
LEAVING = "navigated or closed", "context was destroyed", "Cannot find context"

POST = """fetch(PLACE, { method: "POST", body: new URLSearchParams(FIELDS) }).then(answer => answer.status)"""

# Each form of the page, and what GET could be mistaken for one.
ACTIONS = ["switch", "a", "release", "try", "extend", "hand-over", "name", "direct", "proxy", "learn", "learn/add",
           "adhoc", "l"]
HOSTILE = """<!doctype html><title>hostile</title>
<iframe src="GATEWAY/"></iframe> <iframe name="inside"></iframe>
IMAGES
<form method="post" target="inside" action="GATEWAY/switch">FIELDS</form>
<form method="post" target="inside" action="GATEWAY/switch" enctype="text/plain">FIELDS</form>
<script>
const sent = ACTIONS.map(action => fetch("GATEWAY/" + action, { method: "POST", mode: "no-cors", credentials: "include",
    body: new URLSearchParams("QUERY") }).catch(() => null));
for (const form of document.forms) form.submit();
</script>"""
GOING = """<!doctype html><form method="post" action="GATEWAY/switch">FIELDS</form>
<script>onload = () => setTimeout(() => document.forms[0].submit(), 1000)</script>"""


class Browser:
    def __init__(self, profile, names):
        theirs, to_browser = os.pipe()
        from_browser, theirs_too = os.pipe()

        def take_ends():
            # The numbers that the browser expects; a descriptor that is there already must not be lost.
            ends = os.dup(theirs), os.dup(theirs_too)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        rules = ", ".join("MAP %s %s" % tuple(name.split("=", 1)) for name in names)
        self.program = subprocess.Popen(
            ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", f"--disable-features={OPEN}", "--no-proxy-server",
             "--disable-background-networking", "--disable-site-isolation-trials", "--disable-dev-shm-usage",
             *([f"--host-resolver-rules={rules}"] if rules else []), "about:blank"],
            preexec_fn=take_ends, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(theirs_too)
        self.output, self.input = to_browser, from_browser
        self.buffer, self.number = b"", 0
        self.events, self.status, self.has_script = [], 0, True
        # What was asked and what came, in the order of its redirections.
        self.requests, self.statuses = collections.defaultdict(list), collections.defaultdict(list)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Network", "Runtime":
            self.ask(f"{domain}.enable")
        self.frame = self.ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.ask("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)

    # The pipe: messages of JSON, each ending in a NUL

    def read(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise EOFError("the browser has gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        values = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                request = values["request"]
                self.requests[values["requestId"]].append(f"{request['method']} {request['url']}")
            case "Network.responseReceivedExtraInfo":
                # Also of an answer that the browser gives to nobody; its order among the others is free.
                self.statuses[values["requestId"]].append(values["statusCode"])
            case "Network.responseReceived" if values.get("frameId") == self.frame and values["type"] == "Document":
                self.status = values["response"]["status"]
        self.events.append(event)

    def run(self, script, once=False):
        """What a script gives; of a page that is just leaving the next one is asked, unless the script changes something."""
        for attempt in range(20):
            try:
                found = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
                break
            except RuntimeError as error:
                if once or attempt == 19 or not any(words in str(error) for words in LEAVING):
                    raise
                self.wait(0.2)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"])[:1000])
        return found["result"].get("value")

    # What a person does

    def loaded(self, event="Page.loadEventFired"):
        """Waits until a page is there, and says which."""
        deadline = time.monotonic() + PATIENCE
        while not any(seen.get("method") == event for seen in self.events):
            self.note(self.read(deadline))
        return {"status": self.status, "url": self.run("location.href"), "title": self.run("document.title")}

    def leave(self):
        self.events.clear()
        self.status = 0

    def open(self, url, event="Page.loadEventFired"):
        for _ in range(2):
            self.leave()
            failed = self.ask("Page.navigate", url=url).get("errorText")
            # A browser that stood still for a while takes a name's answer for overdue: a person tries again.
            if failed != "net::ERR_NAME_NOT_RESOLVED":
                break
        return {"status": 0, "url": url, "title": failed} if failed else self.loaded(event)

    def begin(self, url):
        return self.open(url, "Page.domContentEventFired")

    def tap(self, label, kinds):
        place = self.run(FIND.replace("LABEL", json.dumps(label)).replace("KINDS", json.dumps(kinds)))
        if not place:
            raise RuntimeError(f"there is no single {kinds} {label!r}: {self.text()!r}")
        self.leave()
        for kind in "mousePressed", "mouseReleased":
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, label):
        self.tap(label, "button, a")
        return self.loaded()

    def tick(self, label):
        self.tap(label, "label")
        return self.run(TICKED.replace("LABEL", json.dumps(label)))

    def field(self, name):
        return self.run(FIELD.replace("NAME", json.dumps(name)))

    def until(self, text, do=lambda: None):
        deadline = time.monotonic() + PATIENCE
        while text not in self.text():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {text!r} came: {self.text()!r}")
            self.wait(0.3)
            do()

    def again(self, text):
        self.until(text, self.reload)

    def reload(self):
        self.leave()
        self.ask("Page.reload")
        self.loaded()

    def type(self, words):
        name, text = words.split(" ", 1)
        self.run(f"(field => {{ field.value = ''; field.focus() }})(document.getElementsByName({json.dumps(name)})[0])")
        self.ask("Input.insertText", text=text)

    def text(self, _=""):
        return self.run("document.body.innerText")

    def source(self, url):
        return self.run(SOURCE.replace("PLACE", json.dumps(url)), once=True)

    def post(self, words):
        url, fields = words.split(" ", 1)
        return self.run(POST.replace("PLACE", json.dumps(url)).replace("FIELDS", json.dumps(fields)), once=True)

    def look(self, _):
        return self.run(LOOK)

    def axe(self, file):
        # It is a script itself, whatever the page may have.
        self.ask("Emulation.setScriptExecutionDisabled", value=False)
        if not self.run("typeof axe === 'object'"):
            with open(file, encoding="utf-8") as script:
                self.run(script.read() + "; null")
        found = self.run(AXE)
        self.scripts(self.has_script)
        return found

    def scripts(self, are_run):
        self.has_script = are_run
        self.ask("Emulation.setScriptExecutionDisabled", value=not are_run)

    def photo(self, file):
        picture = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(file, "wb") as place:
            place.write(base64.b64decode(picture))

    def colours(self, value):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def answers(self, words):
        count, _, start = words.partition(" ")
        seen = self.enough(int(count or 0), self.answered, lambda answer: answer.partition(" ")[2].startswith(start))
        self.requests.clear()
        self.statuses.clear()
        return seen

    def answered(self):
        return [f"{asked} {status}" for request, all_asked in self.requests.items()
                for asked, status in zip(all_asked, self.statuses[request])]

    def frames(self, count):
        return self.enough(int(count or 0), self.broken_frames)

    def broken_frames(self):
        children = self.ask("Page.getFrameTree")["frameTree"].get("childFrames", [])
        return [child["frame"]["unreachableUrl"] for child in children if child["frame"].get("unreachableUrl")]

    def enough(self, count, look, counts=lambda _: True):
        """Looks until so much is there that counts, and a moment longer, for what there should not be."""
        deadline = time.monotonic() + PATIENCE
        while sum(map(counts, look())) < count and time.monotonic() < deadline:
            self.wait(0.2)
        self.wait(0.5)
        return look()

    def wait(self, seconds):
        # What the browser says meanwhile is heard; the page is not asked for anything, because it may be leaving.
        deadline = time.monotonic() + float(seconds)
        while time.monotonic() < deadline:
            try:
                self.note(self.read(deadline))
            except TimeoutError:
                return

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
            self.program.wait(5)
        finally:
            self.program.kill()
            self.program.wait()


def drive(profile, names):
    browser = Browser(profile, names)
    commands = {
        "dark": lambda _: browser.colours("dark"), "light": lambda _: browser.colours("light"),
        "script": lambda _: browser.scripts(True), "no-script": lambda _: browser.scripts(False)}
    try:
        for line in sys.stdin.read().splitlines():
            word, _, rest = line.partition(" ")
            do = commands.get(word) or getattr(browser, word)
            print(json.dumps(do(rest), sort_keys=True), flush=True)
    finally:
        browser.close()


def flood(url, count):
    place = urllib.parse.urlsplit(url)
    statuses = collections.Counter()
    start = time.monotonic()
    for _ in range(int(count)):
        connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=5)
        try:
            connection.request("GET", place.path)
            answer = connection.getresponse()
            answer.read()
        except ConnectionError:
            # Who has asked for too much has so many connections that it is not heard on.
            statuses["reset"] += 1
            continue
        finally:
            connection.close()
        statuses[answer.status] += 1
        if answer.status != 200:
            statuses["Retry-After " + answer.getheader("Retry-After", "none")] += 1
    print(json.dumps({**statuses, "seconds": time.monotonic() - start}))


def hostile(address, gateway, query):
    fields = "".join(f'<input name="{name}" value="{value}">' for name, value in urllib.parse.parse_qsl(query))
    images = "".join(f'<img src="{gateway}/{action}?{query}">' for action in ACTIONS)

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = {"/": HOSTILE, "/form": GOING}.get(self.path, "")
            values = {"ACTIONS": json.dumps(ACTIONS), "IMAGES": images, "FIELDS": fields, "QUERY": query,
                      "GATEWAY": gateway}
            for name, value in values.items():
                page = page.replace(name, value)
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page.encode())))
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer((address, 80), Site)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "hostile":
        hostile(*sys.argv[2:])
    elif sys.argv[1] == "flood":
        flood(*sys.argv[2:])
    else:
        drive(sys.argv[1], sys.argv[2:])
