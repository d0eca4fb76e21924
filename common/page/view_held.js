/* view_held.js -- which words need a barrier: they are stored before it and loaded after it. */
"use strict";
const { make, replace } = require("./dom.js");
const { runsText } = require("./values.js");

const NOTHING = "No word needs this barrier. Up to the next barrier, no thread loads or " +
    "overwrites a word that another thread accessed before this one.";
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
    const items = [sentence(held.warps, "stored before", "loaded after it by other warps"),
                   sentence(held.lanes, "stored before",
                            "loaded after it by other lanes of the same warp"),
                   sentence(held.overwritten, "loaded before",
                            "overwritten after it by other threads")];
    replace(host, make("h3", {}, "Words that need this barrier"),
            items.some((item) => item) ? make("ul", {}, items) : make("p", {}, NOTHING));
}

module.exports = { showHeld };
