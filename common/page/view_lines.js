/* view_lines.js -- the counters and the findings of each source line. */
"use strict";
const { table } = require("./dom.js");
const { codeText } = require("./values.js");

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

module.exports = { linesTable, findingsByLine };
