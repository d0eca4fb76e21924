/*
 * widget.js -- a kernel that runs in the page: choices, the player, the source, lanes and banks,
 * counters and findings. A widget shows what an answer of the emulator holds (face/face.h).
 */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const trace = require("./trace.js");
const { makeSource } = require("./view_source.js");
const { makeMemory } = require("./view_memory.js");
const { makePlayer } = require("./player.js");
const counters = require("./view_counters.js");

const UNITS = [["access", "warp instruction"], ["barrier", "barrier"]];
const NO_SOURCE = "The page does not have this file.";
const MOST_EVENTS = 60000;

/* ---- sentences ----------------------------------------------------------------------------- */

const lanesIn = (mask) => mask.toString(2).replace(/0/g, "").length;

function accessText(event) {
    const verbs = { ld: "loads from", st: "stores to", atom: "changes" };
    const what = `${verbs[event.operation]} ${event.space} memory, ${lanesIn(event.mask >>> 0)} lanes`;
    if (!trace.isShared(event)) return `${what}, ${event.sectors} sectors`;
    const more = trace.conflictsOf(event);
    const wavefronts = `${event.wavefronts} ${event.wavefronts === 1 ? "wavefront" : "wavefronts"}`;
    return `${what}, ${wavefronts}: ${more ? `${more} of them by bank conflicts` : "no conflict"}`;
}

/* How many warps of the block have come to the barrier that the last event came to. */
function barrierText(events, count) {
    const last = events[count - 1];
    const same = (event) => trace.isBarrier(event) && event.epoch === last.epoch;
    const here = new Set(events.slice(0, count).filter(same).map((event) => event.warp));
    const all = new Set(events.filter(same).map((event) => event.warp));
    return here.size < all.size
        ? `waits at the barrier: ${here.size} of ${all.size} warps are here`
        : `comes to the barrier as the last of ${all.size} warps: all go on`;
}

function eventText(events, count) {
    const event = events[count - 1];
    if (!event) return "Nothing has run yet.";
    const what = trace.isBarrier(event) ? barrierText(events, count)
        : event.space === "-" ? `executes ${event.operation}, ${lanesIn(event.mask >>> 0)} lanes`
            : accessText(event);
    return `${count} of ${events.length}: block ${event.block}, warp ${event.warp}, ` +
        `${event.file}:${event.line} ${what}.`;
}

/* The position of the next event (direction 1) or previous one at which a reader stops. */
function nextPosition(events, position, direction, unit) {
    let to = position + direction;
    const goesOn = () => to > 0 && to < events.length && events[to].epoch === events[to - 1].epoch;
    while (unit === "barrier" && goesOn()) to += direction;
    return to;
}

/* ---- the widget ---------------------------------------------------------------------------- */

function panels() {
    const panel = (name, label) => make("div", { class: `panel ${name}`, tabindex: 0,
                                                 role: "region", "aria-label": label });
    return { choices: make("div", { class: "choices" }), player: make("div", { class: "player" }),
             status: make("p", { class: "status", role: "status" }),
             event: make("p", { class: "event", "aria-live": "polite" }),
             result: make("div", { class: "result", "aria-live": "polite" }),
             source: panel("code", "Source"), lanes: panel("lanes-panel", "Lanes"),
             banks: panel("banks-panel", "Shared memory"), counters: panel("numbers", "Counters"),
             levels: panel("levels-panel", "Conflicts between barriers"),
             findings: panel("findings", "Findings") };
}

/* `changed(state)` is called when the reader has moved. The owner calls show() with an answer. */
function makeWidget(host, title, changed) {
    const parts = panels();
    const source = makeSource(parts.source), memory = makeMemory(parts.lanes, parts.banks);
    let view = null, isShown = false;

    const whilePlaying = (plays) => parts.event.setAttribute("aria-live", plays ? "off" : "polite");
    const player = makePlayer(parts.player, { show: move, plays: whilePlaying }, (position, direction, unit) =>
        (view ? nextPosition(view.events, position, direction, unit) : 0), UNITS);
    const section = make("section", { class: "widget", "aria-label": title, tabindex: 0,
                                      onkeydown: (event) => player.keys(event) },
        make("h2", {}, title), parts.choices, parts.status, parts.result, parts.player, parts.event,
        make("div", { class: "stack" }, parts.lanes, parts.banks),
        make("div", { class: "grid" }, parts.source,
             make("div", { class: "stack" }, parts.counters, parts.levels)), parts.findings);
    host.append(section);

    function move(position) {
        if (!view) return;
        const event = view.events[position - 1];
        parts.event.textContent = eventText(view.events, position);
        if (event && event.file && event.file !== view.file) showFile(event.file);
        source.mark(event ? event.line : 0, event && trace.conflictsOf(event) > 0);
        memory.show(view.events, position, view.size);
        const sums = view.hasAllBlocks ? trace.sumsOf(view.events, position) : null;
        if (view.record)
            replace(parts.counters,
                    counters.countersTable(view.record.counters, sums, view.recorded));
        changed({ at: position });
    }

    function showFile(name) {
        const path = Object.keys(view.sources).find((one) => one.split("/").pop() === name);
        view.file = name;
        const barriers = new Map(view.barriers.filter((one) => one.file.split("/").pop() === name)
            .map((one) => [one.line, one]));
        source.show(name, path ? view.sources[path] : NO_SOURCE, view.record, barriers,
                    (line) => view.off.has(`${name}:${line}`),
                    (line) => view.toggle(`${name}:${line}`));
    }

    function showLevels() {
        const levels = trace.levelsOf(view.launchEvents);
        replace(parts.levels, levels.length
            ? counters.levelsTable(levels, isShown, () => { isShown = true; showLevels(); }) : []);
    }

    /* Which launch and block the player shows. */
    function placeChoices(launches, state, select) {
        const blocks = [...new Set(view.launchEvents.map((event) => event.block))];
        return [launches.length > 1 ? labelled("Launch", choice(launches.map((one, k) =>
            [k, `${k}: ${one.kernel}`]), state.launch, (value) => select({ launch: Number(value), block: 0 })))
            : null,
        blocks.length > 1 ? labelled("Block", choice(blocks.map((one) => [one, one]), state.block,
            (value) => select({ block: Number(value) }))) : null];
    }

    /* given: answer, state (at, launch, block, rules), sources, file, barriers, off, toggle,
     * recorded(launch), select(state), type. */
    function show(given) {
        const { answer, state } = given;
        const document = answer.document ? JSON.parse(answer.document) : null;
        const all = trace.readTrace(answer.trace || "");
        const launch = state.launch || 0;
        const launchEvents = all.filter((event) => event.launch === launch).slice(0, MOST_EVENTS);
        const events = launchEvents.filter((event) => event.block === (state.block || 0));
        const record = document ? document.launches[launch] : null;
        view = { ...given, events, launchEvents, size: trace.sizeOf(events), record, file: null,
                 hasAllBlocks: events.length === launchEvents.length,
                 recorded: given.recorded ? given.recorded(launch) : null };
        counters.showResult(parts.result, answer);
        replace(parts.findings, document ? counters.findingsList(document) : "");
        replace(parts.counters, "");
        showFile((events[0] && events[0].file) || given.file);
        showLevels();
        memory.begin(view.size, state.rules, given.type);
        replace(given.placeHost, placeChoices(document ? document.launches : [], state, given.select));
        player.reset(events.length, state.at === undefined ? 0 : state.at);
    }

    const fail = (message) => {
        player.pause();
        view = null;
        for (const name of ["source", "lanes", "banks", "counters", "levels", "findings"])
            replace(parts[name], "");
        parts.event.textContent = "";
        replace(parts.result, make("p", { class: "wrong" }, message));
    };
    return { parts, section, show, fail, status: (text) => { parts.status.textContent = text; } };
}

module.exports = { makeWidget };
