/*
 * view_memory.js -- the lanes of a warp, and shared memory with a column for each bank; what lanes
 * exchange; the words that need a barrier.
 */
"use strict";
const { make, makeSvg, replace } = require("./dom.js");
const trace = require("./trace.js");
const { storedText, textOfBits, runsText } = require("./texts.js");

/* ---- a shuffle or a vote --------------------------------------------------------------------- */
/* A shuffle or a vote: the values that lanes give and receive, with lines from
 * the lane that gives to the lane that receives. */

const LANES = 32, CELL = 29, HEIGHT = 20, GAP = 48, LABEL = 56, HEAD = 22;
const LOWER = HEAD + HEIGHT + GAP;

const DESCRIPTION = "Lines from the lane that gives a value to the lane that receives it; the " +
    "table below has the same in words";

const middleOf = (lane) => LABEL + lane * CELL + CELL / 2;

function rowOf(name, top, texts) {
    return [makeSvg("text", { class: "label", x: 0, y: top + HEIGHT - 6 }, name),
            texts.map((text, lane) => [
                makeSvg("rect", { class: text === null ? "" : "now", x: LABEL + lane * CELL, y: top,
                                  width: CELL, height: HEIGHT }),
                makeSvg("text", { x: middleOf(lane), y: top + HEIGHT - 6 },
                        text === null ? "–" : text)])];
}

/* The texts of all lanes, null for those that do not take part. */
function textsOf(exchanges, text) {
    const texts = new Array(LANES).fill(null);
    for (const one of exchanges) texts[one.lane] = text(one);
    return texts;
}

function shuffleDrawing(exchanges, type) {
    const lines = exchanges.map(({ lane, from }) => makeSvg("line", {
        class: from === lane ? "flow" : "flow now", x1: middleOf(from), y1: HEAD + HEIGHT,
        x2: middleOf(lane), y2: LOWER }));
    const heads = textsOf(exchanges, () => "").map((_, lane) => makeSvg("text", {
        class: "head", x: middleOf(lane), y: HEAD - 8 }, String(lane)));
    const width = LABEL + LANES * CELL + 1, height = LOWER + HEIGHT + 1;
    const texts = (name) => textsOf(exchanges, (one) => textOfBits(one[name], type));
    return makeSvg("svg", { class: "tree exchange", width, height, role: "img",
                            viewBox: `0 0 ${width} ${height}`, "aria-label": DESCRIPTION },
                   heads, lines, rowOf("gives", HEAD, texts("given")),
                   rowOf("receives", LOWER, texts("received")));
}

const row = (name, texts) => make("tr", {}, make("th", { scope: "row" }, name),
    texts.map((text) => make("td", { class: text === null ? "" : "active" },
                             text === null ? "–" : text)));

const fromText = ({ lane, from }) => (from === lane ? "own" : `← ${from}`);

function shuffleRows(exchanges, type) {
    return [row("from lane", textsOf(exchanges, fromText)),
            row("gives", textsOf(exchanges, (one) => textOfBits(one.given, type))),
            row("receives", textsOf(exchanges, (one) => textOfBits(one.received, type)))];
}

/* A ballot's result is a mask. */
function voteRows(event, exchanges) {
    const result = ({ received }) => (event.operation === "vote.ballot"
        ? `0x${received.toString(16).padStart(8, "0")}` : received ? "true" : "false");
    return [row("predicate", textsOf(exchanges, (one) => String(Boolean(one.given)))),
            row("result", textsOf(exchanges, result))];
}

/* What to show for an event that is a shuffle or a vote. */
function exchangeView(event, type) {
    const exchanges = trace.exchangeOf(event), isShuffle = trace.isShuffle(event);
    const heads = [...Array(LANES).keys()].map((lane) =>
        make("th", { scope: "col" }, String(lane)));
    const caption = isShuffle ? "Lanes: from which lane each takes a value"
        : "The predicate of each lane, and the result of the vote";
    return [isShuffle ? shuffleDrawing(exchanges, type) : null,
            make("table", { class: "lanes" }, make("caption", {}, caption),
                 make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "lane"), heads)),
                 make("tbody", {}, isShuffle ? shuffleRows(exchanges, type)
                     : voteRows(event, exchanges)))];
}

/* ---- words that need a barrier --------------------------------------------------------------- */
/* Which words need a barrier: they are stored before it and loaded after it. */

const NOTHING = "No word needs this barrier. Up to the next barrier, no thread loads or " +
    "overwrites a word that another thread accessed before this one.";
const wordsText = (set) => `${set.size} ${set.size === 1 ? "word" : "words"}`;

function sentence(set, before, after) {
    return set.size ? make("li", {}, `${wordsText(set)} ${before} this barrier ` +
        `${set.size === 1 ? "is" : "are"} ${after}: `, make("small", {}, runsText(set))) : null;
}

/* `held`: of heldBack() in trace.js. */
function showHeld(host, held) {
    if (!held) {
        replace(host);
        return;
    }
    const items = [sentence(held.warps, "stored before", "loaded after it by other warps"),
                   sentence(held.lanes, "stored before",
                            "loaded after it by other lanes of the same warp"),
                   sentence(held.overwritten, "loaded before",
                            "overwritten after it by other threads")];
    replace(host, make("h3", {}, "Words that need this barrier"),
            items.some((item) => item) ? make("ul", {}, items) : make("p", {}, NOTHING));
}

/* ---- lanes and banks ------------------------------------------------------------------------- */

const SHOWN_WORDS = 4352; // 2048 elements, two buffers, and padding

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
        " before this barrier, and loaded after it by another warp; · means: never stored. Click " +
        "on a word to see the stores to it.");
    return { cells, legend, element: make("table", { class: "banks" },
        make("caption", {}, `Shared memory: a column for each of the ${banks} banks${more}`),
        make("thead", {}, head), body) };
}

/* The words that wait for another word of their bank, by the emulator's count of wavefronts. */
const waitingWords = (event, banks) => new Set(event && trace.conflictsOf(event) > 0
    ? trace.pilesOf(trace.wordsOf(event), banks).filter((pile) => pile.length > 1).flat()
        .map(({ word }) => word) : []);

/* `asked(word)` is called when the reader asks for the stores to a word. */
function makeMemory(lanesHost, banksHost, asked) {
    let cells = [], banks = 32, type = "f32";

    /* Begins with a new launch. `size` is that of shared memory in bytes. */
    function begin(size, rules, valueType) {
        banks = trace.banksOf(rules);
        type = valueType || "f32";
        const made = memoryTable(Math.ceil(size / trace.WORD), banks);
        cells = made.cells;
        made.element.addEventListener("click", ({ target }) => {
            if (cells.includes(target)) asked(String(cells.indexOf(target)));
        });
        replace(banksHost, size ? [made.element, made.legend]
            : make("p", {}, "This block does not access shared memory in this launch."));
    }

    /* `stored`: the last store to each word up to event `count`; `held`: the words that need the
     * event's barrier; null: it is no barrier (trace.js). */
    function show(events, count, stored, held) {
        const event = events[count - 1], waiting = waitingWords(event, banks);
        const touched = new Set(trace.wordsOf(event).map(({ word }) => word));
        const isFresh = (word) => stored[word] && events[stored[word].at].epoch === event.epoch;
        cells.forEach((cell, word) => {
            const text = storedText(stored[word], type);
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

module.exports = { makeMemory, showHeld };
