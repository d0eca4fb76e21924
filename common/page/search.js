/* search.js -- finds words in the sections of all chapters. */
"use strict";
const { make, replace } = require("./dom.js");
const { inPieces } = require("./pieces.js");

const MOST = 12, BEFORE = 40, AFTER = 90; // results, and characters around a word
const HEADING = /<h[1-4] id="([^":]*):([^"]*)"[^>]*>/;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": "\"" };

const plain = (html) => html.replace(/<[^>]*>/g, " ")
    .replace(/&\w+;/g, (entity) => ENTITIES[entity] || " ").replace(/\s+/g, " ").trim();

/* The sections of a chapter's text: { chapter, place, title, text }. */
function sectionsOf(html) {
    const parts = html.split(HEADING), sections = [];
    for (let k = 1; k < parts.length; k += 3) {
        const [head, ...rest] = parts[k + 2].split(/<\/h[1-4]>/);
        sections.push({ chapter: parts[k], place: parts[k + 1], title: plain(head),
                        text: plain(rest.join(" ")) });
    }
    return sections;
}

/* The sections that have all words, those with a word in the title first. */
function findIn(sections, words) {
    const isIn = (text, word) => text.toLowerCase().includes(word);
    const all = sections.filter(({ title, text }) =>
        words.every((word) => isIn(title, word) || isIn(text, word)));
    const inTitle = ({ title }) => words.filter((word) => isIn(title, word)).length;
    return all.sort((a, b) => inTitle(b) - inTitle(a));
}

function excerptOf(text, word) {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0) return [text.slice(0, AFTER)];
    return [text.slice(Math.max(0, at - BEFORE), at),
            make("mark", {}, text.slice(at, at + word.length)),
            `${text.slice(at + word.length, at + AFTER)} …`];
}

/* `htmls()` gives the texts of all chapters; they are read at the first search. */
function makeSearch(field, host, htmls) {
    let sections = null, turn = 0;
    const item = (words) => ({ chapter, place, title, text }) => make("li", {},
        make("a", { href: `#chapter=${chapter}&place=${place}` }, title),
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

module.exports = { findIn, makeSearch, sectionsOf };
