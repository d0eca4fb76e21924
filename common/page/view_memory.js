/* view_memory.js -- the lanes of a warp, and shared memory with a column for each bank. */
"use strict";
const { make, replace } = require("./dom.js");
const trace = require("./trace.js");
const { exchangeView } = require("./view_exchange.js");
const { textOfBits } = require("./values.js");

const SHOWN_WORDS = 4352; // 2048 elements, two buffers, and padding

function wordText(memory, word, type) {
    if (memory.written[word] < 0) return "·";
    return textOfBits(memory.view.getUint32(word * trace.WORD, true), type);
}

/* ---- lanes ------------------------------------------------------------------------------- */

function laneText(event, active, lane) {
    const mine = active.get(lane);
    if (!mine) return "–";
    return trace.isShared(event) ? String(Math.floor(mine.address / trace.WORD)) : "•";
}

function lanesCaption(event) {
    if (trace.isShared(event)) return "Word of shared memory that each lane accesses";
    return "Lanes that take part";
}

function lanesTable(event, shared) {
    const active = new Map(trace.lanesOf(event).map((one) => [one.lane, one]));
    const head = make("tr"), row = make("tr");
    for (let lane = 0; lane < 32; lane++) {
        const mine = active.get(lane);
        const word = mine && trace.isShared(event) ? Math.floor(mine.address / trace.WORD) : -1;
        head.append(make("th", { scope: "col" }, String(lane)));
        row.append(make("td", { class: `${mine ? "active" : ""} ${shared.has(word) ? "excess" : ""}` },
                        laneText(event, active, lane)));
    }
    return make("table", { class: "lanes" }, make("caption", {}, lanesCaption(event)),
                make("thead", {}, head), make("tbody", {}, row));
}

/* ---- banks ------------------------------------------------------------------------------- */

function memoryTable(all, banks) {
    const cells = [], body = make("tbody");
    const words = Math.min(all, SHOWN_WORDS);
    const head = make("tr", {}, make("th", { scope: "col" }, "word"));
    for (let bank = 0; bank < banks; bank++) head.append(make("th", { scope: "col" }, String(bank)));
    for (let first = 0; first < words; first += banks) {
        const row = make("tr", {}, make("th", { scope: "row" }, String(first)));
        for (let word = first; word < Math.min(first + banks, words); word++) {
            cells[word] = make("td");
            row.append(cells[word]);
        }
        body.append(row);
    }
    const more = all > words ? ` (the first ${words} of ${all} words)` : "";
    const legend = make("p", { class: "legend" }, make("span", { class: "touched" }, "accessed"),
        " by this instruction; ", make("span", { class: "excess" }, "accessed"), ", and another " +
        "word of the same bank, too: a bank conflict; ", make("span", { class: "fresh" }, "stored"),
        " since the last barrier; ", make("span", { class: "held" }, "stored"),
        " before this barrier, and loaded after it by another warp; · means: never stored");
    return { cells, legend, element: make("table", { class: "banks" },
        make("caption", {}, `Shared memory: a column for each of the ${banks} banks${more}`),
        make("thead", {}, head), body) };
}

/* The words that wait for another word of their bank, by the emulator's count of wavefronts. */
function waitingWords(event, lists) {
    const waiting = new Set();
    if (trace.conflictsOf(event) > 0)
        for (const list of lists) if (list.length > 1) list.forEach((word) => waiting.add(word));
    return waiting;
}

function makeMemory(lanesHost, banksHost) {
    let cells = [], banks = 32, type = "f32";

    /* Begins with a new launch. `size` is that of shared memory in bytes. */
    function begin(size, rules, valueType) {
        banks = trace.banksOf(rules);
        type = valueType || "f32";
        const made = memoryTable(Math.ceil(size / trace.WORD), banks);
        cells = made.cells;
        replace(banksHost, size ? [made.element, made.legend]
            : make("p", {}, "This block does not access shared memory in this launch."));
    }

    /* `memory` after `count` events (trace.js); `held`: the words that need the event's barrier
     * (intervals.js); null: it is no barrier. */
    function show(events, count, memory, held) {
        const event = events[count - 1], isShared = event && trace.isShared(event);
        const lists = isShared ? trace.wordsByBank(event, banks) : [];
        const waiting = isShared ? waitingWords(event, lists) : new Set();
        const touched = new Set(lists.flat());
        const isFresh = (word) => event && memory.written[word] >= 0 &&
            events[memory.written[word]].epoch === event.epoch;
        cells.forEach((cell, word) => {
            const text = wordText(memory, word, type);
            const classes = (touched.has(word) ? "touched " : "") + (waiting.has(word) ? "excess " : "") +
                (held && held.warps.has(word) ? "held " : "") + (isFresh(word) ? "fresh" : "");
            if (cell.textContent !== text) cell.textContent = text;
            if (cell.className !== classes) cell.className = classes;
        });
        replace(lanesHost, !event ? "" : trace.isShuffle(event) || trace.isVote(event)
            ? exchangeView(event, type) : lanesTable(event, waiting));
    }
    return { begin, show };
}

module.exports = { makeMemory };
