/*
 * widget.js -- a kernel that runs in the page. Above: choices, one picture at a time, the code
 * beside it, and the player with the verdict. Below, folded: counters, lines, and other choices. A
 * widget shows what an answer of the emulator holds (face/face.h).
 */
"use strict";
const { make, replace, labelled, choice, inPieces } = require("./dom.js");
const trace = require("./trace.js");
const { makeSource, linesTable, findingsByLine } = require("./view_source.js");
const { makeMemory, showHeld } = require("./view_memory.js");
const { makePlayer } = require("./player.js");
const { makeTree } = require("./view_tree.js");
const { showPiles } = require("./banks.js");
const { feedsOf } = require("./ptx.js");
const { counted, eventText, storeText, nextPosition } = require("./texts.js");
const counters = require("./view_counters.js");

const UNITS = [["access", "warp instruction"], ["barrier", "barrier"]];
const NONE = "There is nothing to play: no access to memory, barrier or shuffle has run.";
const NO_SOURCE = "The page does not have this file.";
const MOST_STORES = 8; // in a list
const PANELS = ["source", "lanes", "piles", "banks", "held", "tree", "counters", "levels", "lines",
                "findings"];
/* The pictures: a name for the button, and the panels. */
const VIEWS = { tree: ["Tree", ["tree"]], banks: ["Banks", ["piles", "lanes"]],
                shuffle: ["Shuffle", ["lanes"]], memory: ["Memory", ["held", "banks", "stores"]] };

const pathOf = (sources, name) =>
    Object.keys(sources).find((path) => path.split("/").pop() === name);

/* "scan_block: 1 block of 256 threads." */
function shapeText(record) {
    const count = (numbers, name) => {
        const size = numbers.reduce((a, b) => a * b, 1);
        const product = numbers[1] * numbers[2] > 1 ? ` (${numbers.join(" × ")})` : "";
        return `${size} ${name}${size === 1 ? "" : "s"}${product}`;
    };
    return `${record.kernel}: ${count(record.grid, "block")} of ${count(record.block, "thread")}.`;
}

/* What the player leaves out. */
function leftOutText(kept, events) {
    return kept < events ? ` The player and the conflicts between barriers have the first ` +
        `${kept} of ${events} events. All other counters, and the findings, are of the whole run.` : "";
}

/* What the player needs of a launch and one of its blocks: { events, size (of shared memory in
 * bytes), intervals } of the block, { levels, blocks } of the launch. null: isWanted() has
 * said no. */
async function playedOf(text, launch, block, ptx, isWanted) {
    const events = [], levels = [], blocks = new Set(), found = trace.makeIntervals(feedsOf(ptx));
    let size = 0;
    const hasAll = await inPieces(trace.linesOf(text), (line, number) => {
        const event = { ...trace.eventOf(line), number };
        if (event.launch !== launch) return;
        trace.addToLevels(levels, event);
        blocks.add(event.block);
        if (event.block !== block) return;
        for (const { word } of trace.wordsOf(event)) size = Math.max(size, trace.WORD * (word + 1));
        found.add(event, events.push(event) - 1);
    }, isWanted);
    return hasAll ? { events, size, intervals: found.intervals, blocks: [...blocks],
                      levels: levels.filter((level) => level) } : null;
}

/* A word of shared memory, "5", or an element of a buffer, "output[5]", for storesTo(); null: there
 * is none of this name. */
function wordNamed(name, { answer, launch, block }) {
    const [, buffer, index] = /^(?:(\w+)\[(?=\d+\]$))?(\d+)\]?$/.exec(name.trim()) || [];
    if (!buffer) return index && { space: "shared", address: index * trace.WORD, launch, block };
    const found = answer.buffers.find((one) => one.name === buffer);
    return found && { space: "global", type: found.type,
                      address: found.address + index * found.type.slice(1) / 8 };
}

/* The launch, the block and the position after the last store to an element that a link names; the
 * end if nothing has been stored to it. null: the link names no element of a buffer. */
function lastStore(name, answer) {
    const word = wordNamed(name, { answer }), lines = trace.linesOf(answer.trace);
    if (!word || word.space !== "global" || !lines.length) return null;
    return trace.storesTo(lines, word)[0] ||
        { ...trace.eventOf(lines[lines.length - 1]), at: lines.length };
}

/* ---- the widget ---------------------------------------------------------------------------- */

function panels() {
    const panel = (name, label) => make("div", { class: `panel ${name}`, tabindex: 0,
                                                 role: "region", "aria-label": label });
    return { choices: make("div", { class: "choices" }), player: make("div", { class: "player" }),
             status: make("p", { class: "status", role: "status" }),
             shape: make("p", { class: "shape" }),
             event: make("p", { class: "event", "aria-live": "polite" }),
             result: make("div", { class: "result", "aria-live": "polite" }),
             source: panel("code", "Source"), lanes: panel("lanes-panel", "Lanes"),
             piles: make("div", { class: "piles-panel" }),
             banks: panel("banks-panel", "Shared memory"), more: make("div", { class: "choices" }),
             tree: make("div", { class: "tree-panel" }),
             held: make("div", { class: "held-panel", "aria-live": "polite" }),
             counters: panel("numbers", "Counters"),
             levels: panel("levels-panel", "Conflicts between barriers"),
             stores: make("div", { class: "stores-panel" }),
             lines: panel("lines-panel", "Counters of each line"),
             findings: panel("findings", "Findings"), edit: make("span", { hidden: true }) };
}

/* Buttons of which one is pressed: a picture each. */
function makeTabs(parts, chosen) {
    const names = ["tree", "piles", "lanes", "held", "banks", "stores"];
    const buttons = Object.entries(VIEWS).map(([name, [text]]) => make("button", {
        type: "button", "data-view": name, onclick: () => chosen(name) }, text));
    function show(name, hasShuffles) {
        for (const one of buttons) {
            one.setAttribute("aria-pressed", String(one.dataset.view === name));
            if (one.dataset.view === "shuffle") one.hidden = !hasShuffles;
        }
        for (const one of names) parts[one].hidden = !VIEWS[name][1].includes(one);
    }
    return { show, element: make("div", { class: "tabs buttons", role: "group",
                                          "aria-label": "Picture" }, buttons) };
}

/* The later access of a finding; -1: none is among the events. */
const laterIn = (finding, indexOf) =>
    Math.max(indexOf(finding.place, finding), indexOf(finding.other_place, finding));

/* The positions behind events that a reader looks for. A race stands at its later access. */
function marksOf(events, findings, indexOf) {
    const after = (isWanted) => events.flatMap((event, k) => (isWanted(event) ? [k + 1] : []));
    const races = [], earlier = new Map(); // by positions of races: the access before
    for (const one of findings.filter(({ tool }) => tool === "racecheck")) {
        const at = laterIn(one, indexOf) + 1, isPlace = indexOf(one.place, one) + 1 === at;
        races.push(at);
        earlier.set(at, (isPlace ? one.other_place : one.place) || {});
    }
    return { barriers: after(trace.isBarrier),
             conflicts: after((one) => trace.conflictsOf(one) > 0),
             earlier, races: [...new Set(races)].filter((at) => at > 0).sort((a, b) => a - b) };
}

/* The position of a place that a link names, or 0. */
function namedPosition(name, events, marks) {
    const barrier = /^barrier-(\d+)$/.exec(name), conflicts = events.map(trace.conflictsOf);
    if (barrier) return Math.max(0, events.findIndex((one) => one.epoch >= Number(barrier[1])));
    return { "first-conflict": () => marks.conflicts[0], "first-race": () => marks.races[0],
             "worst-conflict": () => conflicts.indexOf(Math.max(...conflicts)) + 1,
             "first-shuffle": () => events.findIndex(trace.isShuffle) + 1,
             "first-vote": () => events.findIndex(trace.isVote) + 1,
             end: () => events.length }[name]?.() || 0;
}

/* `changed(state)` is called when the reader has moved. `shown`: which picture is shown at first,
 * and whether the code is. The owner calls show() with an answer. */
function makeWidget(host, title, shown, changed) {
    const parts = panels();
    const source = makeSource(parts.source);
    const memory = makeMemory(parts.lanes, parts.banks, listStores);
    const field = make("input", { size: 10, placeholder: "5 or out[5]",
                                  onchange: () => listStores(field.value) });
    const stores = make("div", { "aria-live": "polite" });
    parts.stores.append(labelled("stores to word", field), stores);
    const tree = makeTree(parts.tree, (change) => changed(change));
    let view = null, isShown = false, fileChoice = null, placeHost = null;
    let turn = 0; // of showing: an answer to an older run is not shown

    const whilePlaying = (plays) => parts.event.setAttribute("aria-live", plays ? "off" : "polite");
    const next = (position, direction, unit) =>
        (view ? nextPosition(view.events, position, direction, unit) : 0);
    const player = makePlayer(parts.player, { show: move, plays: whilePlaying }, next, UNITS);
    const tabs = makeTabs(parts, (name) => {
        showView(name);
        changed({ view: name });
    });
    const codeButton = make("button", { type: "button", class: "code-button", onclick: () => {
        showCode(parts.source.hidden);
        if (view) move(view.position); // scrolls to the line
        changed({ code: parts.source.hidden ? "" : "1" });
    } });
    const more = make("details", { class: "more" },
        make("summary", {}, "More: counters, lines, other GPUs and schedules, PTX"), parts.more,
        make("div", { class: "grid" }, parts.counters, parts.levels), parts.lines);
    const section = make("section", { class: "widget", "aria-label": title, tabindex: 0,
                                      onkeydown: (event) => player.keys(event) },
        make("h2", {}, title), parts.choices,
        make("div", { class: "facts" }, parts.status, parts.shape),
        make("div", {}, make("div", { class: "stage" }, parts.source, make("div", { class: "views" },
            make("div", { class: "above" }, tabs.element,
                 make("span", { class: "buttons" }, codeButton, parts.edit)),
            make("div", { class: "picture-room" },
                 parts.tree, parts.piles, parts.lanes, parts.held, parts.banks, parts.stores))),
        make("div", { class: "deck" }, parts.event, parts.player, parts.result)),
        parts.findings, more);
    host.append(section);

    /* The picture of shuffles belongs to kernels that have some. */
    function showView(name) {
        const hasShuffles = view &&
            view.events.some((one) => trace.isShuffle(one) || trace.isVote(one));
        tabs.show(name === "shuffle" && !hasShuffles ? "tree" : name, hasShuffles);
    }
    function showCode(isCode) {
        parts.source.hidden = parts.edit.hidden = !isCode;
        codeButton.textContent = isCode ? "Hide the code" : "Show the code";
    }

    function move(position) {
        if (!view) return;
        const event = view.events[position - 1];
        view.position = position;
        parts.event.textContent = view.events.length
            ? eventText(view.events, position, view.races.get(position)) : view.none;
        if (event && event.file && event.file !== view.file) showFile(event.file);
        source.mark(event ? event.line : 0, event && trace.conflictsOf(event) > 0);
        const held = trace.heldBack(view.events, position - 1);
        memory.show(view.events, position, trace.storedAfter(view.intervals, position), held);
        showPiles(parts.piles, view.events, position, view.banks);
        showHeld(parts.held, held);
        tree.show(position);
        const sums = view.hasAllBlocks ? trace.sumsOf(view.events, position) : null;
        if (view.record)
            replace(parts.counters,
                    counters.countersTable(view.record.counters, sums, view.recorded,
                                           view.beside));
        changed({ at: position });
    }

    /* Up to the event that is shown, the last one first; a click on one goes there. */
    function listStores(name) {
        const word = view && wordNamed(name, view);
        field.value = name;
        replace(stores, word ? "" : "There is no such word.");
        if (!word) return;
        const shown = view.events[view.position - 1];
        const lines = trace.linesOf(view.answer.trace || "").slice(0, shown ? shown.number + 1 : 0);
        const found = trace.storesTo(lines, word);
        const goTo = ({ launch, block, at }) => (launch === view.launch && block === view.block
            ? player.go(at) : view.select({ launch, block, at, to: "" }));
        showView("memory");
        const count = found.length ? counted(found.length, "store") : "No thread has stored";
        const end = found.length > 1 ? ", the last one first:" : found.length ? ":" : ".";
        const what = word.type ? name : `word ${name} of shared memory`;
        replace(stores, make("p", {}, `${count} to ${what} up to here${end}`),
        make("ol", {}, found.slice(0, MOST_STORES).map((one) => make("li", {}, make("button", {
            type: "button", class: "to", onclick: () => goTo(one) }, storeText(one,
            (view.launches[one.launch] || { block: [1, 1, 1] }).block, word.type || view.type))))));
    }

    function showFile(name) {
        const path = pathOf(view.sources, name);
        view.file = name;
        if (fileChoice) fileChoice.value = name;
        const barriers = new Map(view.barriers.filter((one) => one.file.split("/").pop() === name)
            .map((one) => [one.line, one]));
        const first = view.events.find((event) => event.file === name);
        source.show(name, path ? view.sources[path] : NO_SOURCE, view, barriers,
                    (line) => view.off.has(`${name}:${line}`),
                    (line) => view.toggle(`${name}:${line}`), first ? first.line : 1);
    }

    function showLevels() {
        replace(parts.levels, view.levels.length
            ? counters.levelsTable(view.levels, isShown, () => {
                isShown = true;
                showLevels();
                parts.levels.focus({ preventScroll: true }); // the button is gone
            }) : []);
    }

    /* Which launch and block the player shows. */
    function placeChoices(launches, state, select) {
        fileChoice = choice(view.files.map((one) => [one, one]), view.file, (name) => {
            showFile(name);
            changed({ file: name });
        });
        return [view.files.length > 1 ? labelled("source", fileChoice) : null,
        launches.length > 1 ? labelled("launch", choice(launches.map((one, k) =>
            [k, `${k}: ${one.kernel}`]), state.launch,
            (value) => select({ launch: Number(value), block: 0 }))) : null,
        view.blocks.length > 1 ? labelled("block", choice(
            view.blocks.map((one) => [one, one]), state.block,
            (value) => select({ block: Number(value) }))) : null];
    }

    /* given: answer, state (at, launch, block, rules), sources, kernel (the name in PTX), files
     * (the names of its source files), none (why there is nothing to play), barriers, off, toggle,
     * recorded(launch), beside(launch) (counters of the book's kernel), select(state), type, ptx,
     * fold, keep (of instruction()), toLine(file, line) (what shows a line in an editor). A promise of the end. */
    async function show(given) {
        const { answer, state } = given, mine = ++turn;
        const document = answer.document ? JSON.parse(answer.document) : null;
        const place = lastStore(state.to || "", answer) || state;
        const launch = place.launch || 0, isWanted = () => mine === turn;
        const play = (one) => playedOf(answer.trace || "", launch, one, given.ptx, isWanted);
        let block = place.block || 0, played = await play(block);
        if (played && !played.events.length && played.blocks.length) { // a link may name any block
            block = played.blocks[0];
            changed({ block });
            played = await play(block);
        }
        if (!played) return;
        const { events } = played;
        const record = document ? document.launches[launch] : null;
        const files = given.files.filter((name) => pathOf(given.sources, name));
        const isSame = view && view.kernel === given.kernel;
        const wanted = [state.file, isSame ? view.file : ""].find((name) => files.includes(name));
        if (!view || view.answer !== answer) replace(stores);
        view = { ...given, ...played, launch, block, files, record,
                 launches: document ? document.launches : [], file: null, position: 0,
                 banks: trace.banksOf(state.rules),
                 findings: findingsByLine(document), hasAllBlocks: played.blocks.length < 2,
                 recorded: given.recorded ? given.recorded(launch) : null,
                 beside: given.beside ? given.beside(launch) : null };
        parts.shape.textContent = (record ? shapeText(record) : "") +
            leftOutText(trace.linesOf(answer.trace || "").length, answer.events);
        counters.showResult(parts.result, answer, document);
        /* Where a finding's access stands among the events; -1: not among these. */
        const indexOf = (place, finding) => (place && place.file && place.thread && record &&
            finding.launch === launch && place.block[0] === block
            ? trace.eventAt(events, place, finding.address, record.block) : -1);
        const linkTo = (finding) => {
            const at = laterIn(finding, indexOf);
            return at < 0 ? null : make("button", { type: "button", class: "to", onclick: () =>
                player.go(at + 1) }, `show event ${at + 1}`);
        };
        replace(parts.findings, document
            ? counters.findingsList(document, !answer.error, linkTo, given.toLine) : "");
        replace(parts.counters, "");
        replace(parts.lines, linesTable(record, document, given.sources));
        showFile(wanted || files[0] || given.files[0]);
        showLevels();
        memory.begin(view.size, state.rules, given.type);
        if (!played.blocks.length) replace(parts.banks, "");
        tree.begin({ ...played, type: given.type, fold: given.fold, words: state.words,
                     first: state.first });
        placeHost = given.placeHost;
        replace(placeHost, placeChoices(view.launches, { launch, block }, given.select));
        section.classList.remove("empty");
        section.classList.toggle("unplayed", !events.length);
        showView(state.view || shown.view);
        showCode(Boolean(shown.code || state.code || (given.off && given.off.size)));
        const marks = marksOf(events, document ? document.findings : [], indexOf);
        view.races = marks.earlier;
        const kept = given.keep ? trace.findInstruction(events, given.keep) : -1;
        const at = state.to && place === state ? namedPosition(state.to, events, marks)
            : place.at || 0;
        changed({ to: "", launch, block });
        player.reset(events.length, kept < 0 ? at : kept + 1, marks);
        if (place !== state) listStores(state.to);
    }

    function clear() {
        turn++;
        view = null;
        section.classList.add("empty");
        player.reset(0, 0);
        for (const name of PANELS)
            replace(parts[name], "");
        if (placeHost) replace(placeHost, "");
        for (const name of ["event", "shape"]) parts[name].textContent = "";
        replace(parts.result, "");
    }
    function fail(message) {
        clear();
        replace(parts.result, make("p", { class: "wrong" }, message));
    }
    const status = (text) => { parts.status.textContent = text; };
    showView(shown.view);
    showCode(shown.code);
    clear();
    return { parts, section, more, show, showCode, listStores, clear, fail, status,
             instruction: () => view && trace.instructionOf(view.events, view.position - 1) };
}

module.exports = { NONE, makeWidget };
