// SPDX-License-Identifier: MIT
//
// The report inside the page, what is asked of it, and how numbers and elements are written. The scripts of the page share
// one scope and come in this order: report, plot, export, curves, grid, bars, table, changes, page.
"use strict";

const report = JSON.parse(document.getElementById("weft-report").textContent);
const comparison = JSON.parse(document.getElementById("weft-comparison").textContent);
const environment = report.environment ?? {};
const rows = report.rows ?? [];
const fits = report.fits ?? [];

// ---- numbers ----

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const grouped = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const count = (value) => grouped.format(value);

// Three significant digits, without an exponent between 10^-3 and 10^6.
function digits(value) {
    if (value === 0) {
        return "0";
    }
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e6) {
        return power(value, 2);
    }
    return size >= 1000 ? count(value) : String(Number(value.toPrecision(3)));
}

const raised = (text) => [...text].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");

// 3.1·10⁻⁷, and 10⁻⁷ for a mantissa of 1.
function power(value, precision) {
    if (value === 0) {
        return "0";
    }
    const [mantissa, exponent] = value.toExponential(precision - 1).split("e");
    const ten = "10" + raised(String(Number(exponent)));
    return Number(mantissa) === 1 ? ten : Number(mantissa) + "·" + ten;
}

function inUnits(value, units, base) {
    let at = 0;
    while (at + 1 < units.length && Math.abs(value) >= base) {
        value /= base;
        at++;
    }
    return digits(value) + "\u00a0" + units[at];
}

const time = (ms) => (ms === 0 ? "0" : inUnits(ms * 1e6, ["ns", "µs", "ms", "s"], 1000));
const bytes = (value) => inUnits(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const percent = (value) => digits(value * 100) + "\u00a0%";
const ratio = (value) => digits(value) + "\u00a0×";

// ---- elements ----

// element("p.quiet", {id: "x"}, child or text, …). Text is never read as HTML.
function element(name, attributes = {}, ...children) {
    const [tag, ...classes] = name.split(".");
    const made = document.createElement(tag);
    made.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) {
            made.addEventListener(key.slice(2), value);
        } else {
            made.setAttribute(key, value);
        }
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

// Whether a case has as many channels as whole models: d=768, or a side of at least 512 as in matmul/512x3072x768.
function isWide(name) {
    const channels = name.match(/\bd=(\d+)/);
    const sides = channels ? [channels[1]] : (name.match(/\d+(x\d+)+/) ?? [""])[0].split("x").slice(1);
    return sides.some((side) => Number(side) >= 512);
}

// A case's name, which may be broken after / and , only; of wide cases it says so.
function breakable(text) {
    return element("span", {}, ...text.split(/(?<=[/,])/).flatMap((part, i) => (i === 0 ? [part] : [element("wbr"), part])),
        isWide(text) ? element("span.wide", {title: "512 channels or more"}, "wide") : null);
}

// A table of plain cells, null ones as a dash.
function table(titles, lines) {
    const head = element("tr", {}, ...titles.map((title) => element("th", {}, title)));
    const body = lines.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell ?? "–"))));
    return element("div.scroll", {},
        element("table.rows.plain", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

const byId = (id) => document.getElementById(id);

// A row of buttons of which one is pressed. options: [{value, label}]; picked(value) when another one is.
function choice(label, options, value, picked) {
    const group = element("div.choice", {role: "group", "aria-label": label});
    const buttons = options.map((option) => element("button", {
        type: "button",
        "aria-pressed": String(option.value === value),
        onclick: () => {
            buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i] === option)));
            picked(option.value);
        },
    },
                                    option.label));
    group.append(...buttons);
    return group;
}

// ---- devices ----

// A target is a device with its driver and the mode it calculated in: what Weft's rows of a plot have in common.
const targetOf = (row) => [row.device, row.driver, row.math, row.device_index].join("\n");
const isWeft = (row) => (row.runtime ?? "weft") === "weft";

const plain = (device) => device.replace(/\s*\(.*\)\s*$/, "");

// Short names, with as much more as tells apart those that would be the same.
function nameTargets(targets) {
    const more = [
        (target) => target.device.slice(plain(target.device).length).trim(), (target) => target.driver,
        (target) => target.math, (target) => `no. ${target.index}`
    ];
    for (const target of targets) {
        const alike = targets.filter((other) => plain(other.device) === plain(target.device));
        const telling = more.filter((of) => new Set(alike.map(of)).size > 1).slice(0, alike.length > 2 ? 4 : 1);
        target.name = [plain(target.device), ...telling.map((of) => of(target))].join(" ");
    }
}

function findTargets() {
    const found = new Map();
    for (const row of rows.filter(isWeft)) {
        const key = targetOf(row);
        if (!found.has(key)) {
            found.set(key, {
                key,
                device: row.device,
                driver: row.driver,
                math: row.math,
                index: row.device_index,
                software: row.software_device
            });
        }
    }
    const targets = [...found.values()];
    nameTargets(targets);
    targets.forEach((target, i) => { target.color = `--c${i % 8}`; });
    return targets;
}

const targets = findTargets();

// Weft's own device of the processor, as opposed to a driver that brings Vulkan to the processor.
const isProcessor = (target) => (environment.devices ?? []).some(
    (device) => device.type === "processor" && device.name === target.device && device.driver_version === target.driver);
const deviceNames = new Set(targets.map((target) => target.device));

// Weft's rows of a target, and those of peers on the same device or on one that Weft did not run on, such as the processor.
const belongs = (row, target) =>
    (isWeft(row) ? targetOf(row) === target.key : row.device === target.device || !deviceNames.has(row.device));
const measured = (row) => row.status === "ok" && isNumber(row.median_ms);
const rowsOf = (target) => rows.filter((row) => measured(row) && belongs(row, target));

// ---- cases ----

// What a case has beside its series and length: "d=64,heads=8" of "attention/n=512,d=64,heads=8".
function widthOf(row) {
    const parameters = row.case.slice(row.case.lastIndexOf("/") + 1).split(",");
    return parameters.some((part) => part.startsWith("n="))
               ? parameters.filter((part) => !part.startsWith("n=")).join(",")
               : "";
}

// Of the rows of each series of a suite and runtime, the longest one; rows without a series all stay.
function longest(list) {
    const kept = new Map();
    for (const row of list) {
        const key = row.series ? [row.suite, row.series, widthOf(row), row.runtime].join("\n")
                               : [row.suite, row.case, row.runtime].join("\n");
        const other = kept.get(key);
        if (!other || (row.n ?? 0) > (other.n ?? 0)) {
            kept.set(key, row);
        }
    }
    return [...kept.values()];
}

const suitesOf = (list) => [...new Set(list.map((row) => row.suite))];
const runtimeName = (row) => (isWeft(row) ? "weft" : [row.runtime, row.runtime_version].filter(Boolean).join(" "));
