/* order_lines.js -- lines of code that a reader puts in order, by keys, by a pointer or by two
 * buttons. */
"use strict";
const { make, replace } = require("./dom.js");
const { coloured, piecesOf } = require("./lexer.js");

const KEYS = "Up and down choose a line; with Alt they move it. A pointer drags it.";
const code = (text) => make("code", {}, piecesOf(text).map(coloured));
const numbered = (line, ...more) => [make("span", { class: "at", "aria-hidden": "true" },
                                          String(line)), more];

/* `order` is that of labs.js; `letters` the present order, and changed(letters) is called after each
 * move. The elements { element, show(letters) }. */
function makeOrderLines({ before, after, lines }, letters, changed) {
    let mine = [...letters], chosen = 0;
    const help = make("p", { class: "keys", id: `order-${++makeOrderLines.count}` }, KEYS);
    const list = make("div", { role: "listbox", class: "order", "aria-label": "Lines in your order",
                               "aria-describedby": help.id, onkeydown: keys, onpointerdown: drag });
    const said = make("span", { role: "status", class: "said" });
    const fixed = ({ line, text }) => make("div", { class: "fixed" }, numbered(line, code(text)));
    const button = (name, step) => make("button", { type: "button", onclick: () => {
        move(chosen + step);
    } }, name);

    /* The rows; that of the chosen line can be focused. */
    function draw(hasFocus) {
        replace(list, lines(mine.join("")).map(({ line, text }, k) => make("div", {
            role: "option", "aria-selected": String(k === chosen), tabindex: k === chosen ? 0 : -1,
            "data-k": k }, numbered(line, code(text),
                make("span", { class: "handle", "aria-hidden": "true" }, "⠿")))));
        if (hasFocus) list.children[chosen].focus({ preventScroll: true });
    }
    function choose(k, hasFocus = true) {
        chosen = Math.max(0, Math.min(mine.length - 1, k));
        draw(hasFocus);
    }
    /* Moves the chosen line to a place. */
    function move(to, hasFocus = true) {
        if (to < 0 || to >= mine.length || to === chosen) return;
        mine.splice(to, 0, ...mine.splice(chosen, 1));
        chosen = to;
        draw(hasFocus);
        said.textContent = `Line ${chosen + 1} of ${mine.length}.`;
        changed(mine.join(""));
    }
    function keys(event) {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        const to = { Home: 0, End: mine.length - 1 }[event.key];
        if ((step === undefined && to === undefined) || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        event.stopPropagation();
        (event.altKey ? move : choose)(to ?? chosen + step);
    }

    /* The line under the pointer goes with it; on a touch screen by its handle, as a touch elsewhere
     * scrolls. */
    function drag(event) {
        const row = event.target.closest("[role=option]");
        if (!row || event.button) return;
        choose(Number(row.dataset.k));
        if (event.pointerType === "touch" && !event.target.closest(".handle")) return;
        event.preventDefault();
        const go = ({ clientY }) => {
            const { top, height } = list.getBoundingClientRect();
            const to = Math.floor((clientY - top) * mine.length / height);
            move(Math.max(0, Math.min(mine.length - 1, to)));
        };
        const end = () => list.removeEventListener("pointermove", go);
        list.setPointerCapture(event.pointerId); // the row is drawn anew
        list.addEventListener("pointermove", go);
        for (const name of ["pointerup", "pointercancel"])
            list.addEventListener(name, end, { once: true });
    }

    draw(false);
    return { show: (given) => { mine = [...given]; choose(0, false); },
             element: make("div", { class: "lines" },
                           make("div", { class: "rows" }, before.map(fixed), list,
                                after.map(fixed)),
                           make("div", { class: "choices" }, button("Move up", -1),
                                button("Move down", 1), said), help) };
}
makeOrderLines.count = 0;

module.exports = { makeOrderLines };
