// SPDX-License-Identifier: MIT
//
// Spectraformer's grid: component functions by weight matrices, as a table whose cells are the deeper, the more there is.
"use strict";

const GRID_METRICS = [
    {value: "time", label: "Time", of: (row) => row.median_ms, write: time},
    {value: "error", label: "Error", of: (row) => row.verified?.rel_l2, write: (value) => power(value, 2)},
    {value: "memory", label: "Extra memory", of: (row) => row.extra_bytes, write: bytes},
];

// {component, matrix, row} of "optimal,sorf,fast/n=512,d=64".
function pairOf(row) {
    const name = row.case.split("/")[0];
    const comma = name.indexOf(",");
    return comma < 0 ? null : {component: name.slice(0, comma), matrix: name.slice(comma + 1), row};
}

// The pairs of the length and width that most have, the longer of two: cells of one table are of the same work.
function alike(pairs) {
    const sizes = new Map();
    for (const pair of pairs) {
        const size = pair.row.case.split("/").at(-1);
        sizes.set(size, [...(sizes.get(size) ?? []), pair]);
    }
    return [...sizes.values()].sort((a, b) => b.length - a.length || (b[0].row.n ?? 0) - (a[0].row.n ?? 0))[0] ?? [];
}

function gridCell(row, metric, [from, to]) {
    const value = row ? metric.of(row) : null;
    if (!isNumber(value)) {
        return element("td", {}, "");
    }
    const depth = value > 0 && to > from ? Math.log(value / from) / Math.log(to / from) : 0;
    const cell = element("td", {title: describe(row).join("\n")}, metric.write(value));
    cell.style.background = `color-mix(in srgb, var(--c0) ${Math.round(5 + 50 * depth)}%, transparent)`;
    return cell;
}

function gridTable(pairs, metric) {
    const components = [...new Set(pairs.map((pair) => pair.component))];
    const matrices = [...new Set(pairs.map((pair) => pair.matrix))];
    const values = pairs.map((pair) => metric.of(pair.row)).filter((value) => value > 0);
    const range = [Math.min(...values), Math.max(...values)];
    const head = element("tr", {}, element("th", {}, "matrix"), ...components.map((name) => element("th", {}, name)));
    const lines = matrices.map(
        (matrix) => element("tr", {}, element("th", {scope: "row"}, matrix),
            ...components.map((component) => gridCell(
                                  pairs.find((pair) => pair.matrix === matrix && pair.component === component)?.row,
                                  metric, range))));
    return element("table.grid", {}, element("thead", {}, head), element("tbody", {}, ...lines));
}

function showGrid(section, target) {
    const pairs =
        alike(rowsOf(target).filter((row) => isWeft(row) && row.suite === "spectra").map(pairOf).filter(Boolean));
    const metrics = GRID_METRICS.filter((metric) => pairs.some((pair) => metric.of(pair.row) > 0));
    if (pairs.length < 2 || !metrics.length) {
        return false;
    }
    const holder = element("div.scroll");
    const title = element("h3");
    const draw = (value) => {
        const metric = metrics.find((other) => other.value === value);
        title.textContent =
            `spectra · ${metric.label.toLowerCase()} · ${target.name} · ${pairs[0].row.case.split("/").at(-1)}`;
        holder.replaceChildren(gridTable(pairs, metric));
    };
    section.append(element("h2", {}, "Random features"),
        element("p.lead", {},
            "Component functions by weight matrices, with linear attention of the features. The deeper the colour, the more."),
        element("div.card.plot", {}, title,
            element("div.controls", {},
                metrics.length > 1 ? choice("What is shown", metrics, metrics[0].value, draw) : null),
            holder));
    draw(metrics[0].value);
    return true;
}
