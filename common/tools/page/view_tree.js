/*
 * view_tree.js -- shared memory as values that grow from barrier to barrier: a row of words for
 * each interval between barriers, with lines from the words that were loaded to those that were
 * stored.
 */
"use strict";
const { make, makeSvg, replace, labelled, choice, table, makeLater } = require("./dom.js");
const trace = require("./trace.js");
const { storedText } = require("./texts.js");

/* Pixels. A word is as wide as there is room; a narrow page names a row by its barrier's number. */
const LEAST = 20, USUAL = 28, MOST = 48, NARROW = 500, LABEL = 92, NUMBER = 20;
const HEIGHT = 20, GAP = 22, HEAD = 20;
const FEWEST_COLUMNS = 6, MOST_COLUMNS = 32, MOST_ROWS = 24;
const COLUMNS = [["used", "words used since the last barrier"], ["all", "all words"]];

const labelOf = (epoch) => (epoch ? `after barrier ${epoch}` : "before barrier 1");

/* The last rows up to event `count`: { epoch, stores, values } for each interval with stores, and
 * for the current one; `values` has the latest store of each column at its end. */
function rowsOf(view, count) {
    const last = view.intervals.findIndex((one) => one.end >= count);
    const reached = view.intervals.slice(0, last + 1)
        .filter((one, k) => k === last || one.stores.length);
    const rows = [], values = [];
    reached.forEach((interval, k) => {
        const isLast = k === reached.length - 1;
        const stores = isLast ? interval.stores.filter((one) => one.at < count) : interval.stores;
        for (const one of stores) values[one.word % view.fold] = one;
        if (k >= reached.length - MOST_ROWS)
            rows.push({ epoch: interval.epoch, stores, values: [...values] });
    });
    return rows;
}

/* The columns that the interval of the latest event uses, or all, in order. */
function columnsOf(view, epoch, mode) {
    const all = [...Array(Math.min(view.words, view.fold)).keys()];
    const interval = view.intervals.find((one) => one.epoch === epoch);
    if (mode === "all" || !interval) return all;
    const used = new Set();
    for (const { word, sources } of interval.stores) {
        used.add(word % view.fold);
        sources.forEach((source) => used.add(source % view.fold));
    }
    return used.size ? all.filter((column) => used.has(column)) : all;
}

/* ---- the drawing ---------------------------------------------------------------------------- */

const topOf = (row) => HEAD + row * (HEIGHT + GAP);

/* The middle of a column; the edge where it would stand if it were shown. */
function middleOf(columns, column, { label, cell }) {
    const k = columns.indexOf(column);
    if (k >= 0) return label + k * cell + cell / 2;
    return label + columns.filter((one) => one < column).length * cell;
}

function linesOf(view, columns, grid, row, index, now) {
    const lines = [], shown = new Set(columns);
    for (const { at, word, sources } of row.stores)
        for (const source of shown.has(word % view.fold) ? sources : [])
            lines.push([at === now, makeSvg("line", { class: at === now ? "flow now" : "flow",
                x1: middleOf(columns, source % view.fold, grid), y1: topOf(index - 1) + HEIGHT,
                x2: middleOf(columns, word % view.fold, grid), y2: topOf(index) })]);
    return lines.sort((a, b) => a[0] - b[0]).map((one) => one[1]);
}

function cellOf(text, kind, k, index, { label, cell: width }) {
    const x = label + k * width;
    return [makeSvg("rect", { class: kind, x, y: topOf(index), width, height: HEIGHT }),
            makeSvg("text", { x: x + width / 2, y: topOf(index) + HEIGHT - 6 }, text)];
}

function drawing(view, rows, columns, count, grid) {
    const { label, cell } = grid;
    const now = count - 1;
    const latest = rows[rows.length - 1].stores.filter((one) => one.at === now);
    const loaded = new Set(latest.flatMap((one) => one.sources.map((word) => word % view.fold)));
    const heads = columns.map((column, k) => makeSvg("text", { class: "head", y: HEAD - 8,
        x: label + (k + 0.5) * cell }, String(column)));
    const body = rows.map((row, index) => {
        const stored = new Map(row.stores.map((one) => [one.word % view.fold, one.at === now]));
        const isAbove = index === rows.length - 2;
        const kind = (column) => (stored.get(column) ? "now"
            : isAbove && loaded.has(column) ? "loaded" : stored.has(column) ? "stored" : "");
        return [index ? linesOf(view, columns, grid, row, index, now) : [],
                makeSvg("text", { class: "label", x: 0, y: topOf(index) + HEIGHT - 6 },
                        label === LABEL ? labelOf(row.epoch) : String(row.epoch)),
                columns.map((column, k) =>
                    cellOf(storedText(row.values[column], view.type), kind(column), k, index, grid))];
    });
    const width = label + columns.length * cell + 1, height = topOf(rows.length) - GAP + 1;
    return makeSvg("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`,
                            role: "img", "aria-label": summaryOf(rows) }, heads, body);
}

/* ---- words ---------------------------------------------------------------------------------- */

const storeText = ({ word, sources }) =>
    (sources.length ? `${word} from ${sources.join(" and ")}` : String(word));

function lastStores(stores) {
    const most = 4, words = stores.slice(-most).map(storeText).join("; ");
    if (stores.length === 1) return `1 word was stored: ${words}.`;
    return `${stores.length} words were stored. The last ones are ${words}.`;
}

function summaryOf(rows) {
    const { epoch, stores } = rows[rows.length - 1];
    return `Shared memory in ${rows.length} rows. Row "${labelOf(epoch)}": ` +
        (stores.length ? lastStores(stores) : "Nothing was stored.");
}

function rowsTable(view, rows, columns) {
    const most = 64, caption = "Words of shared memory before each barrier, and from which " +
        "words each was computed";
    const storesText = (stores) => (stores.length > most ? "… " : "") +
        stores.slice(-most).map(storeText).join("; ");
    return table(caption, ["interval", ...columns.map((column) => `word ${column}`), "stored"],
                 rows.map(({ epoch, stores, values }) => [labelOf(epoch),
                     ...columns.map((column) => storedText(values[column], view.type)),
                     storesText(stores)]));
}

/* ---- the view ------------------------------------------------------------------------------- */

/* `changed` is called with { words, first } when the reader has chosen other words. */
function makeTree(host, changed) {
    let view = null, count = 0, mode = "used", start = 0, shown = [];
    const scrollLater = makeLater();
    const usual = () => (Math.min(view.words, view.fold) <= window() ? "all" : "used");
    const tell = () => changed({ words: mode === usual() ? "" : mode, first: start });
    const picture = make("div", { class: "tree-scroll", tabindex: 0, role: "group",
                                  "aria-label": "Shared memory from barrier to barrier" });
    const words = make("div");
    const details = make("details", { ontoggle: () => draw() },
                         make("summary", {}, "Show these words as a table"), words);
    const bar = make("input", { type: "range", min: 0, value: 0, oninput: () => {
        start = Number(bar.value);
        draw();
        tell();
    } });
    const select = choice(COLUMNS, mode, (value) => {
        mode = value;
        follow();
        draw();
        tell();
    });
    const controls = make("div", { class: "choices" },
        labelled("show", select), labelled("first word shown", bar));
    const mark = (name, text) => make("span", { class: name }, text);
    const legend = make("p", { class: "legend" }, mark("loaded", "loaded"), " and ",
        mark("touched", "stored"), " by this instruction; ", mark("fresh", "stored"),
        " since the barrier above. A line leads from a word that was loaded " +
        "to the word that was computed from it and stored.");

    /* The width is not asked for at each step, which would lay out the page anew. */
    let width = 0;
    const measure = () => { width = host.clientWidth; };
    const label = () => (width < NARROW ? NUMBER : LABEL);
    const least = () => (width < NARROW ? LEAST : USUAL);
    const window = () => Math.max(FEWEST_COLUMNS, Math.min(MOST_COLUMNS,
        Math.floor((width - label() - 4) / least())));
    const gridFor = (columns) => ({ label: label(), cell: Math.max(least(), Math.min(MOST,
        Math.floor((width - label() - 4) / columns))) });
    new ResizeObserver(() => {
        measure();
        if (view && view.words) show(count);
    }).observe(host);

    /* Moves the window to the columns of the latest event. */
    function follow() {
        const event = view.events[count - 1];
        shown = columnsOf(view, event ? event.epoch : 0, mode);
        const touched = event && trace.isShared(event) ? trace.lanesOf(event).map(({ address }) =>
            shown.indexOf(Math.floor(address / trace.WORD) % view.fold)).filter((k) => k >= 0) : [];
        const first = Math.min(...touched), size = window();
        if (touched.length && (first < start || first >= start + size)) start = first;
        start = Math.max(0, Math.min(start, shown.length - size));
    }

    function draw() {
        const rows = rowsOf(view, count), size = window();
        const columns = shown.slice(start, start + size);
        bar.max = Math.max(0, shown.length - size);
        bar.value = start;
        bar.setAttribute("aria-valuetext", `from word ${columns[0]}`);
        bar.parentElement.hidden = shown.length <= size;
        replace(picture, rows.length
            ? drawing(view, rows, columns, count, gridFor(columns.length)) : "");
        scrollLater(() => { picture.scrollTop = picture.scrollHeight; });
        replace(words, details.open && rows.length ? rowsTable(view, rows, columns) : "");
    }

    /* Begins with a new launch: events of one block and their intervals (trace.js), the size of
     * shared memory in bytes, the type of the words, fold: words at this distance share a column;
     * and which words are shown, as `changed` has been told. */
    function begin({ events, intervals, size, type, fold, words, first }) {
        measure();
        view = { events, intervals, words: Math.ceil(size / trace.WORD), type: type || "f32",
                 fold: fold || Infinity };
        start = first || 0;
        mode = select.value = ["all", "used"].includes(words) ? words : usual();
        replace(host, size ? [controls, picture, legend, details] : "");
    }
    function show(position) {
        count = position;
        if (!view.words) return;
        follow();
        draw();
    }
    return { begin, show };
}

module.exports = { makeTree };
