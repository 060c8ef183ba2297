/// Pages as another program reads them: Python's parser, and the rules that it finds broken.

import TestSupport

/// What the other program says of a page.
enum HTMLReader {
    /// Reads pages and returns what is wrong with each, nothing where all is well.
    ///
    /// `text` has to come out as text in every page that is marked so.
    static func faults(in pages: [(name: String, html: String)], with text: String?) throws -> String {
        let scratch = try Scratch()
        try Scratch.put(Array(program.utf8), scratch.path("check.py"))
        for page in pages { try Scratch.put(Array(page.html.utf8), scratch.path("\(page.name).html")) }
        let run = try Command.run(
            ["python3", "check.py"] + pages.map { "\($0.name).html" }, in: scratch.directory,
            input: Array((text ?? "").utf8))
        return String(decoding: run.output, as: UTF8.self) + run.errors
            + (run.status == 0 ? "" : "status \(run.status)")
    }

    private static let program = #"""
        import re, sys
        from html.parser import HTMLParser

        VOID = {"img", "input", "link", "meta"}
        WANTED = sys.stdin.buffer.read().decode()


        class Reader(HTMLParser):
            def __init__(self):
                super().__init__(convert_charrefs=True)
                self.stack, self.faults, self.ids, self.refs, self.labels = [], [], [], [], []
                self.count, self.data, self.levels, self.fields, self.texts = {}, "", [], [], {}
                self.form = None

            def handle_starttag(self, tag, attrs):
                names = [name for name, _ in attrs]
                values = dict(attrs)
                self.count[tag] = self.count.get(tag, 0) + 1
                if len(set(names)) != len(names):
                    self.faults.append(f"{tag}: an attribute twice")
                for name, value in attrs:
                    if name.startswith("on") or name == "style" or not re.fullmatch("[a-zA-Z-]+", name):
                        self.faults.append(f"{tag}: attribute {name}")
                    if name in ("href", "src", "action") and not re.match("(/|http://)", value or ""):
                        self.faults.append(f"{tag}: {name} {value}")
                if "id" in values:
                    self.ids.append(values["id"])
                for name in ("for", "aria-describedby", "aria-labelledby"):
                    self.refs += (values.get(name) or "").split()
                if tag == "label":
                    self.labels.append(values.get("for"))
                if tag == "script" and values.get("src") != "/page.js":
                    self.faults.append("a script of another")
                if tag == "html" and values.get("lang") != "en":
                    self.faults.append("no language")
                if tag == "th" and values.get("scope") not in ("row", "col"):
                    self.faults.append("th without scope")
                if tag == "img" and not values.get("alt"):
                    self.faults.append("img without alt")
                if tag == "form":
                    self.form = {"method": values.get("method"), "token": False, "button": False}
                if tag == "input" and values.get("name") == "token":
                    self.form["token"] = bool(re.fullmatch("[A-Za-z0-9_-]{43}", values.get("value") or ""))
                if tag == "button":
                    self.form["button"] = True
                if tag in ("input", "textarea") and values.get("type") != "hidden":
                    self.fields.append(values.get("id"))
                if re.fullmatch("h[1-6]", tag):
                    self.levels.append(int(tag[1]))
                if tag == "a" and "a" in self.stack or tag == "form" and "form" in self.stack:
                    self.faults.append(f"{tag} in {tag}")
                if tag in ("p", "ul", "ol", "dl", "div", "details", "section", "form") and "p" in self.stack:
                    self.faults.append(f"{tag} in p")
                if tag not in VOID:
                    self.stack.append(tag)
                    self.texts[len(self.stack)] = ""

            def handle_endtag(self, tag):
                if not self.stack or self.stack[-1] != tag:
                    self.faults.append(f"</{tag}> behind {self.stack[-3:]}")
                    return
                text = self.texts[len(self.stack)].strip()
                if tag in ("title", "button", "a", "label", "h1", "h2", "h3", "th", "summary", "legend") and not text:
                    self.faults.append(f"{tag} without text")
                if tag == "form":
                    if self.form["method"] != "post" or not self.form["token"] or not self.form["button"]:
                        self.faults.append(f"form {self.form}")
                self.stack.pop()
                if self.stack and tag != "form":
                    self.texts[len(self.stack)] += text

            def handle_data(self, data):
                self.data += data
                if self.stack:
                    self.texts[len(self.stack)] += data
                elif data.strip():
                    self.faults.append(f"text outside: {data!r}")

            def handle_comment(self, data):
                self.faults.append("a comment")

            def finish(self):
                for tag in ("html", "head", "title", "body", "main", "h1"):
                    if self.count.get(tag) != 1:
                        self.faults.append(f"{self.count.get(tag, 0)} of {tag}")
                if self.stack:
                    self.faults.append(f"open: {self.stack}")
                if len(set(self.ids)) != len(self.ids):
                    self.faults.append("an id twice")
                for ref in self.refs:
                    if ref not in self.ids:
                        self.faults.append(f"nothing has the id {ref}")
                for field in self.fields:
                    if field not in self.labels:
                        self.faults.append(f"no label for {field}")
                for before, after in zip([0] + self.levels, self.levels):
                    if after > before + 1:
                        self.faults.append(f"h{after} behind h{before}")


        for name in sys.argv[1:]:
            html = open(name, encoding="utf-8", newline="").read()
            reader = Reader()
            if not html.startswith("<!DOCTYPE html>\n<html"):
                reader.faults.append("no doctype")
            if re.search("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]", html):
                reader.faults.append("a character that nobody sees")
            reader.feed(html)
            reader.close()
            reader.finish()
            if WANTED and WANTED not in reader.data:
                reader.faults.append("the text is not there as text")
            for fault in reader.faults:
                print(f"{name}: {fault}")
        """#
}
