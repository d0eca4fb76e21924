/*
 * places.js -- the source line of each line of a PTX text, by the emulator's rule
 * (common/emu/ptx/ptx_function.c): code of a toolkit header counts for the line that has called it,
 * and code of the compiler's own (line 0) for the line before.
 */
"use strict";

const FILE = /\.file\s+(\d+)\s+"([^"]*)"/;
const LOC = /^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?/;

const isToolkit = (path) => (path || "").includes("/include/");

/* For each line of the text { file, line }, with the whole name of the file; "" and 0 before the
 * first place. */
function findPlaces(ptx) {
    const lines = ptx.split("\n"), files = {}, homes = new Map();
    for (const line of lines) {
        const file = FILE.exec(line);
        if (file) files[file[1]] = file[2];
    }
    let current = { file: "", line: 0 }, first = null;
    return lines.map((text) => {
        const loc = LOC.exec(text);
        if (!loc) return current;
        const [, file, line, column, ...caller] = loc;
        first = first || file;
        const calls = homes.get(caller.join(" ")) || { file: files[caller[0]], line: Number(caller[1]) };
        const isInner = caller[0] && isToolkit(files[file]) && !isToolkit(files[first]);
        const home = isInner ? calls : { file: files[file] || "", line: Number(line) };
        homes.set([file, line, column].join(" "), home);
        if (home.line) current = home;
        return current;
    });
}

let latest = { ptx: null, places: [] }; // several views ask for the places of one text

function placesOf(ptx) {
    if (latest.ptx !== ptx) latest = { ptx, places: findPlaces(ptx) };
    return latest.places;
}

module.exports = { placesOf };
