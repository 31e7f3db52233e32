// SPDX-License-Identifier: MIT
//
// The page of an index of results: machines side by side, with report.js, plot.js, export.js and bars.js. A column is a device of a
// machine with a driver (bench/index.h); columns and machines are known by their places, since names may be equal.
"use strict";

const {entries, machines, columns} = report;
const lines = report.cases;
const columnOf = (cell) => entries[cell.entry].column;

// A machine's name, with as much of the device as tells its columns apart.
function columnName(at) {
    const {machine, device, driver} = columns[at];
    const own = columns.filter((other) => other.machine === machine);
    const telling = [own.some((other) => other.device !== device) ? plain(device) : "",
        own.some((other) => other.device === device && other.driver !== driver) ? driver : ""];
    return [machines[machine].name, ...telling.filter(Boolean)].join(", ");
}

const columnNames = columns.map((column, at) => columnName(at));

// ---- what there is ----

function showMachines() {
    if (!machines.length) {
        return;
    }
    byId("machines").append(element("h2", {}, "Machines"),
        element("p.lead", {}, "As their reports tell; nothing in them says which single machine it is. In a folder of results, files below one folder, with one "
            + "label, of one processor with so much memory are of one machine; without a label only if none has timed again what "
            + "another has. Files that were named one by one are of a machine each."),
        table(["machine", "devices", "processor", "cores", "memory", "governor", "energy preference", "power plan", "system"],
            machines.map((machine, at) => [machine.name,
                [...new Set(columns.filter((column) => column.machine === at).map((column) => plain(column.device)))].join(", "),
                machine.cpu, count(machine.cores), isNumber(machine.memory) ? bytes(machine.memory) : null, machine.governor,
                machine.energy_preference, machine.power_plan, machine.system])));
}

function showEntries() {
    byId("entries").append(element("h2", {}, "What there is"),
        table(["machine", "device", "driver", "type", "math", "Weft", "date", "rows", "errors", "bits", "mixing rate, million tokens/s", "file"],
            entries.map((entry) => [machines[columns[entry.column].machine].name, plain(entry.device), entry.driver, entry.type, entry.math,
                entry.weft, (entry.started ?? "").slice(0, 10), count(entry.rows), count(entry.errors),
                isNumber(entry.ran) ? `${count(entry.ran)} of ${count(entry.cases)}, ${count(entry.failed)} wrong`
                    + (entry.skipped ? `, ${count(entry.skipped)} skipped` : "") : null,
                isNumber(entry.mixing_rate_tokens_per_s) ? digits(entry.mixing_rate_tokens_per_s / 1e6) : null,
                entry.href ? element("a", {href: entry.href}, entry.file) : entry.file])));
}

// ---- ratios ----

const isCounted = (cell) => cell && !cell.refused && isNumber(cell.median_ms) && cell.median_ms > 0;

// The lines of a mode that several columns have: {line, cells} with the newest cell of each column.
function linesOf(math) {
    return lines.filter((line) => line.math === math)
        .map((line) => ({line, cells: new Map(line.cells.filter((cell) => cell.newest).map((cell) => [columnOf(cell), cell]))}))
        .filter(({cells}) => cells.size > 1);
}

// What a column and the baseline have both timed, with the same bits.
function pairsOf(shared, at, base) {
    return shared.filter(({cells}) => isCounted(cells.get(at)) && isCounted(cells.get(base)))
        .map(({line, cells}) => ({suite: line.suite, case: line.case, before: cells.get(base).median_ms, after: cells.get(at).median_ms,
            ratio: cells.get(at).median_ms / cells.get(base).median_ms, name: columnNames[at]}))
        .filter((pair) => isNumber(pair.ratio) && pair.ratio > 0);
}

const meanOf = (pairs) => Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair.ratio), 0) / pairs.length);

function meanBars(list, range) {
    const parts = list.flatMap(([name, pairs]) => [
        element("div.name", {}, name, element("span.tag", {}, `  ${count(pairs.length)} case${pairs.length === 1 ? "" : "s"}`)),
        ratioBar(meanOf(pairs), range)]);
    return element("div.bars.ratio", {}, element("span.lone"), ratioTicks(range), ...parts);
}

// [{at, name, pairs}] of all columns but the baseline that share cases with it.
function showMeans(others, base) {
    const suites = others.map(({pairs}) => suitesOf(pairs).map((suite) => [suite, pairs.filter((pair) => pair.suite === suite)]));
    const range = rangeOf(suites.flat().map(([, pairs]) => meanOf(pairs)));
    return [element("h3", {}, `Geometric means of the times over those of ${columnNames[base]}`),
        swatches(["--worse", "right of 1: takes longer"], ["--better", "left of 1: takes less time"]),
        meanBars(others.map(({name, pairs}) => [name, pairs]), range),
        ...others.map(({name, pairs}, i) => folded(`${name}, by suite`, pairs, () => meanBars(suites[i], range), others.length === 1))];
}

// ---- the plot ----

const describePair = (pair) => [`${pair.suite}/${pair.case}`, pair.name,
    `${time(pair.after)} against ${time(pair.before)}: ${ratio(pair.ratio)}`];

function ratioPlot(others, base) {
    const pairs = others.flatMap((other) => other.pairs);
    const x = logAxis(`time on ${columnNames[base]}`, time);
    const y = logAxis("times as long", ratio);
    Object.assign(x, {min: lowest(pairs.map((pair) => pair.before)), max: highest(pairs.map((pair) => pair.before))});
    Object.assign(y, {min: lowest([...pairs.map((pair) => pair.ratio), 0.9]), max: highest([...pairs.map((pair) => pair.ratio), 1.1])});
    y.grid.color = ({tick}) => color(tick?.value === 1 ? "--text" : "--grid");
    const datasets = others.map(({at, name, pairs: own}) => ({
        label: name,
        data: own.map((pair) => ({x: pair.before, y: pair.ratio, row: pair, name: pair.case})),
        borderColor: color(lookOf(at).color),
        backgroundColor: color(lookOf(at).color),
        pointStyle: lookOf(at).shape,
        radius: 4.5,
    }));
    return {
        type: "scatter",
        data: {datasets},
        options: {
            scales: {x, y},
            interaction: {mode: "nearest", intersect: false},
            plugins: {legend: {display: false}, tooltip: tooltip(describePair)}
        },
    };
}

function showPlot(others, base) {
    const holder = element("div.canvas");
    const title = `Every case, against ${columnNames[base]}`;
    let entry = null;
    const card = element("div.card.plot", {}, element("h3", {}, title),
        element("p.what", {}, "A mark above the line at 1 took longer than there."),
        element("p.swatches", {}, ...others.map(({at, name}) => element("span", {}, swatch(lookOf(at), false), " " + name))),
        element("div.controls", {}, svgButton(() => title, () => entry.chart)), holder);
    return {card, draw: () => { entry = plot(holder, title, () => ratioPlot(others, base)); }};
}

// ---- beside each other ----

function cellOf(cell, base) {
    if (!cell) {
        return null;
    }
    if (cell.refused) {
        return element("span.state.error", {title: "Its output has another hash"}, "other bits");
    }
    const compared = cell !== base && isCounted(cell) && isCounted(base);
    return element("span", {}, time(cell.median_ms), compared ? element("small", {}, "  " + ratio(cell.median_ms / base.median_ms)) : null);
}

function timesTable(shared, present, base) {
    return table(["case", ...present.map((at) => columnNames[at] + (at === base ? " (1\u00a0×)" : ""))],
        shared.map(({line, cells}) => [breakable(`${line.suite}/${line.case}`), ...present.map((at) => cellOf(cells.get(at), cells.get(base)))]));
}

function showMath(holder, {math, base}) {
    [...plots].forEach((entry) => entry.remove());
    const shared = linesOf(math);
    const present = columns.map((column, at) => at).filter((at) => shared.some(({cells}) => cells.has(at)));
    if (!shared.length) {
        holder.replaceChildren(element("p.quiet", {}, `No case was timed by two of them in ${math} math.`));
        return;
    }
    const others = present.filter((at) => at !== base)
        .map((at) => ({at, name: columnNames[at], pairs: pairsOf(shared, at, base)})).filter(({pairs}) => pairs.length);
    const plotted = others.length ? showPlot(others, base) : null;
    holder.replaceChildren(
        ...(plotted ? [...showMeans(others, base), plotted.card]
            : [element("p.quiet", {}, `${columnNames[base]} shares no case in ${math} math with another.`)]),
        element("h3", {}, "Times"), timesTable(shared, present, base));
    plotted?.draw();
}

const rowsOfCsv = (state) => lines.flatMap((line) => line.cells.map((cell) => {
    const base = line.cells.find((other) => other.newest && columnOf(other) === state.base);
    const {column, ...entry} = entries[cell.entry];
    return {suite: line.suite, case: line.case, math: line.math, machine: machines[columns[column].machine].name, ...entry,
        median_ms: cell.median_ms, refused: cell.refused, newest: cell.newest,
        ratio: isCounted(cell) && isCounted(base) ? cell.median_ms / base.median_ms : null};
}));

function showBeside() {
    const maths = [...new Set(lines.map((line) => line.math))];
    byId("beside").append(element("h2", {}, "Beside each other"));
    if (!maths.length) {
        byId("beside").append(element("p.quiet", {}, "No case was timed by two machines, devices or drivers."));
        return;
    }
    const state = {math: maths[0], base: report.baseline ?? 0};
    const holder = element("div");
    const select = element("select", {
        "aria-label": "Machine that the others are held against",
        onchange: () => {
            state.base = Number(select.value);
            showMath(holder, state);
        }
    },
        ...columnNames.map((name, at) => element("option", {value: String(at)}, name)));
    select.value = String(state.base);
    byId("beside").append(
        element("p.lead", {}, "Median times of the cases that several machines, devices or drivers have. A time is compared only where the output "
            + "has the same bits; fast math promises none."),
        element("div.controls", {}, choice("Math", maths.map((math) => ({value: math, label: math})), maths[0], (math) => {
            state.math = math;
            showMath(holder, state);
        }), element("label", {}, "Against ", select), csvButton("weft results", () => rowsOfCsv(state))), holder);
    showMath(holder, state);
}

showBeside();
showMachines();
showEntries();
