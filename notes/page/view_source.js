/* view_source.js -- the source of a kernel: the line that runs, the conflicts of each line, and a
 * button at each barrier. */
"use strict";
const { make, replace, makeLater } = require("./dom.js");
const { codeText } = require("./values.js");

/* What stands beside the lines of a file: sums of conflicts (loads and stores), and findings. */
function notesByLine(record, findings, name) {
    const sums = new Map();
    for (const { file, line, counters } of record ? record.lines : []) {
        if (file.split("/").pop() !== name) continue;
        const excess = (part) => part.wavefronts - part.ideal_wavefronts;
        const ld = excess(counters.shared_load), st = excess(counters.shared_store);
        if (ld + st) sums.set(line, `${ld} + ${st} conflicts`);
    }
    for (const [key, text] of findings) {
        const [file, line] = key.split(/:(\d+)$/);
        if (file !== name) continue;
        const before = sums.get(Number(line));
        sums.set(Number(line), before ? `${before}; ${text}` : text);
    }
    return sums;
}

function barrierButton(barrier, isOff, toggle) {
    const name = barrier.isWarp ? "__syncwarp" : "barrier";
    const what = `${isOff ? "Restore" : "Remove"} the ${name} in line ${barrier.line}`;
    return make("button", { class: "barrier", "aria-pressed": String(isOff), "aria-label": what,
                            title: what, "data-line": barrier.line, "data-key": barrier.line,
                            onclick: toggle },
                isOff ? "restore" : "remove");
}

/* findings: a map from "file:line" to a text; barriers: by line; off(line) says whether it is
 * removed; toggle(line) changes that. */
function makeSource(host) {
    let lines = new Map(), current = null;
    const later = makeLater();

    function show(name, text, { record, findings }, barriers, off, toggle) {
        const sums = notesByLine(record, findings, name);
        lines = new Map();
        current = null;
        const body = make("tbody");
        text.split("\n").forEach((code, k) => {
            const line = k + 1, barrier = barriers.get(line);
            const isOff = barrier !== undefined && off(line);
            const row = make("tr", { "data-line": line, class: isOff ? "off" : "" },
                make("th", { scope: "row" }, String(line)),
                make("td", { class: "note" }, sums.get(line) || "",
                     barrier ? barrierButton(barrier, isOff, () => toggle(line)) : null),
                make("td", {}, make("code", {}, codeText(code))));
            lines.set(line, row);
            body.append(row);
        });
        replace(host, make("table", { class: "source" },
                           make("caption", {}, `Source: ${name}`), body));
    }

    /* Marks the line that runs; the panel alone scrolls to it. */
    function mark(line, hasConflict) {
        if (current) {
            current.classList.remove("runs", "conflict");
            current.removeAttribute("aria-current");
        }
        current = lines.get(line) || null;
        if (!current) return;
        current.classList.add("runs");
        if (hasConflict) current.classList.add("conflict");
        current.setAttribute("aria-current", "step");
        const row = current;
        later(() => { host.scrollTop = row.offsetTop - host.clientHeight / 2; });
    }
    /* Scrolls to a line that is not marked. */
    function reveal(line) {
        const row = lines.get(line);
        if (row && !current)
            later(() => { host.scrollTop = row.offsetTop - host.clientHeight / 2; });
    }
    return { show, mark, reveal };
}

module.exports = { makeSource };
