/* start.js -- the first screen: eight numbers of the reader's own, and the values that move up the
 * tree and down again, as step 3's kernel has moved them (sweep.js). */
"use strict";
const { make, makeSvg, replace, table } = require("./dom.js");
const { LEAST, LEVELS, MOST, N, NUMBERS, nameOf, numberText, sentenceOf } = require("./sweep.js");

const HEIGHT = 34, WIDEST = 76, NARROW = 600; // pixels: of a node, and below which the tree is low
const ROW = 76, LOW_ROW = 62, TOP = 4;
const MOVE_MS = 1100, REST_MS = 900, FIRST_REST_MS = 250;
const CHIP = 46; // width of a number that moves, in pixels
const ASK = "Your numbers: change them.";
const BAD = `Write eight whole numbers from ${numberText(LEAST)} to ${MOST}.`;
/* The names in the line of code. */
const NAMES = { load: "thid: the thread's number", root: "n - 1: the place of the root",
                up: "ai, bi: the places of a left and a right child",
                down: "ai, bi: the places of a left and a right child" };
const stays = matchMedia("(prefers-reduced-motion: reduce)");

const idOf = (level, index) => `${level}.${index}`;
const indexOf = (level, word) => ((word + 1) >> level) - 1;
const ease = (part) => part * part * (3 - 2 * part);
const isSum = (sources) => sources.length > 1;

/* ---- where values are ------------------------------------------------------------------------ */

/* The nodes after a stage: id -> { value, kind ("leaf", "sum" or "prefix"), isGone (its word
 * holds another node's value) }. */
function nodesAfter(stages, count) {
    const nodes = new Map();
    for (const { kind, level, moves } of stages.slice(0, count + 1))
        for (const { word, value } of moves) {
            const index = indexOf(level, word), isDown = kind === "down";
            const old = nodes.get(idOf(isDown ? level + 1 : level - 1,
                                       isDown ? index >> 1 : 2 * index + 1));
            if (old) old.isGone = true;
            nodes.set(idOf(level, index), { value, isGone: false, kind: kind === "load" ? "leaf"
                : kind === "up" ? "sum" : "prefix" });
        }
    return nodes;
}

/* What travels in a stage: { from, to (ids), value, kind }. */
function travelsOf({ kind, level, moves, before }) {
    const travels = [];
    if (kind !== "up" && kind !== "down") return travels;
    for (const { word, sources } of moves) {
        const to = idOf(level, indexOf(level, word));
        for (const source of sources) {
            const isSister = kind === "down" && source !== word && isSum(sources);
            const home = kind === "up" ? level - 1 : isSister ? level : level + 1;
            travels.push({ from: idOf(home, indexOf(home, source)), to, value: before[source],
                           kind: kind === "up" || isSister ? (home ? "sum" : "leaf") : "prefix" });
        }
    }
    return travels;
}

/* ---- the drawing ----------------------------------------------------------------------------- */

function box(width) {
    const rect = makeSvg("rect", { rx: 9, x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT });
    const text = makeSvg("text", { y: 6 }), group = makeSvg("g", {}, rect, text);
    return { group, set(value, kind) {
        const shown = value === null ? "" : numberText(value);
        if (text.textContent !== shown) text.textContent = shown;
        if (group.getAttribute("class") !== kind) group.setAttribute("class", kind);
    } };
}

/* A picture of a width. draw(stages, time): a time between two whole ones shows values on their
 * way to the later stage. */
function makePicture(host, width) {
    const column = width / N, node = Math.min(WIDEST, column - 5);
    const row = width < NARROW ? LOW_ROW : ROW;
    const height = TOP + LEVELS * row + HEIGHT + 4, places = new Map(), boxes = new Map();
    const edges = new Map(), behind = makeSvg("g"), before = makeSvg("g");
    for (let level = LEVELS; level >= 0; level--)
        for (let index = 0; index < N >> level; index++)
            places.set(idOf(level, index), {
                x: (index + 0.5) * column * (1 << level),
                y: TOP + HEIGHT / 2 + (LEVELS - level) * row });
    for (let level = 0; level < LEVELS; level++)
        for (let index = 0; index < N >> level; index++) {
            const child = places.get(idOf(level, index));
            const parent = places.get(idOf(level + 1, index >> 1));
            const edge = makeSvg("line", { x1: child.x, y1: child.y, x2: parent.x, y2: parent.y });
            edges.set(idOf(level, index), edge);
            behind.append(edge);
        }
    for (const [id, { x, y }] of places) {
        const one = box(node);
        one.group.setAttribute("transform", `translate(${x} ${y})`);
        boxes.set(id, one);
        behind.append(one.group);
    }
    replace(host, makeSvg("svg", { class: "sums", width, height, "aria-hidden": "true",
                                   viewBox: `0 0 ${width} ${height}` }, behind, before));
    let flying = [], flyingOf = null;

    function fly(travels, part) {
        if (flyingOf !== travels) {
            flying = travels.map(({ value, kind }) => {
                const one = box(Math.min(node, CHIP));
                one.set(value, `${kind} moves`);
                return one.group;
            });
            before.replaceChildren(...flying);
            flyingOf = travels;
        }
        travels.forEach(({ from, to }, k) => {
            const a = places.get(from), b = places.get(to), along = ease(part);
            /* Two that arrive at the same node end beside each other, so both can be read. */
            const isPair = travels.some((other, j) => j !== k && other.to === to);
            const beside = isPair ? Math.sign(a.x - b.x) * CHIP / 2 * along : 0;
            /* From a child to its sister: below the edges. */
            const arc = a.y === b.y ? Math.sin(Math.PI * along) * HEIGHT : 0;
            flying[k].setAttribute("transform", `translate(${a.x + (b.x - a.x) * along + beside} ` +
                `${a.y + (b.y - a.y) * along + arc})`);
        });
    }
    /* `film`: stages with their nodes and travels. */
    function draw(film, time) {
        const done = Math.floor(time), part = time - done;
        const travels = part ? film[done + 1].travels : [];
        const used = new Set(travels.map(({ from, to }) => (from > to ? to : from)));
        for (const [id, one] of boxes) {
            const found = film[done].nodes.get(id);
            one.set(found ? found.value : null,
                    found ? `${found.kind}${found.isGone ? " gone" : ""}` : "empty");
        }
        for (const [id, edge] of edges) edge.setAttribute("class", used.has(id) ? "used" : "");
        fly(travels, part);
    }
    return draw;
}

/* The tree as rows: one for each stage, and in each a cell for each word. */
const stagesTable = (film) => table("The eight words of shared memory after each stage",
    ["stage", ...NUMBERS.map((_, k) => `word ${k}`)],
    film.map((stage) => [nameOf(stage), ...stage.after.map(numberText)]));

/* ---- the screen ------------------------------------------------------------------------------ */

/* `run(numbers)` promises the stages of these numbers; `remember(state)` keeps the state in the
 * address. */
function makeStart(host, stages, run, remember) {
    let film = [], time = 0, draw = () => {}, frame = null, ran = 0, latest = NUMBERS;
    const last = stages.length - 1, article = host.closest("article");
    const picture = make("div", { class: "picture" }), rows = make("div", { class: "scrolls" });
    const title = make("strong"), sentence = make("span"), code = make("code");
    const names = make("span");
    const told = make("p", { class: "told", "aria-live": "polite" }, title, " ", sentence);
    const asks = make("span", { role: "status" });
    const fields = NUMBERS.map((value, k) => make("input", { type: "number", min: LEAST, max: MOST,
        step: 1, value, "aria-label": `Number ${k + 1} of ${N}`, oninput: read }));
    const bar = make("input", { type: "range", min: 0, max: last, step: 0.01, value: 0,
                                "aria-label": "Stage of the scan", onkeydown: keys,
                                oninput: () => { pause(); go(Number(bar.value)); } });
    const play = make("button", { type: "button", class: "play", onclick: () =>
        (frame ? pause() : start()) }, "Play");
    const button = (name, direction) => make("button", { type: "button", onclick: () => {
        pause();
        go(next(direction));
    } }, name);
    const details = make("details", { ontoggle: showRows },
                         make("summary", {}, "The tree as a table"), rows);
    const next = (direction) => (direction > 0 ? Math.floor(time + 1) : Math.ceil(time - 1));

    function showRows() { replace(rows, details.open ? stagesTable(film) : ""); }

    function go(to) {
        time = Math.max(0, Math.min(last, to));
        const stage = film[Math.ceil(time)], words = sentenceOf(stage);
        draw(film, time);
        bar.value = time;
        bar.setAttribute("aria-valuetext", nameOf(stage));
        bar.style.setProperty("--part", `${time / last * 100}%`);
        if (sentence.textContent === words) return;
        title.textContent = `${nameOf(stage)}.`;
        sentence.textContent = words;
        code.textContent = stage.code.join("  ");
        names.textContent = `(${NAMES[stage.kind]})`;
    }
    function keys(event) {
        const to = { ArrowRight: next(1), ArrowUp: next(1), PageUp: next(1), ArrowLeft: next(-1),
                     ArrowDown: next(-1), PageDown: next(-1), Home: 0, End: last }[event.key];
        if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        pause();
        go(to);
        keep();
    }

    /* A stage moves, rests, and the next one follows. Without motion the values jump. */
    function start() {
        if (time >= last) go(0);
        play.textContent = "Pause";
        let from = Math.floor(time), begun = null;
        const rest = () => (from ? REST_MS : FIRST_REST_MS);
        const part = (passed) => (stays.matches ? Number(passed > MOVE_MS)
            : Math.max(0, Math.min(1, (passed - rest()) / MOVE_MS)));
        const show = (now) => {
            if (begun === null) begun = now - (time > from ? rest() + (time - from) * MOVE_MS : 0);
            const along = part(now - begun);
            go(along < 1 ? Math.max(time, from + along) : from + 1);
            if (along === 1) {
                from++;
                begun = now;
            }
            if (from >= last || host.closest("[hidden]")) {
                pause();
                keep();
            } else frame = requestAnimationFrame(show);
        };
        frame = requestAnimationFrame(show);
    }
    function pause() {
        cancelAnimationFrame(frame);
        frame = null;
        play.textContent = time >= last ? "Play again" : "Play";
    }

    function keep() {
        const isUsual = String(latest) === String(NUMBERS);
        remember({ chapter: "start", at: Math.ceil(time),
                   numbers: isUsual ? "" : latest.join(" ") });
    }

    function show(given, numbers) {
        latest = numbers;
        film = given.map((stage, k) => ({ ...stage, nodes: nodesAfter(given, k),
                                          travels: travelsOf(stage) }));
        sentence.textContent = "";
        go(time);
        showRows();
        const texts = (values) => values.map(numberText).join(" ");
        article.querySelector(".given").textContent = texts(numbers);
        article.querySelector(".result").textContent = texts(film[last].after);
    }

    function say(error) {
        asks.textContent = error || ASK;
        asks.className = error ? "wrong" : "";
    }

    /* Runs the kernel on what the fields hold, if these are eight numbers. */
    async function read() {
        const mine = ++ran;
        const numbers = fields.map((one) => (one.value === "" ? NaN : Number(one.value)));
        const isGood = (value) => Number.isInteger(value) && value >= LEAST && value <= MOST;
        fields.forEach((one, k) => one.setAttribute("aria-invalid", String(!isGood(numbers[k]))));
        say(numbers.every(isGood) ? "" : BAD);
        if (!numbers.every(isGood)) return;
        try {
            const given = await run(numbers);
            if (mine === ran) show(given, numbers);
        } catch (error) {
            if (mine === ran) say(error.message);
        }
        if (mine === ran) keep();
    }
    function setNumbers(numbers) {
        fields.forEach((one, k) => { one.value = numbers[k]; });
        return read();
    }
    const random = () => setNumbers(NUMBERS.map(() => Math.floor(Math.random() * 10)));

    replace(host, picture,
        make("fieldset", { class: "yours" }, make("legend", {}, asks), fields),
        make("div", { class: "controls" }, play, button("Back", -1), button("Step", 1),
             make("div", { class: "scrubber" }, bar,
                  make("div", { class: "stages", "aria-hidden": "true" },
                       stages.map((stage) => make("span", { class: stage.kind })))),
             make("button", { type: "button", onclick: random }, "Random")),
        told, make("p", { class: "line" }, "Each thread runs: ", code, " ", names), details);
    new ResizeObserver(() => {
        if (!picture.clientWidth) return; // another chapter is shown
        draw = makePicture(picture, picture.clientWidth);
        go(time);
    }).observe(picture);
    draw = makePicture(picture, picture.clientWidth || 800);
    say("");
    show(stages, NUMBERS);

    /* A link has a stage, and numbers. */
    function open(state) {
        const numbers = (state.numbers || "").split(" ").map(Number);
        if (state.at !== undefined || state.numbers) pause(); /* a plain address stops no film */
        if (state.at !== undefined) go(state.at);
        if (state.numbers && numbers.length === N) return setNumbers(numbers);
        return null;
    }
    return { open };
}

module.exports = { makeStart };
