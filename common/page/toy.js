/* toy.js -- the conflict toy: a warp of step 3 loads its left children, and the reader chooses how
 * far apart they lie and how many words are left unused. The lanes pile up in the banks, and drain
 * one wavefront at a time. A chapter has one where its text has the comment "toy". */
"use strict";
const { make, replace, labelled } = require("./dom.js");
const { drawPiles, pilesOf, tallestOf } = require("./view_piles.js");
const { counted } = require("./sentences.js");

const LANES = 32, BANKS = 32, DRAIN_MS = 220;
const OFFSETS = [1, 2, 4, 8, 16, 32], EVERY = [0, 64, 32, 16, 8]; // 0: no padding
const FIRST_OFFSET = 3; // 16 wavefronts

/* The word of a lane's left child, with one unused word after every `every` words. */
function wordOf(lane, offset, every) {
    const word = offset * (2 * lane + 1) - 1;
    return word + (every ? Math.floor(word / every) : 0);
}

const pilesFor = (offset, every) => pilesOf([...Array(LANES).keys()].map((lane) =>
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

module.exports = { makeToys };
