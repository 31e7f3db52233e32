// SPDX-License-Identifier: MIT
//
// The page of an index of results, with report.js.
"use strict";

const {entries} = report;
const lines = report.cases;
const nameOf = (entry) => `${plain(entry.device)}, ${entry.driver}`;

function showEntries() {
    byId("entries").append(element("h2", {}, "What there is"),
        table(["device", "driver", "type", "math", "Weft", "date", "rows", "errors", "bits", "mixing rate, million tokens/s", "file"],
            entries.map((entry) => [plain(entry.device), entry.driver, entry.type, entry.math, entry.weft,
                (entry.started ?? "").slice(0, 10), count(entry.rows), count(entry.errors),
                isNumber(entry.ran) ? `${count(entry.ran)} of ${count(entry.cases)}, ${count(entry.failed)} wrong`
                    + (entry.skipped ? `, ${count(entry.skipped)} skipped` : "") : null,
                isNumber(entry.mixing_rate_tokens_per_s) ? digits(entry.mixing_rate_tokens_per_s / 1e6) : null,
                element("a", {href: entry.href}, entry.file)])));
}

function cellOf(cell) {
    if (!cell) {
        return null;
    }
    return cell.refused ? element("span.state.error", {title: "Its output has another hash"}, "other bits")
                        : time(cell.median_ms);
}

// A column for each device and driver; of several files the newest has the time.
function columnsOf(own) {
    const found = new Map();
    own.flatMap((line) => line.cells).forEach((cell) => found.set(nameOf(entries[cell.entry]), true));
    return [...found.keys()];
}

const newest = (line, name) => line.cells.filter((cell) => nameOf(entries[cell.entry]) === name)
    .sort((a, b) => (entries[b.entry].started ?? "").localeCompare(entries[a.entry].started ?? ""))[0];

function showMath(holder, math) {
    const own = lines.filter((line) => line.math === math);
    const columns = columnsOf(own);
    const shared = own.map((line) => ({line, cells: columns.map((name) => newest(line, name))}))
        .filter(({cells}) => cells.filter(Boolean).length > 1);
    holder.replaceChildren(shared.length
        ? table(["case", ...columns], shared.map(({line, cells}) => [breakable(`${line.suite}/${line.case}`), ...cells.map(cellOf)]))
        : element("p.quiet", {}, "No case was timed on two devices or drivers."));
}

function showBeside() {
    const maths = [...new Set(lines.map((line) => line.math))];
    if (!maths.length) {
        return;
    }
    const holder = element("div");
    byId("beside").append(element("h2", {}, "Beside each other"),
        element("p.lead", {}, "Median times of the cases that several devices or drivers have. A time is compared only where the output has the same "
            + "bits; fast math promises none."),
        element("div.controls", {}, choice("Math", maths.map((math) => ({value: math, label: math})), maths[0],
            (math) => showMath(holder, math)),
            csvButton("weft results", () => lines.flatMap((line) => line.cells.map((cell) => ({
                suite: line.suite, case: line.case, math: line.math, ...entries[cell.entry], median_ms: cell.median_ms, refused: cell.refused
            }))))), holder);
    showMath(holder, maths[0]);
}

showEntries();
showBeside();
