// SPDX-License-Identifier: MIT
//
// Curves over the length for each suite that has series, with a table of growth that is also the key; and accuracy beside
// speed.
"use strict";

const METRICS = [
    {value: "median_ms", label: "Time", axis: "time of a run", format: time},
    {value: "cpu_ms", label: "Processor time", axis: "processor time of a run, all cores", format: time},
    {value: "extra_bytes", label: "Extra memory", axis: "memory beside inputs, outputs and weights", format: bytes},
    {value: "peak_bytes", label: "Peak memory", axis: "device memory in use", format: bytes},
    {value: "tokens_per_s", label: "Tokens per second", axis: "tokens per second", format: digits},
];

// The curves of a suite on a target: [{series, width, runtime, peer, look, points: rows by length}].
function curvesOf(suite, target) {
    const found = new Map();
    const looks = new Map(); // a peer has the colour of Weft's series
    for (const row of rowsOf(target).filter((r) => r.suite === suite && r.series && isNumber(r.n))) {
        const width = widthOf(row);
        const key = [row.series, width, row.runtime ?? "weft", row.runtime_version].join("\n");
        if (!looks.has(row.series)) {
            looks.set(row.series, lookOf(looks.size));
        }
        if (!found.has(key)) {
            found.set(key, {
                key,
                series: row.series,
                width,
                runtime: runtimeName(row),
                peer: !isWeft(row),
                look: looks.get(row.series),
                points: []
            });
        }
        found.get(key).points.push(row);
    }
    const curves = [...found.values()];
    curves.forEach((curve) => curve.points.sort((a, b) => a.n - b.n));
    return curves;
}

const MOST_CURVES = 40;

// Of very many curves only the lowest are shown at first; the others can be pressed in the key.
function hideMost(curves, metric) {
    if (curves.length > MOST_CURVES) {
        byHeight(curves, metric).slice(0, -12).forEach((curve) => { curve.off = true; });
    }
}

// The widths to choose from: none unless some series was measured at several.
function widthsOf(curves) {
    const bySeries = new Map();
    curves.forEach((curve) => bySeries.set(curve.series, (bySeries.get(curve.series) ?? new Set()).add(curve.width)));
    return [...bySeries.values()].some((widths) => widths.size > 1) ? [...new Set(curves.map((curve) => curve.width))]
                                                                    : [];
}

const lengthsOf =
    (curves) => [...new Set(curves.flatMap((curve) => curve.points.map((row) => row.n)))].sort((a, b) => a - b);
const hasCurves = (suite, target) => lengthsOf(curvesOf(suite, target)).length > 1;

function describe(row) {
    const lines = [`${row.series ?? row.case}${isWeft(row) ? "" : ", " + runtimeName(row)}`];
    lines.push(
        row.series && isNumber(row.n) ? `n = ${count(row.n)}${widthOf(row) ? ", " + widthOf(row) : ""}` : row.suite);
    lines.push(`${time(row.median_ms)}${
        row.interval_ms ? `, 95 %: ${time(row.interval_ms[0])} – ${time(row.interval_ms[1])}` : ""}`);
    if (isNumber(row.gflop_per_s) && isNumber(row.gb_per_s)) {
        lines.push(`${digits(row.gflop_per_s)} GFLOP/s, ${digits(row.gb_per_s)} GB/s`);
    }
    if (isNumber(row.extra_bytes)) {
        lines.push(`${bytes(row.extra_bytes)} of extra memory`);
    }
    if (isNumber(row.verified?.rel_l2)) {
        lines.push(`relative error ${power(row.verified.rel_l2, 2)}${
            row.verified.by === "reproducible" ? " to a reproducible run" : ""}`);
    }
    return lines;
}

// ---- one plot ----

function curveSets(curves, metric) {
    return curves.map((curve) => {
        const stroke = color(curve.look.color);
        const data =
            curve.points.filter((row) => row[metric.value] > 0).map((row) => ({x: row.n, y: row[metric.value], row}));
        return {
            label: curve.series,
            data,
            curve,
            borderColor: stroke,
            borderWidth: curve.peer ? 1.5 : 2,
            tension: 0,
            borderDash: curve.peer ? [5, 4] : [],
            pointStyle: curve.look.shape,
            pointRadius: 4,
            pointHoverRadius: 6,
            pointBorderWidth: 1.5,
            pointBorderColor: stroke,
            hidden: curve.off,
            pointBackgroundColor: data.map(({row}) => (curve.peer || row.tight === false ? color("--card") : stroke)),
        };
    });
}

function curvesConfiguration(curves, metric) {
    const lengths = lengthsOf(curves);
    const valuesOf = (list) =>
        list.flatMap((curve) => curve.points.map((row) => row[metric.value]).filter((value) => value > 0));
    const values = [curves.filter((curve) => !curve.off), curves].map(valuesOf).find((list) => list.length) ?? [1];
    const x = logAxis("length n", (n) => (isPhone() && n >= 1024 ? digits(n / 1024) + "k" : count(n)),
        (scale) => { scale.ticks = lengths.map((value) => ({value})); });
    Object.assign(x, {min: lengths[0] / 1.12, max: lengths[lengths.length - 1] * 1.12});
    const y = logAxis(metric.axis, metric.format, metric.format === bytes ? powersOfTwo : tens);
    Object.assign(y, {min: lowest(values), max: highest(values)});
    return {
        type: "line",
        data: {datasets: curveSets(curves, metric)},
        options: {
            scales: {x, y},
            interaction: {mode: "nearest", intersect: false},
            plugins: {legend: {display: false}, tooltip: tooltip(describe)},
        },
    };
}

function powersOfTwo(scale) {
    const [from, to] = [Math.ceil(Math.log2(scale.min)), Math.floor(Math.log2(scale.max))];
    const step = Math.max(1, Math.ceil((to - from) / 8));
    scale.ticks = [];
    for (let e = from; e <= to; e += step) {
        scale.ticks.push({value: 2 ** e});
    }
}

// Draws the others of the plot faintly.
function emphasize(entry, curve) {
    for (const set of entry.chart.data.datasets) {
        const stroke = color(set.curve.look.color);
        const line = !curve || set.curve.key === curve.key ? stroke : faded(stroke);
        set.borderColor = line;
        set.pointBorderColor = line;
        set.pointBackgroundColor =
            set.data.map(({row}) => (set.curve.peer || row.tight === false ? color("--card") : line));
    }
    entry.chart.update("none");
}

// ---- the key ----

const fitOf = (suite, curve, target) => (
    curve.peer
        ? fits.find((fit) => fit.runtime && fit.runtime !== "weft" && curve.runtime.startsWith(fit.runtime)
                             && fit.suite === suite && fit.series === curve.series)
        : fits.find((fit) => fit.suite === suite && fit.series === curve.series && (fit.runtime ?? "weft") === "weft"
                             && (fit.device === undefined || fit.device === target.device)
                             && (fit.math === undefined || fit.math === target.math)));

function crossover(fit) {
    const cross = fit?.crossover;
    const words = {
        at: () => count(cross.n),
        below: () => "≤ " + count(cross.from),
        never: () => "> " + count(cross.to)
    };
    return cross && words[cross.kind] ? words[cross.kind]() : null;
}

function keyColumns(suite, curves, metric, target) {
    const last = lengthsOf(curves).at(-1);
    const columns = [
        {
            title: `n =\u00a0${count(last)}`,
            of: (curve) => {
                const row = curve.points.findLast((r) => isNumber(r[metric.value]));
                if (!row || row.n === last) {
                    return row ? metric.format(row[metric.value]) : null;
                }
                return element("small", {}, `${metric.format(row[metric.value])} at ${count(row.n)}`);
            },
        },
        {title: "time ~\u00a0nˣ", of: (curve) => exponent(fitOf(suite, curve, target)?.time)},
        {title: "CPU ~\u00a0nˣ", of: (curve) => exponent(fitOf(suite, curve, target)?.cpu_time)},
        {title: "memory ~\u00a0nˣ", of: (curve) => exponent(fitOf(suite, curve, target)?.extra_memory)},
        {title: "crossover n", of: (curve) => crossover(fitOf(suite, curve, target))},
        {
            title: "speed to dense",
            of: (curve) => {
                const speedup = fitOf(suite, curve, target)?.speedup;
                return isNumber(speedup) ? ratio(speedup) : null;
            }
        },
    ];
    return columns.filter((column) => curves.some((curve) => column.of(curve) !== null));
}

// A standard error is written where it is of any size; the whole of it is in the cell's title.
const exponent = (fit) =>
    (isNumber(fit?.exponent) ? element("span", {
        title: `${fit.exponent.toFixed(3)} ± ${(fit.standard_error ?? NaN).toFixed(3)}, ` +
                   `n = ${count(fit.from)} … ${count(fit.to)}`
    },
         fit.exponent.toFixed(2),
         fit.standard_error >= 0.1 ? element("small", {}, " ±\u00a0" + fit.standard_error.toFixed(1)) : null)
                             : null);

// From the top of the plot's right edge to its bottom.
function byHeight(curves, metric) {
    const at = (curve) => {
        const row = curve.points.findLast((r) => r[metric.value] > 0);
        return row ? [row.n, row[metric.value]] : [0, 0];
    };
    const last = lengthsOf(curves).at(-1);
    return [...curves].sort((a, b) => {
        const [[an, av], [bn, bv]] = [at(a), at(b)];
        return (bn === last) - (an === last) || bv - av;
    });
}

function keyTable(suite, curves, metric, target, entry) {
    const columns = keyColumns(suite, curves, metric, target);
    const head =
        element("tr", {}, element("th", {}, "series"), ...columns.map((column) => element("th", {}, column.title)));
    const lines = byHeight(curves, metric).map((curve) => {
        const button = element("button", {
            type: "button",
            "aria-pressed": String(!curve.off),
            title: "Show or hide",
            onclick: () => {
                curve.off = !curve.off;
                button.setAttribute("aria-pressed", String(!curve.off));
                entry.rebuild();
            },
        },
            swatch(curve.look, curve.peer),
            element("span", {}, curve.series,
                curve.peer ? element("span.tag", {title: curve.runtime}, " " + curve.points[0].runtime) : null));
        return element("tr", {
            onmouseenter: () => emphasize(entry, curve),
            onmouseleave: () => emphasize(entry, null),
        },
            element("td", {}, button), ...columns.map((column) => element("td", {}, column.of(curve) ?? "–")));
    });
    return element("table.key", {}, element("thead", {}, head), element("tbody", {}, ...lines));
}

// ---- a suite ----

function finding(curves) {
    const weft = curves.filter((curve) => !curve.peer);
    const last = lengthsOf(weft).at(-1);
    const there = weft.map((curve) => curve.points.find((row) => row.n === last))
                      .filter(Boolean)
                      .sort((a, b) => a.median_ms - b.median_ms);
    const gone = weft.length - there.length;
    if (there.length < 2) {
        return "";
    }
    const [first, end] = [there[0], there[there.length - 1]];
    return `At n = ${count(last)}, ${first.series} takes ${time(first.median_ms)} and ${end.series}, the slowest, ${
               time(end.median_ms)}`
           + (gone > 0 ? `; ${gone} of ${weft.length} series end before.` : ".");
}

function drawCurves(suite, target) {
    const all = curvesOf(suite, target);
    const widths = widthsOf(all);
    const metrics =
        METRICS.filter((metric) => all.some((curve) => curve.points.filter((row) => row[metric.value] > 0).length > 1));
    const state = {metric: metrics[0], width: widths[0]};
    hideMost(all, state.metric);
    const holder = element("div.canvas");
    const scroll = element("div.scroll");
    const title = element("h3");
    const text = element("p.what");
    let entry = null;
    const draw = () => {
        const curves = all.filter((curve) => !widths.length || curve.width === state.width);
        title.textContent = [
            suite, state.metric.label.toLowerCase() + " over length", widths.length ? state.width : ""
        ].filter(Boolean).join(" · ");
        text.textContent = `${target.name}. ${finding(curves)}`;
        entry?.remove();
        entry =
            plot(holder, `${title.textContent}. ${text.textContent}`, () => curvesConfiguration(curves, state.metric));
        holder.style.setProperty("--lines", curves.length + 2);
        scroll.replaceChildren(keyTable(suite, curves, state.metric, target, entry));
    };
    const controls = element(
        "div.controls", {}, metrics.length > 1 ? choice("What is shown", metrics, state.metric.value, (value) => {
            state.metric = metrics.find((metric) => metric.value === value);
            draw();
        }) : null, widths.length ? picker("Width", widths, (value) => {
            state.width = value;
            draw();
        }) : null,
        svgButton(() => title.textContent, () => entry.chart));
    const card = element("div.card.plot", {}, title, text, controls, element("div.with-key", {}, holder, scroll));
    return {card, draw};
}

function picker(label, values, picked) {
    return element("select", {"aria-label": label, onchange: (event) => picked(event.target.value)},
        ...values.map((value) => element("option", {value}, value)));
}

function showCurves(section, target) {
    const suites = suitesOf(rows).filter((suite) => hasCurves(suite, target));
    if (!suites.length) {
        return false;
    }
    section.append(element("h2", {}, "Growth with the length"),
        element("p.lead", {},
            "Both axes are logarithmic, so a power of n is a straight line and its exponent the slope. Dashed lines " +
                "are peers, in the colour of what they are held against. ",
            element("span.screen", {}, "Point at a name to bring its line out, press it to hide the line.")));
    for (const suite of suites) {
        const {card, draw} = drawCurves(suite, target);
        section.append(card);
        draw();
    }
    return true;
}

// ---- accuracy beside speed ----

const hasAccuracy = (row) => row.verified?.by === "float64" && isNumber(row.verified.rel_l2);

function accuracyConfiguration(list) {
    const exact = list.filter((row) => row.verified.rel_l2 === 0);
    const errors = list.map((row) => row.verified.rel_l2).filter((value) => value > 0);
    const floor = (errors.length ? Math.min(...errors) : 1e-8) / 3; // where exact ones are drawn
    const series = [...new Set(list.map((row) => row.series ?? row.case))];
    const datasets = series.map((name, i) => {
        const stroke = color(lookOf(i).color);
        const own = list.filter((row) => (row.series ?? row.case) === name);
        return {
            label: name,
            pointRadius: 5,
            pointHoverRadius: 7,
            borderColor: stroke,
            pointBorderWidth: 1.5,
            pointStyle: lookOf(i).shape,
            backgroundColor: own.map((row) => (isWeft(row) ? stroke : color("--card"))),
            data: own.map((row) => ({
                x: Math.max(row.verified.rel_l2, floor),
                y: row.median_ms,
                row,
                name: isWeft(row) ? name : `${name} (${row.runtime})`
            })),
        };
    });
    const x = logAxis("relative error against float64 (L2)",
        (value) => (exact.length && value <= floor * 1.01 ? "exact" : power(value, 1)));
    const y = logAxis("time of a run", time);
    Object.assign(x, {min: floor / (exact.length ? 1.3 : 0.5), max: Math.max(...errors, floor * 9) * 1.6});
    Object.assign(
        y, {min: lowest(list.map((row) => row.median_ms)) / 1.2, max: highest(list.map((row) => row.median_ms)) * 1.2});
    if (exact.length) {
        x.afterBuildTicks = (scale) => {
            tens(scale);
            scale.ticks = [{value: floor}, ...scale.ticks.filter((tick) => tick.value > floor * 1.5)];
        };
    }
    return {
        type: "scatter",
        data: {datasets},
        options: {
            scales: {x, y},
            interaction: {mode: "nearest", intersect: false},
            plugins: {legend: {display: false}, tooltip: tooltip(describe), nameplates: {on: true}}
        },
    };
}

function showAccuracy(section, target) {
    const list = longest(rowsOf(target).filter(hasAccuracy));
    const suites = suitesOf(list);
    if (!suites.length) {
        return false;
    }
    const holder = element("div.canvas");
    const title = element("h3");
    let entry = null;
    const draw = (suite) => {
        const shown = list.filter((row) => row.suite === suite);
        const lengths = lengthsOf([{points: shown.filter((row) => isNumber(row.n))}]);
        title.textContent = `${suite} · ${target.name}${lengths.length === 1 ? " · n = " + count(lengths[0]) : ""}`;
        entry?.remove();
        entry = plot(holder, `${title.textContent}: error against time`, () => accuracyConfiguration(shown));
    };
    section.append(element("h2", {}, "Accuracy beside speed"),
        element("p.lead", {},
            "Each case at its longest length: the farther left, the closer to float64; the lower, the faster. " +
                "Hollow marks are peers."),
        element("div.card.plot", {}, title,
            element("div.controls", {},
                suites.length > 1
                    ? choice("Suite", suites.map((suite) => ({value: suite, label: suite})), suites[0], draw)
                    : null,
                svgButton(() => title.textContent, () => entry.chart)),
            holder));
    draw(suites[0]);
    return true;
}
