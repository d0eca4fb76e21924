/* view_exchange.js -- a shuffle or a vote: the values that lanes give and receive, with lines from
 * the lane that gives to the lane that receives. */
"use strict";
const { make, makeSvg } = require("./dom.js");
const trace = require("./trace.js");
const { textOfBits } = require("./values.js");

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

module.exports = { exchangeView };
