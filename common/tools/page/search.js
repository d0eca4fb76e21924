/* search.js -- finds words in the sections of all chapters. */
"use strict";
const { make, replace, inPieces } = require("./dom.js");

const MOST = 12, BEFORE = 40, AFTER = 90; // results, and characters around a word
const HEADING = /<h[1-4] id="([^":]*):([^"]*)"[^>]*>/;
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: "\"" };
/* How good a hit is, as a whole word, as a word's beginning, and in a word. */
const IN_TITLE = [6, 5, 2], IN_TEXT = [4, 3, 1];

const plain = (html) => html.replace(/<[^>]*>/g, " ")
    .replace(/&#?(\w+);/g, (entity, name) => (entity[1] === "#"
        ? String.fromCodePoint(name.replace("x", "0x")) : ENTITIES[name] || " "))
    .replace(/\s+/g, " ").trim();

/* The sections of a chapter's text: { chapter, name (of the chapter), place, title, text }. */
function sectionsOf(html) {
    const parts = html.split(HEADING), sections = [];
    for (let k = 1; k < parts.length; k += 3) {
        const [head, ...rest] = parts[k + 2].split(/<\/h[1-4]>/);
        const title = plain(head), name = sections.length ? sections[0].name : title;
        sections.push({ chapter: parts[k], name, place: parts[k + 1], title,
                        text: plain(rest.join(" ")) });
    }
    return sections;
}

/* The best hit of a word: { at, kind (0: a whole word, 1: a word's beginning, 2: in a word) }; or
 * null. */
function hitIn(text, word) {
    const literal = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), hits = [
        `(?<!\\w)${literal}(?!\\w)`, `(?<!\\w)${literal}`, literal]
        .map((pattern) => text.search(new RegExp(pattern, "i")));
    const kind = hits.findIndex((at) => at >= 0);
    return kind < 0 ? null : { at: hits[kind], kind };
}

/* The sections that have all words, the best hits first. */
function findIn(sections, words) {
    const worth = (hit, points) => (hit ? points[hit.kind] : 0);
    return sections.map((one) => ({ one, points: words.map((word) => Math.max(
        worth(hitIn(one.title, word), IN_TITLE), worth(hitIn(one.text, word), IN_TEXT))) }))
        .filter(({ points }) => points.every(Boolean))
        .map(({ one, points }) => ({ one, sum: points.reduce((a, b) => a + b, 0) }))
        .sort((a, b) => b.sum - a.sum).map(({ one }) => one);
}

/* The text around a word; it begins with a whole word. */
function excerptOf(text, word) {
    const hit = hitIn(text, word);
    if (!hit) return [text.slice(0, AFTER)];
    const { at } = hit, end = at + word.length, from = Math.max(0, at - BEFORE);
    const before = text.slice(from, at);
    return [from ? `… ${before.slice(before.indexOf(" ") + 1)}` : before,
            make("mark", {}, text.slice(at, end)), `${text.slice(end, at + AFTER)} …`];
}

/* `htmls()` gives the texts of all chapters; they are read at the first search. */
function makeSearch(field, host, htmls) {
    let sections = null, turn = 0;
    const item = (words) => ({ chapter, name, place, title, text }) => make("li", {},
        make("a", { href: `#chapter=${chapter}&place=${place}` }, title),
        title === name ? null : make("small", {}, `in ${name}`),
        make("small", {}, excerptOf(text, words[0])));

    field.addEventListener("input", async () => {
        const words = field.value.toLowerCase().split(/\s+/).filter((word) => word), mine = ++turn;
        if (words.length && !sections) {
            const found = [];
            if (!await inPieces(htmls(), (html) => found.push(...sectionsOf(html)),
                                () => mine === turn)) return;
            sections = found;
        }
        const found = words.length ? findIn(sections, words) : [], more = found.length - MOST;
        replace(host, !words.length ? "" : !found.length ? "Nothing was found."
            : make("ul", {}, found.slice(0, MOST).map(item(words)),
                   more > 0 ? make("li", {}, `and ${more} more`) : null));
    });
}

module.exports = { makeSearch };
