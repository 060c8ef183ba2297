/// How pages look: on a phone first, in light and in dark, and on paper.
///
/// Colours stand once, in light and dark; the pairs that stand on each other have the contrast of WCAG 2.2, level AA:
/// 4.5 for text (1.4.3), 3 for the edges of fields and buttons (1.4.11). A status is a sign and a word, and only then
/// a colour. What is tapped is 44 pixels high.

enum PageStyle {
    static let text = """
        :root {
          color-scheme: light dark;
          --page: #ffffff; --card: #f3f5f8; --text: #1b1f24; --quiet: #515a64; --link: #0a4fbf; --edge: #6e7781;
          --main: #0b57d0; --on-main: #ffffff; --focus: #a34700;
          --green: #0f5f27; --yellow: #724800; --red: #a10c24; --grey: #515a64;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0d1117; --card: #171d26; --text: #e6edf3; --quiet: #a5afb9; --link: #86bdff; --edge: #8b949e;
            --main: #1a5fd0; --on-main: #ffffff; --focus: #ffb86b;
            --green: #56d364; --yellow: #e3b341; --red: #ff8f87; --grey: #a5afb9;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body {
          margin: 0 auto; max-width: 44rem; padding: 0 1rem 2rem;
          background: var(--page); color: var(--text);
          font: 1.0625rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
        }
        header p { margin: .75rem 0; font-weight: 600; }
        h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0 1rem; }
        h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .5rem; }
        h3 { font-size: 1.0625rem; margin: 1rem 0 .25rem; }
        p, ul, ol, dl { margin: 0 0 .75rem; }
        ul, ol { padding-left: 1.4rem; }
        a { color: var(--link); }
        header a, nav a { display: inline-flex; align-items: center; min-height: 44px; }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        .card, .notice { background: var(--card); border-radius: .75rem; padding: 1rem; margin: 0 0 1rem; }
        .card > :last-child, .notice > :last-child { margin-bottom: 0; }
        .notice { border-left: .375rem solid var(--main); }
        .status { border-left: .375rem solid var(--grey); }
        div.status { padding-left: .75rem; margin-bottom: .75rem; }
        div.status > :last-child { margin-bottom: 0; }
        .status.green { border-color: var(--green); }
        .status.yellow { border-color: var(--yellow); }
        .status.red { border-color: var(--red); }
        .state { font-weight: 700; }
        .green .state, .state.green { color: var(--green); }
        .yellow .state, .state.yellow { color: var(--yellow); }
        .red .state, .state.red { color: var(--red); }
        .grey .state, .state.grey { color: var(--grey); }
        .big { font-size: 1.25rem; margin-bottom: .5rem; }
        .hint { display: block; color: var(--quiet); font-size: .9375rem; }
        .field .hint, .error { margin-bottom: .375rem; }
        .error { display: block; color: var(--red); }
        dl { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: .25rem 1rem; }
        dt { color: var(--quiet); }
        dd { margin: 0; }
        form { margin: 0 0 .75rem; }
        button, .button, summary { min-height: 44px; }
        button, .button {
          display: inline-flex; align-items: center; justify-content: center; width: 100%; padding: .5rem 1rem;
          border: 1px solid var(--edge); border-radius: .5rem; background: var(--page); color: var(--text);
          font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
        }
        button.main, .button { background: var(--main); border-color: var(--main); color: var(--on-main); }
        td button, td .button { font-size: .9375rem; padding: .25rem .5rem; }
        .field { margin: 0 0 1rem; }
        label, legend { font-weight: 600; }
        .field label { display: block; }
        fieldset { border: 1px solid var(--edge); border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem; }
        input[type=text], textarea {
          width: 100%; min-height: 44px; padding: .5rem .75rem; border: 1px solid var(--edge); border-radius: .5rem;
          background: var(--page); color: var(--text); font: inherit;
        }
        input[aria-invalid=true], textarea[aria-invalid=true] { border: 2px solid var(--red); }
        .tick { display: flex; align-items: center; gap: .75rem; min-height: 44px; }
        .tick input { width: 1.5rem; height: 1.5rem; flex: none; }
        summary { display: flex; align-items: center; gap: .5rem; font-weight: 600; cursor: pointer; }
        summary::before { content: "+"; }
        details[open] > summary::before { content: "\u{2212}"; }
        table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
        caption { text-align: left; font-weight: 600; padding: 0 0 .5rem; }
        th, td { padding: .5rem .5rem .5rem 0; text-align: left; vertical-align: top; }
        tr { border-bottom: 1px solid var(--edge); }
        thead th { color: var(--quiet); font-size: .9375rem; }
        tbody th { font-weight: 600; }
        th .hint { font-weight: 400; }
        td form { margin: .375rem 0 0; }
        pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9375rem; }
        pre { white-space: pre-wrap; background: var(--page); border: 1px solid var(--edge); border-radius: .5rem;
          padding: .75rem; }
        nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
        footer { border-top: 1px solid var(--edge); margin-top: 2rem; padding-top: .5rem; }
        figure { margin: 0 0 1.5rem; break-inside: avoid; }
        .codes { display: grid; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); gap: 1.5rem; }
        svg { display: block; width: 100%; max-width: 16rem; height: auto; background: #ffffff; }
        small { display: block; }
        .checks { display: flex; gap: .5rem; align-items: center; }
        iframe { border: 0; }
        .wide { overflow-x: auto; }
        .wide table { min-width: 42rem; overflow-wrap: normal; }
        .board { font-size: 1.25rem; }
        @media (min-width: 60rem) { body:has(.board) { max-width: none; } }
        @media print {
          body { max-width: none; background: #ffffff; color: #000000; }
          header, footer, .screen { display: none; }
          .codes { grid-template-columns: repeat(3, 1fr); gap: 6mm; }
          .codes svg { width: 50mm; }
        }

        """
}

/// What refreshes a page while somebody looks at it; without it a link does, and nothing else is missing.
///
/// It fetches the page again and takes over what bears `data-live`: markup of the same origin, made by the same code.
/// What has not changed stays as it is, so a screen reader says news alone, and what is being typed stays.
enum PageScript {
    static let text = """
        "use strict";
        (function () {
          var marked = "[data-live]";
          var seconds = document.querySelector("[data-live=board]") ? 5 : 3;
          var isBusy = false;
          if (!document.querySelector(marked + ":not(input)")) { return; }
          function take(text) {
            var fresh = new DOMParser().parseFromString(text, "text/html");
            document.querySelectorAll(marked).forEach(function (old) {
              var name = old.getAttribute("data-live");
              var other = fresh.querySelector("[data-live='" + name + "']");
              if (!other) { return; }
              if (old.tagName === "INPUT") { old.value = other.value; return; }
              if (old.innerHTML === other.innerHTML || old.contains(document.activeElement)) { return; }
              old.className = other.className;
              old.replaceChildren.apply(old, Array.from(other.childNodes));
            });
          }
          function refresh() {
            if (isBusy || document.hidden) { return; }
            isBusy = true;
            fetch(location.pathname + location.search, { cache: "no-store", credentials: "omit", redirect: "error" })
              .then(function (answer) { return answer.ok ? answer.text().then(take) : null; })
              .catch(function () { return null; })
              .then(function () { isBusy = false; });
          }
          setInterval(refresh, seconds * 1000);
        })();

        """
}
