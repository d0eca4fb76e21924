/* view_source.js -- the source of a kernel: the line that runs, the conflicts of each line, and a
 * button at each barrier. */
"use strict";
const { make, replace, makeLater } = require("./dom.js");
const { coloured, linesOf } = require("./lexer.js");
const { codeText } = require("./values.js");

const MOST_LINES = 600;

/* What stands beside the lines of a file, as children of an element: sums of conflicts (loads and
 * stores), and findings. */
function notesByLine(record, findings, name) {
    const sums = new Map();
    for (const { file, line, counters } of record ? record.lines : []) {
        if (file.split("/").pop() !== name) continue;
        const excess = (part) => part.wavefronts - part.ideal_wavefronts;
        const ld = excess(counters.shared_load), st = excess(counters.shared_store);
        if (ld + st)
            sums.set(line, [`${ld} + ${st}`, make("span", { class: "unit" }, " conflicts")]);
    }
    for (const [key, text] of findings) {
        const [file, line] = key.split(/:(\d+)$/);
        if (file !== name) continue;
        const before = sums.get(Number(line));
        sums.set(Number(line), before ? [before, `; ${text}`] : text);
    }
    return sums;
}

function barrierButton(barrier, isOff, toggle) {
    const name = barrier.isWarp ? "__syncwarp" : "barrier";
    const what = `${isOff ? "Restore" : "Remove"} the ${name} in line ${barrier.line}`;
    return make("button", { class: "barrier", "aria-pressed": String(isOff), "aria-label": what,
                            "data-line": barrier.line, "data-key": barrier.line,
                            onclick: toggle },
                isOff ? "restore" : "remove");
}

/* Which lines of a text are shown: all, or those around one. */
function windowOf(count, line) {
    if (count <= MOST_LINES) return [1, count];
    const first = Math.max(1, Math.min(line - MOST_LINES / 2, count - MOST_LINES + 1));
    return [first, first + MOST_LINES - 1];
}

/* findings: a map from "file:line" to a text; barriers: by line; off(line) says whether it is
 * removed; toggle(line) changes that. */
function makeSource(host) {
    let lines = new Map(), current = null, shown = null;
    const later = makeLater();

    function rowOf(line) {
        const barrier = shown.barriers.get(line), isOff = barrier !== undefined && shown.off(line);
        return make("tr", { "data-line": line, class: isOff ? "off" : "" },
            make("th", { scope: "row" }, String(line)),
            make("td", {}, make("code", {}, shown.texts[line - 1].map(coloured)), " ",
                 barrier ? barrierButton(barrier, isOff, () => shown.toggle(line)) : null, " ",
                 make("span", { class: "note" }, shown.sums.get(line) || "")));
    }

    /* Shows a line, and as many around it as the page can. */
    function showAround(line) {
        const [first, last] = windowOf(shown.texts.length, line), count = shown.texts.length;
        const part = count > last - first + 1 ? ` (lines ${first} to ${last} of ${count})` : "";
        lines = new Map();
        current = null;
        for (let k = first; k <= last; k++) lines.set(k, rowOf(k));
        replace(host, make("table", { class: "source" },
                           make("caption", {}, `Source: ${shown.name}${part}`),
                           make("tbody", {}, [...lines.values()])));
    }

    /* Shows a text, and scrolls to a line of it. */
    function show(name, text, { record, findings }, barriers, off, toggle, line) {
        shown = { name, texts: linesOf(text.split("\n").map(codeText).join("\n")),
                  sums: notesByLine(record, findings, name), barriers, off, toggle };
        showAround(line);
        scrollTo(lines.get(line));
    }

    /* Marks the line that runs; the panel alone scrolls to it. */
    function mark(line, hasConflict) {
        if (current) {
            current.classList.remove("runs", "conflict");
            current.removeAttribute("aria-current");
        }
        if (shown && line > 0 && line <= shown.texts.length && !lines.has(line)) showAround(line);
        current = lines.get(line) || null;
        if (!current) return;
        current.classList.add("runs");
        if (hasConflict) current.classList.add("conflict");
        current.setAttribute("aria-current", "step");
        scrollTo(current);
    }
    /* A removed barrier near the line stays in sight. */
    function scrollTo(row) {
        if (row) later(() => {
            const off = host.querySelector("tr.off"), height = host.clientHeight;
            const between = off ? off.offsetTop - row.offsetTop : 0;
            const both = Math.abs(between) < height - 2 * row.offsetHeight ? between / 2 : 0;
            host.scrollTop = row.offsetTop + both - height / 2;
        });
    }
    return { show, mark };
}

module.exports = { makeSource };
