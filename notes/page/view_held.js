/* view_held.js -- what a barrier holds back: words that are stored before it and loaded after. */
"use strict";
const { make, replace } = require("./dom.js");
const { runsText } = require("./values.js");

const NOTHING = "Nothing: no word that is stored before it is loaded after it by another thread, " +
    "before the next barrier.";
const wordsText = (set) => `${set.size} ${set.size === 1 ? "word" : "words"}`;

function sentence(set, before, after) {
    return set.size ? make("li", {}, `${wordsText(set)} ${before} this barrier ` +
        `${set.size === 1 ? "is" : "are"} ${after}: `, make("small", {}, runsText(set))) : null;
}

/* `held`: of heldBack() in intervals.js. */
function showHeld(host, held) {
    if (!held) {
        replace(host);
        return;
    }
    const items = [sentence(held.warps, "written before", "read after it by other warps"),
                   sentence(held.lanes, "written before",
                            "read after it by other lanes of the same warp"),
                   sentence(held.overwritten, "read before",
                            "overwritten after it by other threads")];
    replace(host, make("h3", {}, "What this barrier holds back"),
            items.some((item) => item) ? make("ul", {}, items) : make("p", {}, NOTHING));
}

module.exports = { showHeld };
