/* predict.js -- a chapter's question before a table: the table is hidden until the reader has
 * written a number, or asks for it. The answer is the table's own cell. */
"use strict";
const { make, replace, labelled } = require("./dom.js");

const CLOSE = 0.05; // of the answer

const textOf = (cell) => cell.textContent.trim();

/* Numbers in a text. "1 007 576" and "1,007,576" are one; any other comma between digits is a
 * decimal point. A sign and an exponent belong to their number. */
function numbersIn(text) {
    const joined = text.replace(/(\d)[\s,\u00a0\u202f](?=\d{3}(?!\d))/g, "$1")
        .replace(/(\d),(?=\d)/g, "$1.");
    const found = joined.match(/[-\u2212]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) || [];
    return found.map((one) => Number(one.replace("\u2212", "-")));
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/* Whether numbers differ from the answer's by at most this part of them. A reader may give the sum
 * of a pair of loads + stores. */
function isNear(guess, answer, part) {
    const given = guess.length === answer.length ? guess : [sum(guess)];
    const wanted = guess.length === answer.length ? answer : [sum(answer)];
    return given.every((value, k) => Math.abs(value - wanted[k]) <= part * wanted[k]);
}

/* Whether a text is a guess: a number, and no share where the answer is none. */
const isGuess = (guess, answer) => numbersIn(guess).length > 0 &&
    (!guess.includes("%") || answer.includes("%"));

function verdict(guess, answer) {
    const numbers = numbersIn(guess), wanted = numbersIn(answer);
    if (!isGuess(guess, answer))
        return numbers.length ? "The answer is no share. Write a number without %."
            : "Write a number.";
    if (isNear(numbers, wanted, 0)) return `Right: ${answer}.`;
    return isNear(numbers, wanted, CLOSE) ? `Close. It is ${answer}.`
        : `It is ${answer}, not ${guess}.`;
}

/* The tables behind the question, up to the one whose first head is `name`. */
function tablesBehind(place, name) {
    const tables = [];
    for (let one = place.nextElementSibling; one; one = one.nextElementSibling) {
        if (one.tagName !== "TABLE") continue;
        tables.push(one);
        if (textOf(one.rows[0].cells[0]) === name) return tables;
    }
    return [];
}

function cellOf(table, row, column) {
    const heads = [...table.rows[0].cells].map(textOf);
    const found = [...table.rows].find((one) => textOf(one.cells[0]) === row);
    return found ? found.cells[heads.indexOf(column)] : null;
}

function makePrediction(place) {
    const { table, row, column } = place.dataset;
    const tables = tablesBehind(place, table);
    const cell = tables.length ? cellOf(tables[tables.length - 1], row, column) : null;
    if (!cell) return;
    const guess = make("input", { size: 9, inputmode: "decimal", autocomplete: "off" });
    const said = make("p", { class: "verdict", role: "status" });
    const show = () => {
        for (const one of tables) one.hidden = false;
        cell.classList.add("answer");
        if (document.activeElement === button) guess.focus();
        button.remove();
    };
    const compare = () => {
        replace(said, verdict(guess.value.trim(), textOf(cell)));
        if (isGuess(guess.value, textOf(cell))) show();
    };
    const button = make("button", { type: "button", onclick: show }, "Show the table");
    for (const one of tables) one.hidden = true;
    place.append(make("form", { onsubmit: (event) => { event.preventDefault(); compare(); } },
                      labelled("your prediction", guess),
                      make("button", { type: "submit" }, "Compare"), button), said);
}

/* All questions of a chapter. */
function makePredictions(article) {
    article.querySelectorAll(".predict").forEach(makePrediction);
}

module.exports = { isNear, makePredictions, numbersIn, verdict };
