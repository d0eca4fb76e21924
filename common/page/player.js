/* player.js -- play, step, back, and a bar: a number from 0 to a largest one that the reader
 * moves. */
"use strict";
const { make, labelled, choice } = require("./dom.js");

const PAUSE_MS = 250;

/* show(position) is called whenever the position changes, and plays(true or false) when playing
 * begins and ends. next(position, step) returns the position
 * of the next (1) or previous (-1) place to stop, by what the reader has chosen. */
function makePlayer(host, { show, plays }, next, units) {
    let position = 0, last = 0, timer = null, unit = units[0][0];
    const bar = make("input", { type: "range", min: 0, max: 0, value: 0, class: "bar",
                                "aria-label": "Position in the launch",
                                oninput: () => { pause(); go(Number(bar.value)); } });
    const button = (name, key, action) =>
        make("button", { type: "button", title: `${name} (${key})`, onclick: action }, name);
    const play = button("Play", "space", () => (timer ? pause() : start()));
    const step = (direction) => { pause(); go(next(position, direction, unit)); };

    function go(to) {
        position = Math.max(0, Math.min(last, to));
        bar.value = position;
        bar.setAttribute("aria-valuetext", `${position} of ${last}`);
        show(position);
    }
    function start() {
        if (position === last) go(0);
        play.textContent = "Pause";
        plays(true);
        timer = setInterval(() => {
            if (host.closest("[hidden]")) { // another chapter is shown
                pause();
                return;
            }
            go(next(position, 1, unit));
            if (position === last) pause();
        }, PAUSE_MS);
    }
    function pause() {
        clearInterval(timer);
        timer = null;
        play.textContent = "Play";
        plays(false);
    }
    function keys(event) {
        if (/^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(event.target.tagName)) return;
        if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own
        const actions = { ArrowRight: () => step(1), ArrowLeft: () => step(-1),
                          Home: () => go(0), End: () => go(last),
                          " ": () => (timer ? pause() : start()) };
        if (!actions[event.key]) return;
        event.preventDefault();
        actions[event.key]();
    }
    host.append(button("Start", "Home", () => { pause(); go(0); }),
                button("Back", "left arrow", () => step(-1)), play,
                button("Step", "right arrow", () => step(1)),
                button("End", "End", () => { pause(); go(last); }),
                labelled("step by", choice(units, unit, (value) => { unit = value; })), bar);
    return { keys, pause, reset: (size, at) => { pause(); last = size; bar.max = size; go(at); } };
}

module.exports = { makePlayer };
