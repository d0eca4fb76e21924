/*
 * banks.js -- lanes that pile up in banks: those of a kernel's access, and those of a load that the
 * reader changes.
 */
"use strict";
const { make, makeSvg, replace, labelled } = require("./dom.js");
const trace = require("./trace.js");
const { counted } = require("./texts.js");

/* ---- the piles ------------------------------------------------------------------------------- */
/* The lanes of one access, dropped into the banks of shared memory: lanes that
 * need different words of a bank pile up, and each row of the piles takes a wavefront. */

const CELL = 20, LABEL = 26, AREA = 240, HEAD = 20, TALLEST = 20;

const tallestOf = (piles) => Math.max(1, ...piles.map((pile) => pile.length));

/* A drawing of piles. Rows from `ideal` on wait for the rows below; `drained` rows are gone. */
function drawPiles(piles, ideal, name, drained = 0) {
    const row = Math.min(TALLEST, AREA / tallestOf(piles)), width = LABEL + piles.length * CELL + 1;
    const bottom = AREA + 4, height = bottom + HEAD;
    const heads = piles.map((_, bank) => makeSvg("text", {
        class: bank % 4 ? "head" : "head fourth", x: LABEL + (bank + 0.5) * CELL, y: height - 5,
    }, String(bank)));
    const cellOf = (bank) => ({ lanes }, k) => {
        const x = LABEL + bank * CELL, y = bottom - (k + 1 - drained) * row;
        if (k < drained) return [];
        return [makeSvg("rect", { class: k < ideal ? "now" : "excess", x: x + 1, y: y + 0.5, rx: 3,
                                  width: CELL - 2, height: row - 1 }),
                row < 11 ? [] : makeSvg("text", { class: "lane", x: x + CELL / 2,
                                                  y: y + row / 2 + 3.5 },
                                        `${lanes[0]}${lanes.length > 1 ? "…" : ""}`)];
    };
    const slots = piles.map((_, bank) => makeSvg("line", { class: "floor", y1: bottom, y2: bottom,
        x1: LABEL + bank * CELL + 1, x2: LABEL + (bank + 1) * CELL - 1 }));
    return makeSvg("svg", { class: "tree piles", viewBox: `0 0 ${width} ${height}`, role: "img",
                            preserveAspectRatio: "xMinYMax", "aria-label": name },
                   slots, makeSvg("text", { class: "label", x: 0, y: height - 5 }, "bank"), heads,
                   piles.map((pile, bank) => pile.map(cellOf(bank))));
}

/* What the piles of an access show, in words. */
function pilesText(piles) {
    const tallest = tallestOf(piles), used = piles.filter((pile) => pile.length).length;
    return `The lanes use ${used} of ${piles.length} banks. ` + (tallest > 1
        ? `In the fullest bank lie ${tallest} of the words that they need.`
        : "No bank has more than one of the words that they need.");
}

const mark = (name, text) => make("span", { class: name }, text);
const LEGEND = make("p", { class: "legend" },
    "Each box is a word that a lane needs, and its number is that of the lane. ",
    mark("touched", "The first row"), " is served at once, ", mark("excess", "a row above it"),
    " waits for the row below.");

const SOON = make("p", { class: "legend" }, "This is the first access, which is still to come.");
const EMPTY = "This instruction does not access shared memory.";

/* Shows the piles of an event; one that is no access to shared memory has none. Before the first
 * instruction, those of the first access that is to come. */
function showPiles(host, events, position, banks) {
    const event = position ? events[position - 1] : events.find(trace.isShared);
    const isShared = event && trace.isShared(event);
    const piles = trace.pilesOf(trace.wordsOf(event), banks);
    replace(host, isShared ? drawPiles(piles, event.ideal, pilesText(piles))
        : drawPiles(piles, 1, EMPTY), isShared && !position ? SOON : null, LEGEND);
}

/* ---- a load with sliders --------------------------------------------------------------------- */
/* The conflict toy: a warp of step 3 loads its left children, and the reader chooses how
 * far apart they lie and how many words are left unused. The lanes pile up in the banks, and drain
 * one wavefront at a time. A chapter has one where its text has the comment "toy". */

const LANES = 32, BANKS = 32, DRAIN_MS = 220;
const OFFSETS = [1, 2, 4, 8, 16, 32], EVERY = [0, 64, 32, 16, 8]; // 0: no padding
const FIRST_OFFSET = 3; // 16 wavefronts

/* The word of a lane's left child, with one unused word after every `every` words. */
function wordOf(lane, offset, every) {
    const word = offset * (2 * lane + 1) - 1;
    return word + (every ? Math.floor(word / every) : 0);
}

const pilesFor = (offset, every) => trace.pilesOf([...Array(LANES).keys()].map((lane) =>
    ({ lane, word: wordOf(lane, offset, every) })), BANKS);

const paddingText = (every) => (every ? `1 word after every ${every}` : "none");

function resultText(piles) {
    const wavefronts = tallestOf(piles), used = piles.filter((pile) => pile.length).length;
    const banks = `32 lanes use ${counted(used, "bank")}`;
    return wavefronts === 1 ? `${banks}: one wavefront serves them all.`
        : `${banks}. The load takes ${wavefronts} wavefronts, and ${wavefronts - 1} of them ` +
            `${wavefronts === 2 ? "is a bank conflict" : "are bank conflicts"}.`;
}

/* A slider over some values; text(value) says what is chosen. */
function slider(name, values, chosen, text, changed) {
    const said = make("output", {}, text(values[chosen]));
    const bar = make("input", { type: "range", min: 0, max: values.length - 1, value: chosen,
                                "aria-valuetext": text(values[chosen]), oninput: () => {
        said.textContent = text(values[bar.value]);
        bar.setAttribute("aria-valuetext", said.textContent);
        changed();
    } });
    return { element: make("span", {}, labelled(name, bar), " ", said),
             value: () => values[bar.value] };
}

function makeToy(place) {
    const picture = make("div", { class: "drops" }), said = make("p", { "aria-live": "polite" });
    const many = make("strong", { class: "many" }), unit = make("span");
    let drained = 0, timer = null;
    const offset = slider("offset", OFFSETS, FIRST_OFFSET, String, reset);
    const every = slider("padding", EVERY, 0, paddingText, reset);
    const piles = () => pilesFor(offset.value(), every.value());
    const drain = make("button", { type: "button", class: "run", onclick: start }, "Load");

    /* After `drained` wavefronts. */
    function draw() {
        const now = piles(), wavefronts = tallestOf(now);
        replace(picture, drawPiles(now, drained + 1, resultText(now), drained));
        many.textContent = drained ? `${drained} of ${wavefronts}` : String(wavefronts);
        many.className = wavefronts > 1 ? "many wrong" : "many right";
        unit.textContent = wavefronts > 1 ? "wavefronts" : "wavefront";
    }
    function reset() {
        clearTimeout(timer);
        drained = 0;
        said.textContent = resultText(piles());
        draw();
    }
    function start() {
        reset();
        const step = () => {
            drained++;
            draw();
            if (drained < tallestOf(piles())) timer = setTimeout(step, DRAIN_MS);
        };
        timer = setTimeout(step, DRAIN_MS);
    }
    replace(place, make("section", { class: "widget", "aria-label": "Bank conflicts to play with" },
        make("p", {}, make("b", {}, "Try it. "), "One warp loads its left children, and words of ",
             "the same bank wait for each other. Bring the wavefronts down to 1 with padding. ",
             "Does the same padding serve every offset?"),
        make("div", { class: "choices" }, offset.element, every.element, drain,
             make("span", {}, many, " ", unit)),
        picture, said));
    reset();
}

/* All toys of a chapter. */
function makeToys(article) {
    article.querySelectorAll(".toy").forEach(makeToy);
}

module.exports = { makeToys, showPiles };
