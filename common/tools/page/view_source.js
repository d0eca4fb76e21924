/*
 * view_source.js -- the source of a kernel, and the counters and findings of each of its lines.
 */
"use strict";
const { make, replace, makeLater, table } = require("./dom.js");
const { coloured, linesOf } = require("./editor.js");
const { codeText } = require("./texts.js");

/* ---- the source ------------------------------------------------------------------------------ */
/* The line that runs, the conflicts of each line, and a button at each barrier. */

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
                 isOff ? `${shown.verdict} ` : "",
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
    function show(name, text, { record, findings, verdict }, barriers, off, toggle, line) {
        shown = { name, texts: linesOf(text.split("\n").map(codeText).join("\n")),
                  sums: notesByLine(record, findings, name), barriers, off, toggle, verdict };
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

/* ---- the lines ------------------------------------------------------------------------------- */
/* The counters and the findings of each source line. */

const HEADS = ["line", "code", "conflicts, loads + stores", "wavefronts, loads + stores",
               "requests to global memory", "sectors", "findings"];
const baseName = (path) => path.split("/").pop();
const excess = (part) => part.wavefronts - part.ideal_wavefronts;

/* The findings that name a line as the place of an access: a map from "file:line" to a text. */
function findingsByLine(document) {
    const found = new Map();
    for (const finding of document ? document.findings : [])
        for (const place of [finding.place, finding.other_place]) {
            if (!place || !place.file || !place.line) continue;
            const key = `${baseName(place.file)}:${place.line}`;
            const tools = found.get(key) || new Map();
            tools.set(finding.tool, (tools.get(finding.tool) || 0) + 1);
            found.set(key, tools);
        }
    return new Map([...found].map(([key, tools]) =>
        [key, [...tools].map(([tool, count]) => `${tool}: ${count}`).join(", ")]));
}

/* What a line adds to the counters, as cells; null: nothing that is shown. */
function countsOf(counters) {
    const { shared_load: ld, shared_store: st } = counters;
    const globals = [counters.global_load, counters.global_store, counters.global_atomic,
                     counters.global_reduction];
    const sum = (name) => globals.reduce((total, one) => total + one[name], 0);
    if (!ld.instructions && !st.instructions && !sum("requests")) return null;
    const isShared = ld.instructions + st.instructions > 0;
    return [isShared ? `${excess(ld)} + ${excess(st)}` : "",
            isShared ? `${ld.wavefronts} + ${st.wavefronts}` : "",
            sum("requests") || "", sum("sectors") || ""].map(String);
}

/* The code of a line, from texts by file names. */
function codeOf(sources, name, line) {
    const path = Object.keys(sources).find((one) => baseName(one) === name);
    const text = path ? sources[path].split("\n")[line - 1] : "";
    return codeText(text || "").trim();
}

/* A table of all lines that access memory or are named by findings; null: there is no such line. */
function linesTable(record, document, sources) {
    const findings = findingsByLine(document), rows = new Map();
    for (const { file, line, counters } of record ? record.lines : []) {
        const counts = countsOf(counters);
        if (counts) rows.set(`${baseName(file)}:${line}`, counts);
    }
    for (const key of findings.keys()) if (!rows.has(key)) rows.set(key, ["", "", "", ""]);
    if (!rows.size) return null;
    const split = (key) => [key.slice(0, key.lastIndexOf(":")), Number(key.split(":").pop())];
    const keys = [...rows.keys()].sort((a, b) => {
        const [file, line] = split(a), [otherFile, otherLine] = split(b);
        return file < otherFile ? -1 : file > otherFile ? 1 : line - otherLine;
    });
    return table("Counters and findings of each line", HEADS, keys.map((key) =>
        [key, codeOf(sources, ...split(key)), ...rows.get(key), findings.get(key) || ""]));
}

module.exports = { makeSource, linesTable, findingsByLine };
