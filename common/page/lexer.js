/* lexer.js -- CUDA C in pieces, for its colours: comments, strings, numbers, words of the language,
 * and what is between them. */
"use strict";
const { make } = require("./dom.js");

const WORDS = "__\\w+__|__sync\\w+|alignas|auto|bool|break|case|char|const|constexpr|continue|" +
    "default|do|double|else|enum|extern|false|float|for|if|inline|int|long|return|short|signed|" +
    "size_t|sizeof|static|struct|switch|template|true|typedef|typename|unsigned|void|volatile|while";
const PIECE = new RegExp([
    /(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|(?![^])))/, /(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /(?<number>(?<![\w.])\.?\d(?:[\w.]|(?<=[eEpP])[-+])*)/, /(?<directive>^[ \t]*#[ \t]*\w+)/,
].map((one) => one.source).join("|") + `|(?<word>(?<!\\w)(?:${WORDS})(?!\\w))`, "gm");
const MOST = 1 << 20; // characters of a text that is coloured

/* A text as [kind, piece], of which kind "" has no colour. */
function piecesOf(text) {
    const pieces = [];
    let end = 0;
    for (const { 0: piece, index, groups } of text.length > MOST ? [] : text.matchAll(PIECE)) {
        if (index > end) pieces.push(["", text.slice(end, index)]);
        pieces.push([Object.keys(groups).find((kind) => groups[kind] !== undefined), piece]);
        end = index + piece.length;
    }
    if (end < text.length) pieces.push(["", text.slice(end)]);
    return pieces;
}

/* Comments are <i>, and words of the language <b>; other kinds are classes. */
const TAGS = { comment: "i", word: "b", directive: "b" };
const coloured = ([kind, piece]) => (!kind ? document.createTextNode(piece)
    : TAGS[kind] ? make(TAGS[kind], {}, piece) : make("span", { class: kind }, piece));

/* The pieces of each line. */
function linesOf(text) {
    const lines = [[]];
    for (const [kind, piece] of piecesOf(text))
        piece.split("\n").forEach((part, k) => {
            if (k) lines.push([]);
            if (part) lines[lines.length - 1].push([kind, part]);
        });
    return lines;
}

module.exports = { coloured, linesOf, piecesOf };
