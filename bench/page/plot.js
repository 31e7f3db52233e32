// SPDX-License-Identifier: MIT
//
// What the plots by Chart.js have in common: colours from the style sheet, logarithmic axes, labels of points, and paper.
"use strict";

const plots = new Set(); // every chart that is shown; each has .rebuild

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const faded = (hex) => hex + "26";
const SHAPES = ["circle", "rect", "triangle", "rectRot"];
const isPhone = () => window.innerWidth < 600;

// The look of the series number i: eight colours, then the same ones with another mark.
const lookOf = (i) => ({color: `--c${i % 8}`, shape: SHAPES[Math.floor(i / 8) % SHAPES.length]});

// A key's line and mark as a picture. Only numbers and names from here go into it.
function swatch(look, dashed) {
    const marks = {
        circle: '<circle cx="15" cy="7" r="4"/>',
        rect: '<rect x="11" y="3" width="8" height="8"/>',
        triangle: '<path d="M15 2l5 9h-10z"/>',
        rectRot: '<path d="M15 1.5l5.5 5.5-5.5 5.5-5.5-5.5z"/>',
    };
    const holder = element("span", {"aria-hidden": "true"});
    holder.style.display = "inline-flex";
    holder.innerHTML = `<svg viewBox="0 0 30 14" stroke="var(${look.color})" stroke-width="2" fill="${
        dashed ? "var(--card)" : `var(${look.color})`}"><path d="M0 7h30" ${dashed ? 'stroke-dasharray="5 4"' : ""}/>${
        marks[look.shape]}</svg>`;
    return holder;
}

// Ticks of a logarithmic axis: every power of ten, with 2 and 5 times it where there are few.
function tens(scale) {
    const [from, to] = [Math.log10(scale.min), Math.log10(scale.max)];
    const steps = to - from > 2.6 ? [1] : [1, 2, 5];
    const skip = Math.max(1, Math.ceil((to - from) / 9));
    const ticks = [];
    for (let e = Math.floor(from); e <= to; e++) {
        for (const step of e % skip === 0 ? steps : []) {
            const value = step * 10 ** e;
            if (value >= scale.min * 0.999 && value <= scale.max * 1.001) {
                ticks.push({value});
            }
        }
    }
    scale.ticks = ticks;
}

function logAxis(title, format, ticks = tens) {
    return {
        type: "logarithmic",
        title: {display: true, text: title, color: color("--quiet"), font: {size: 13}},
        grid: {color: color("--grid"), borderColor: color("--line"), tickColor: color("--line")},
        ticks: {
            color: color("--quiet"),
            font: {size: 12},
            maxRotation: 0,
            autoSkip: true,
            autoSkipPadding: 6,
            callback: format
        },
        afterBuildTicks: ticks,
    };
}

// A little room around the values, in octaves.
const lowest = (values) => Math.min(...values) / 1.15;
const highest = (values) => Math.max(...values) * 1.15;

function tooltip(lines) {
    return {
        backgroundColor: color("--card"),
        titleColor: color("--text"),
        bodyColor: color("--text"),
        borderColor: color("--line"),
        borderWidth: 1,
        padding: 10,
        displayColors: false,
        titleFont: {size: 13},
        bodyFont: {size: 12},
        callbacks: {
            title: (items) => (items.length ? lines(items[0].raw.row)[0] : ""),
            label: (item) => lines(item.raw.row).slice(1)
        },
    };
}

// Writes each point's name beside it where there is room; the names that would overlap are left to the tooltip.
const nameplates = {
    id: "nameplates",
    afterDatasetsDraw(chart) {
        if (!chart.options.plugins.nameplates?.on) {
            return;
        }
        const {ctx, chartArea} = chart;
        const points = [];
        chart.data.datasets.forEach((set, i) => {
            if (chart.isDatasetVisible(i)) {
                chart.getDatasetMeta(i).data.forEach(
                    (point, j) => points.push({x: point.x, y: point.y, name: set.data[j].name}));
            }
        });
        const taken = points.map((point) => [point.x - 6, point.y - 6, point.x + 6, point.y + 6]);
        ctx.save();
        ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
        ctx.fillStyle = color("--text");
        ctx.textBaseline = "middle";
        for (const point of points) {
            const wide = ctx.measureText(point.name).width;
            const places = [
                [point.x + 9, point.y], [point.x - 9 - wide, point.y], [point.x - wide / 2, point.y - 14],
                [point.x - wide / 2, point.y + 14]
            ];
            for (const [x, y] of places) {
                const box = [x - 2, y - 8, x + wide + 2, y + 8];
                const inside = box[0] >= chartArea.left && box[2] <= chartArea.right && box[1] >= chartArea.top
                               && box[3] <= chartArea.bottom;
                if (inside
                    && taken.every(
                        (other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1])) {
                    ctx.fillText(point.name, x, y);
                    taken.push(box);
                    break;
                }
            }
        }
        ctx.restore();
    },
};
Chart.register(nameplates);

// A chart in `holder` that follows the theme and the paper: configure() gives the configuration and is called again for both.
function plot(holder, label, configure) {
    const canvas = element("canvas", {role: "img", "aria-label": label});
    holder.replaceChildren(canvas);
    const complete = () => {
        const configuration = configure();
        Object.assign(configuration.options, {
            animation: false,
            responsive: true,
            maintainAspectRatio: false,
            font: {family: getComputedStyle(document.body).fontFamily},
            devicePixelRatio: document.documentElement.classList.contains("printing") ? 3 : undefined,
        });
        return configuration;
    };
    const entry = {chart: new Chart(canvas, complete())};
    entry.rebuild = () => {
        entry.chart.destroy();
        entry.chart = new Chart(canvas, complete());
    };
    entry.remove = () => {
        entry.chart.destroy();
        plots.delete(entry);
    };
    plots.add(entry);
    return entry;
}

window.matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => plots.forEach((entry) => entry.rebuild()));

// On paper everything is unfolded and the plots are drawn again, in the light colours and finely.
let unfolded = [];
window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((part) => { part.open = true; });
    plots.forEach((entry) => {
        entry.rebuild();
        entry.chart.resize(643, 348); // 170 mm × 92 mm, as the style sheet has it
    });
});
window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    unfolded.forEach((part) => { part.open = false; });
    plots.forEach((entry) => entry.rebuild());
});
