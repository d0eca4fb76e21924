/*
 * dom.js -- makes elements. Texts become text nodes, so that no name in a PTX text or a message can
 * become markup.
 */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/* Children are elements, texts, or null for none. Attributes that begin with "on" are listeners;
 * true sets an attribute without a value, false and undefined leave it out. */
function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, "");
        else if (value !== false && value !== undefined) element.setAttribute(name, value);
    }
    for (const child of children.flat(Infinity)) if (child !== null) element.append(child);
    return element;
}

const make = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
const makeSvg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

/* What a control is called, by which its successor is found. */
function keyOf(control) {
    const label = control.closest("label");
    return `${control.tagName} ${control.dataset.key || control.getAttribute("aria-label") ||
        (label ? label.firstChild.data : control.textContent)}`;
}

/* Replaces the children. If one of them has the focus, a control of the same name gets it. */
function replace(element, ...children) {
    const focused = element.contains(document.activeElement) && element !== document.activeElement
        ? keyOf(document.activeElement) : null;
    element.replaceChildren(...children.flat().filter((child) => child !== null));
    if (focused === null) return element;
    const same = [...element.querySelectorAll("button, input, select, textarea, summary")]
        .find((one) => keyOf(one) === focused);
    if (same) same.focus({ preventScroll: true });
    return element;
}

/* A control with its name before it. */
const labelled = (name, control) => make("label", { class: "control" }, `${name} `, control);

function choice(options, chosen, onchange) {
    const select = make("select", { onchange: () => onchange(select.value) });
    for (const [value, name] of options)
        select.append(make("option", { value, selected: String(value) === String(chosen) },
                           String(name)));
    return select;
}

/* A table with a caption; the first cell of each row is its heading. */
function table(caption, heads, rows) {
    const row = (cells) => make("tr", {}, cells.map((cell, k) =>
        make(k ? "td" : "th", k ? {} : { scope: "row" }, cell)));
    return make("table", {}, make("caption", {}, caption),
                make("thead", {}, make("tr", {}, heads.map((head) =>
                    make("th", { scope: "col" }, head)))),
                make("tbody", {}, rows.map(row)));
}

/* A function that does something before the next picture, and only what it was given last. What
 * asks for sizes or scrolls belongs here: it lays out the page. */
function makeLater() {
    let wanted = null;
    return (action) => {
        if (!wanted) requestAnimationFrame(() => {
            const now = wanted;
            wanted = null;
            now();
        });
        wanted = action;
    };
}

/* Does something when the page is read, and what is in it already is shown. */
function whenRead(action) {
    if (document.readyState === "loading")
        document.addEventListener("DOMContentLoaded", () => setTimeout(action));
    else requestAnimationFrame(() => setTimeout(action));
}

/* ---- long work ------------------------------------------------------------------------------- */
/* Long work in pieces, between which the browser draws and answers. */

const PIECE_MS = 30, STRIDE = 16;

/* Calls work(item, index) for all items. isWanted() is asked after each piece; when it says no, the
 * rest is left out. A promise of whether all has been done. */
async function inPieces(items, work, isWanted) {
    let begin = performance.now();
    for (let k = 0; k < items.length; k++) {
        work(items[k], k);
        if (k % STRIDE || performance.now() - begin < PIECE_MS) continue;
        await new Promise((resolve) => setTimeout(resolve));
        if (!isWanted()) return false;
        begin = performance.now();
    }
    return true;
}

module.exports = { make, makeSvg, replace, labelled, choice, table, makeLater, whenRead, inPieces };
