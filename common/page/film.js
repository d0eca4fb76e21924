/* film.js -- when the page is built: runs step 3's kernel on the first screen's numbers in the
 * page's emulator, and prints the stages (sweep.js) as JSON. Arguments: emulator.js, the folder of
 * PTX. */
"use strict";
const fs = require("fs");
const path = require("path");
const { makeEmulator, runRequest } = require("./worker.js");
const { NUMBERS, PTX, SOURCE, requestFor, stagesOf } = require("./sweep.js");

async function main() {
    const [file, folder] = process.argv.slice(2);
    const ptx = fs.readFileSync(path.join(folder, `${PTX}.ptx`), "utf8");
    const emulator = await makeEmulator(require(path.resolve(file)),
                                        fs.readFileSync(file.replace(/js$/, "wasm")));
    const answer = JSON.parse(runRequest(emulator, requestFor(NUMBERS, ptx)));
    if (answer.error) throw new Error(answer.message);
    const source = fs.readFileSync(path.join(__dirname, "..", "..", SOURCE), "utf8");
    process.stdout.write(JSON.stringify(stagesOf(answer.trace, ptx, source)));
}
main();
