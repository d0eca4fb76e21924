/* flow.js -- for test_views.py: checks the lines that the page draws from loads to stores. Reads a
 * list of { ptx, trace } on stdin; prints for each how many stores have lines, and how many of these
 * are not the sum of the words at which their lines begin, as the thread has loaded them. */
"use strict";
const fs = require("fs");
const path = require("path");
const PAGE = path.join(__dirname, "..", "..", "common", "page");
const trace = require(path.join(PAGE, "trace.js"));
const { intervalsOf } = require(path.join(PAGE, "intervals.js"));
const { feedsOf } = require(path.join(PAGE, "dataflow.js"));

const view = new DataView(new ArrayBuffer(4));
function floatOf(bits) {
    view.setUint32(0, bits);
    return view.getFloat32(0);
}

/* The value that each thread has loaded last from each word before each store. */
function check(events, feeds, found) {
    const loaded = new Map();
    const stores = intervalsOf(events, feeds).flatMap((one) => one.stores);
    let next = 0;
    events.forEach((event, at) => {
        if (!trace.isShared(event)) return;
        if (event.operation === "ld")
            for (const { lane, address, values } of trace.lanesOf(event))
                values.forEach((hex, k) => loaded.set(`${event.warp} ${lane} ${address / 4 + k}`,
                                                      floatOf(parseInt(hex, 16))));
        for (; next < stores.length && stores[next].at === at; next++) {
            const { lane, sources, bits } = stores[next], value = floatOf(bits);
            if (!sources.length) continue;
            const from = sources.map((word) => loaded.get(`${event.warp} ${lane} ${word}`));
            const sum = from.reduce((a, b) => a + b, 0);
            found.stores++;
            if (value !== sum && (from.length > 1 || !from.includes(value))) found.wrong++;
            if (from.length > 1 && value === sum) found.sums++;
        }
    });
}

function checked({ ptx, trace: text }) {
    const events = trace.readTrace(text), feeds = feedsOf(ptx);
    const found = { stores: 0, sums: 0, wrong: 0 };
    const keys = new Set(events.map((event) => `${event.launch} ${event.block}`));
    for (const key of keys)
        check(events.filter((event) => `${event.launch} ${event.block}` === key), feeds, found);
    return found;
}
process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(checked)));
