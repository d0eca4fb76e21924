/* player.js -- play, step, back, jumps, and a bar: a number from 0 to a largest one that the reader
 * moves. The bar is painted with what happens where. */
"use strict";
const { make, makeSvg, replace, labelled, choice } = require("./dom.js");

const PAUSE_MS = 250, FASTEST_MS = 16;
const SPEEDS = [[0.5, "slow"], [1, "normal"], [4, "fast"], [20, "very fast"]];
const WIDTH = 1000, HEIGHT = 12; // of the painted strip, in its own units

/* One path for all places of a kind; places that are painted at the same point are one. */
function strokes(name, places, last, top, height) {
    const xs = new Set(places.map((place) => Math.round(place / last * WIDTH)));
    return makeSvg("path", { class: name, "vector-effect": "non-scaling-stroke",
                             d: [...xs].map((x) => `M${x} ${top}v${height}`).join("") });
}

/* show(position) is called whenever the position changes, and plays(true or false) when playing
 * begins and ends. next(position, step) returns the position
 * of the next (1) or previous (-1) place to stop, by what the reader has chosen. */
function makePlayer(host, { show, plays }, next, units) {
    let position = 0, last = 0, timer = null, unit = units[0][0], speed = 1;
    let marks = { barriers: [], conflicts: [], races: [] };
    const bar = make("input", { type: "range", min: 0, max: 0, value: 0, class: "bar",
                                "aria-label": "Position in the launch",
                                oninput: () => { pause(); go(Number(bar.value)); } });
    const strip = makeSvg("svg", { class: "strip", viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
                                   preserveAspectRatio: "none", "aria-hidden": "true" });
    const button = (name, action, key) => make("button", {
        type: "button", "aria-keyshortcuts": key, onclick: action }, name);
    const play = button("Play", () => (timer ? pause() : start()), "Space");
    play.classList.add("play");
    const step = (direction) => { pause(); go(next(position, direction, unit)); };

    /* To the next mark of a kind; after the last one, to the first. */
    function jump(name) {
        pause();
        const places = marks[name], later = places.find((one) => one > position);
        go(later === undefined ? places[0] : later);
    }
    const jumps = { conflicts: button("Next conflict", () => jump("conflicts")),
                    races: button("Next race", () => jump("races")) };

    function go(to) {
        position = Math.max(0, Math.min(last, to));
        bar.value = position;
        bar.setAttribute("aria-valuetext", `${position} of ${last}`);
        show(position);
    }
    function tick() {
        if (host.closest("[hidden]")) { // another chapter is shown
            pause();
            return;
        }
        /* What is faster than pictures are drawn goes several steps at once. */
        const count = Math.max(1, Math.round(FASTEST_MS * speed / PAUSE_MS));
        let to = position;
        for (let k = 0; k < count && to < last; k++) to = next(to, 1, unit);
        go(to);
        if (position === last) pause();
        else timer = setTimeout(tick, Math.max(FASTEST_MS, PAUSE_MS / speed));
    }
    function start() {
        if (position === last) go(0);
        play.textContent = "Pause";
        plays(true);
        timer = setTimeout(tick, PAUSE_MS / speed);
    }
    function pause() {
        clearTimeout(timer);
        timer = null;
        play.textContent = "Play";
        plays(false);
    }
    function keys(event) {
        const { tagName } = event.target, isButton = tagName === "BUTTON";
        if (/^(INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(tagName)) return;
        if (isButton && event.key === " ") return;
        if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own
        const actions = { ArrowRight: () => step(1), ArrowLeft: () => step(-1),
                          Home: () => go(0), End: () => go(last),
                          " ": () => (timer ? pause() : start()) };
        if (!actions[event.key]) return;
        event.preventDefault();
        actions[event.key]();
    }
    host.append(button("Start", () => { pause(); go(0); }, "Home"),
                button("Back", () => step(-1), "ArrowLeft"), play,
                button("Step", () => step(1), "ArrowRight"),
                button("End", () => { pause(); go(last); }, "End"),
                jumps.conflicts, jumps.races,
                labelled("step by", choice(units, unit, (value) => { unit = value; })),
                labelled("speed", choice(SPEEDS, speed, (value) => { speed = Number(value); })),
                make("div", { class: "track" }, bar, strip));

    /* Begins with a launch of `size` events at a position. `given`: the positions of barriers,
     * conflicts and races, in order. */
    function reset(size, at, given) {
        pause();
        marks = given || { barriers: [], conflicts: [], races: [] };
        last = bar.max = size;
        replace(strip, size ? [strokes("barriers", marks.barriers, size, 0, HEIGHT),
                               strokes("conflicts", marks.conflicts, size, 3, HEIGHT - 3),
                               strokes("races", marks.races, size, 0, HEIGHT)] : "");
        for (const [name, one] of Object.entries(jumps)) one.disabled = !marks[name].length;
        go(at);
    }
    return { keys, pause, reset, go: (to) => { pause(); go(to); } };
}

module.exports = { makePlayer };
