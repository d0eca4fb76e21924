/* pieces.js -- long work in pieces, between which the browser draws and answers. */
"use strict";

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

module.exports = { inPieces };
