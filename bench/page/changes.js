// SPDX-License-Identifier: MIT
//
// What changed against an earlier report, or one device against another (bench/compare.h has the form).
"use strict";

const VERDICTS = {
    slower: "slower",
    faster: "faster",
    same: "the same within noise",
    new: "new",
    gone: "gone",
    unmeasured: "measured in neither",
    incomparable: "not comparable"
};

const MOST_BARS = 20; // the rest is folded where there is little room

const shortDevice = (name) => targets.find((target) => target.device === name)?.name ?? name;

function sidesOf() {
    const words = (side) => `${listed((side.devices ?? []).map(shortDevice)) || "a report"}, Weft ${side.weft}${
        side.started ? ", " + dateOf(side.started) : ""}`;
    return element("p.lead", {}, comparison.across_devices ? "One device against another. " : "",
        element("b", {}, "Before: "), words(comparison.before), ". ", element("b", {}, "After: "),
        words(comparison.after), ".");
}

function changeBars(list, range) {
    const parts = list.flatMap((row) => {
        const bar = ratioBar(row.ratio, range);
        const note = [
            several.targets ? shortDevice(row.device) : "", row.runtime === "weft" ? "" : row.runtime,
            `${time(row.before_ms)} → ${time(row.after_ms)}`, row.time === "cpu_ms" ? "of processor time" : ""
        ].filter(Boolean).join(", ");
        if (isNumber(row.noise)) {
            bar.title =
                `The median changed by a factor of ${digits(row.median_ratio)}; the noise is ${percent(row.noise)}.`;
        }
        return [element("div.name", {}, breakable(row.case), element("span.tag", {}, " " + note)), bar];
    });
    return element("div.bars.ratio", {}, element("span.lone"), ratioTicks(range), ...parts);
}

function changedList(title, list, reason) {
    if (!list.length) {
        return null;
    }
    return element("details", {},
        element("summary", {}, element("b", {}, title), element("span.tag", {}, `  ${count(list.length)}`)),
        element("ul", {}, ...list.map((row) => element("li", {}, `${row.case} `, element("span.tag", {}, [
            several.targets ? shortDevice(row.device) : "", reason(row)
        ].filter(Boolean).join(": "))))));
}

function differences() {
    const words = (value) => (isThere(value) ? String(value) : "nothing");
    const list = comparison.differences ?? [];
    return list.length ? element("p.notice", {},
               "The runs differ in more than the times: "
                   + list.map((row) => `${row.field} (${words(row.before)} → ${words(row.after)})`).join("; ") + ".")
                       : null;
}

function suiteRatios() {
    const list = (comparison.suites ?? []).filter((suite) => isNumber(suite.ratio));
    return list.length ? element("p", {},
               "All cases of a suite together, changed or not: "
                   + list.map((suite) => `${suite.suite} ${ratio(suite.ratio)}`).join(", ") + ".")
                       : null;
}

function showChanges(section) {
    if (!comparison) {
        return false;
    }
    const list = comparison.rows ?? [];
    const changed = list.filter((row) => (row.verdict === "slower" || row.verdict === "faster") && row.ratio > 0)
                        .sort((a, b) => Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio)));
    const counts = Object.entries(VERDICTS)
                       .map(([verdict, words]) => [list.filter((row) => row.verdict === verdict).length, words])
                       .filter(([n]) => n > 0)
                       .map(([n, words]) => `${count(n)} ${words}`);
    section.append(
        element("h2", {}, "Changes"), sidesOf(), element("p.lead", {}, element("b", {}, listed(counts)), "."));
    section.append(...[differences(), suiteRatios()].filter(Boolean));
    if (changed.length) {
        const range = rangeOf(changed.map((row) => row.ratio));
        section.append(
            element("p.lead", {}, "The changes beyond noise: time after over time before, on a logarithmic scale."),
            swatches(["--worse", "right of 1: slower than before"], ["--better", "left of 1: faster"]),
            changeBars(changed.slice(0, MOST_BARS), range));
        if (changed.length > MOST_BARS) {
            section.append(
                folded("smaller changes", changed.slice(MOST_BARS), (part) => changeBars(part, range), false));
        }
    } else {
        section.append(element("p.lead", {}, "No change exceeds the noise."));
    }
    section.append(...[changedList("Outputs with other bits", list.filter((row) => row.output_changed),
                           () => "both runs were in reproducible mode"),
        changedList("Not comparable", list.filter((row) => row.verdict === "incomparable"), (row) => row.reason),
        changedList("New", list.filter((row) => row.verdict === "new"), () => ""),
        changedList("Gone", list.filter((row) => row.verdict === "gone"), () => ""),
    ].filter(Boolean));
    return true;
}
