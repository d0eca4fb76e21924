/* state.js -- what the page shows, as the fragment of its address: "#chapter=…&n=…". */
"use strict";

const TEXTS = ["chapter", "place", "variant", "rules", "off", "own", "form", "words", "file",
               "edit"];
const NUMBERS = ["n", "seed", "at", "launch", "block", "first"];

function readState(fragment) {
    const state = {};
    for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
        if (TEXTS.includes(name)) state[name] = value;
        if (NUMBERS.includes(name) && /^\d{1,9}$/.test(value)) state[name] = Number(value);
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
