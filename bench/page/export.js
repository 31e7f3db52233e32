// SPDX-License-Identifier: MIT
//
// What is shown, as files: a plot as SVG, rows as CSV.
"use strict";

function download(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], {type}));
    element("a", {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const exportButton = (label, title, save) => element("button.export", {type: "button", title, onclick: save}, label);
const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

// ---- CSV ----

// As runtime/core/cell.h: an apostrophe makes a text of what would begin a formula, also behind what separates cells elsewhere.
const FORMULA = /(^|[;|\t\r\n])([\s"]*)(?=[=+\-@＝＋－＠])/g;

function csvCell(value) {
    if (value === null || value === undefined) {
        return "";
    }
    const text = typeof value === "string" ? value.replace(/^(?=[\t\r])/, "'").replace(FORMULA, "$1$2'") : String(value);
    return /[",;|\t\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

// Of lists the items, of objects the members: interval_ms_0, verified_by.
function flat(row, prefix = "") {
    return Object.entries(row).flatMap(([name, value]) => (value !== null && typeof value === "object"
            ? flat(value, `${prefix}${name}_`) : [[prefix + name, value]]));
}

function csvOf(list) {
    const flatRows = list.map((row) => new Map(flat(row)));
    const names = [...new Set(flatRows.flatMap((row) => [...row.keys()]))];
    return [names, ...flatRows.map((row) => names.map((name) => row.get(name)))]
        .map((cells) => cells.map(csvCell).join(",") + "\r\n").join("");
}

// ---- SVG ----

const xml = (text) => String(text).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c]));
const px = (value) => Number(value.toFixed(2));

function svgText(x, y, anchor, size, fill, text, turn = "") {
    return `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}" font-size="${size}" fill="${xml(fill)}"${turn}>${xml(text)}</text>`;
}

function svgAxes(chart) {
    const {left, right, top, bottom} = chart.chartArea;
    const {x, y} = chart.scales;
    const [line, quiet] = [color("--grid"), color("--quiet")];
    const rule = (x1, y1, x2, y2) => `<path d="M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}" stroke="${xml(line)}"/>`;
    return [
        ...x.ticks.map((tick) => [x.getPixelForValue(tick.value), tick.label]).flatMap(
            ([at, label]) => [rule(at, top, at, bottom), svgText(at, bottom + 18, "middle", 12, quiet, label)]),
        ...y.ticks.map((tick) => [y.getPixelForValue(tick.value), tick.label]).flatMap(
            ([at, label]) => [rule(left, at, right, at), svgText(left - 8, at + 4, "end", 12, quiet, label)]),
        svgText((left + right) / 2, bottom + 38, "middle", 13, quiet, x.options.title.text),
        svgText(14, (top + bottom) / 2, "middle", 13, quiet, y.options.title.text,
            ` transform="rotate(-90 14 ${px((top + bottom) / 2)})"`),
    ];
}

function svgMark(shape, x, y, stroke, fill) {
    const paint = `stroke="${xml(stroke)}" fill="${xml(fill)}" stroke-width="1.5"`;
    const paths = {
        rect: "m-4-4h8v8h-8z",
        triangle: "m0-5l5 9h-10z",
        rectRot: "m0-5.5l5.5 5.5-5.5 5.5-5.5-5.5z"
    };
    return paths[shape] ? `<path d="M${px(x)} ${px(y)}${paths[shape]}" ${paint}/>`
                        : `<circle cx="${px(x)}" cy="${px(y)}" r="4" ${paint}/>`;
}

function svgSet(chart, set, i) {
    const points = chart.getDatasetMeta(i).data;
    const fills = [].concat(set.pointBackgroundColor ?? set.backgroundColor);
    const path = points.map((point, j) => `${j ? "L" : "M"}${px(point.x)} ${px(point.y)}`).join("");
    const dash = set.borderDash?.length ? ` stroke-dasharray="${set.borderDash.join(" ")}"` : "";
    const last = points.at(-1);
    return [
        chart.config.type === "line" ? `<path d="${path}" fill="none" stroke="${xml(set.borderColor)}" stroke-width="2"${dash}/>` : "",
        ...points.map((point, j) => svgMark(set.pointStyle, point.x, point.y, set.borderColor, fills[j] ?? fills[0])),
        last ? svgText(last.x + 8, last.y + 4, "start", 11, color("--text"), set.label) : "",
    ];
}

const NAMES_ROOM = 220; // for the names of series, right of the plot

function svgOf(chart, title) {
    const visible = chart.data.datasets.map((set, i) => [set, i]).filter(([, i]) => chart.isDatasetVisible(i));
    const [width, height] = [Math.ceil(chart.width + NAMES_ROOM), Math.ceil(chart.height + 44)];
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 -24 ${width} ${height}" font-family="sans-serif">`,
        `<rect y="-24" width="${width}" height="${height}" fill="${xml(color("--back"))}"/>`,
        svgText(8, -6, "start", 15, color("--text"), title),
        ...svgAxes(chart),
        ...visible.flatMap(([set, i]) => svgSet(chart, set, i)),
        "</svg>\n",
    ].filter(Boolean).join("\n");
}

const svgButton = (title, chart) => exportButton("SVG", "Save the plot as SVG",
    () => download(fileName(title()) + ".svg", "image/svg+xml", svgOf(chart(), title())));
const csvButton = (name, list) => exportButton("CSV", "Save these rows as comma-separated values",
    () => download(fileName(name) + ".csv", "text/csv", csvOf(list())));
