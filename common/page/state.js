/* state.js -- what the page shows, as the fragment of its address: "#chapter=…&n=…". */
"use strict";

const TEXTS = ["chapter", "place", "variant", "rules", "off", "own", "form", "words", "file",
               "edit", "numbers", "view", "code", "to", "answers",
               "text"];
const NUMBERS = ["n", "seed", "at", "launch", "block", "first"];

/* `damaged` has the names of the fields that should be numbers. */
function readState(fragment) {
    const state = { damaged: [] };
    for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
        if (TEXTS.includes(name)) state[name] = value;
        if (!NUMBERS.includes(name)) continue;
        if (/^\d{1,9}$/.test(value)) state[name] = Number(value);
        else state.damaged.push(name);
    }
    return state;
}

function writeState(state) {
    const fields = new URLSearchParams();
    for (const name of [...TEXTS, ...NUMBERS])
        if (state[name] !== undefined && state[name] !== "" && state[name] !== 0)
            fields.set(name, state[name]);
    return `#${fields}`;
}

module.exports = { readState, writeState };
