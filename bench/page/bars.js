// SPDX-License-Identifier: MIT
//
// Bars: the ceilings of devices, fractions of them, Weft against peers, and changes. They are plain elements, which wrap long
// names on a phone and stay sharp on paper.
"use strict";

function filled(share, name) {
    const bar = element("i");
    bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    bar.style.background = `var(${name})`;
    return bar;
}

function swatches(...pairs) {
    return element("p.swatches", {}, ...pairs.map(([name, text]) => {
        const square = element("i");
        square.style.background = `var(${name})`;
        return element("span", {}, square, text);
    }));
}

// ---- ceilings ----

const CEILINGS = [
    ["copy_gb_per_s", "Copy bandwidth", "GB/s", "within device memory, read and written"],
    ["f32_gflop_per_s", "f32 arithmetic", "GFLOP/s", "multiply-adds, two operations each"],
    ["f16_gflop_per_s", "f16 arithmetic", "GFLOP/s", "the same in half precision"],
    ["f16_matrix_gflop_per_s", "f16 matrices", "GFLOP/s", "by units for matrices, with f32 sums"],
    ["int8_matrix_gop_per_s", "int8 matrices", "GOP/s", "the same of int8, with int32 sums"],
    ["bf16_matrix_gflop_per_s", "bf16 matrices", "GFLOP/s", "the same of bf16"],
    ["dispatch_us", "Dispatch latency", "µs", "between two dispatches that depend on each other"],
    ["submission_us", "Submission latency", "µs", "an empty dispatch, until the host sees its end"],
];

const targetOfDevice = (device) =>
    targets.find((target) => target.device === device.name && target.driver === device.driver_version)
    ?? targets.find((target) => target.device === device.name);

function ceilingCard([field, title, unit, what], devices) {
    const most = Math.max(...devices.map((device) => device.ceilings[field] ?? 0));
    const lines = devices.map((device) => {
        const value = device.ceilings[field];
        const target = targetOfDevice(device);
        return element("div", {},
            element("div", {}, element("b", {}, isNumber(value) ? `${digits(value)} ${unit}` : "–"), " ",
                element("span.tag", {}, target?.name ?? device.name)),
            element("div.track", {}, isNumber(value) ? filled(value / most, target?.color ?? "--c6") : null));
    });
    return element("div.card", {}, element("h3", {}, title), element("p.what", {}, what), ...lines);
}

function showCeilings(section) {
    const devices = (environment.devices ?? []).filter((device) => device.ceilings);
    if (!devices.length) {
        return false;
    }
    const shown = CEILINGS.filter(([field]) => devices.some((device) => isNumber(device.ceilings[field])));
    section.append(element("h2", {}, "What the devices can do"),
        element("p.lead", {}, "Measured in the same run. Everything below is held against these."),
        element("div.cards", {}, ...shown.map((ceiling) => ceilingCard(ceiling, devices))),
        ...devices.flatMap((device) => CEILINGS.filter(([field]) => device.ceilings.reasons?.[field]).map(([field, title]) =>
            element("p.what", {}, `No ${title} of ${device.name}: ${device.ceilings.reasons[field]}.`))));
    return shown.length > 0;
}

// ---- fractions of the ceilings ----

// The suite `device` is what the ceilings come from.
const hasFraction = (row) =>
    isWeft(row) && row.suite !== "device" && (isNumber(row.fraction_of_copy) || isNumber(row.fraction_of_arithmetic));

function fractionMeter(value, most, name) {
    const track = element("div.track", {}, filled(value / most, name));
    const mark = element("u");
    mark.style.left = `${100 / most}%`;
    track.append(mark);
    return element("div.meter", {}, track, element("span.value", {}, percent(value)));
}

function fractionBars(list, most) {
    const best = (row) => Math.max(row.fraction_of_copy ?? 0, row.fraction_of_arithmetic ?? 0);
    const parts =
        [...list]
            .sort((a, b) => best(b) - best(a))
            .flatMap(
                (row) => [element("div.name", {}, breakable(row.case)),
                    element("div.pair", {},
                        isNumber(row.fraction_of_copy) ? fractionMeter(row.fraction_of_copy, most, "--c0") : null,
                        isNumber(row.fraction_of_arithmetic) ? fractionMeter(row.fraction_of_arithmetic, most, "--c1")
                                                             : null),
    ]);
    return element("div.bars", {}, ...parts);
}

function showFractions(section, target) {
    const list = longest(rowsOf(target).filter(hasFraction));
    if (!list.length) {
        return false;
    }
    section.append(element("h2", {}, "Against the ceilings"),
        element("p.lead", {},
            `How much of ${
                target.name}'s own copy bandwidth and arithmetic rate each case uses, at its longest length. `
                +
                "The thin line is the ceiling. A case is near what the device can do when either bar is long; short ones show where time is left."),
        swatches(["--c0", "of the copy bandwidth"], ["--c1", "of the arithmetic rate"]));
    const values = list.flatMap((row) => [row.fraction_of_copy, row.fraction_of_arithmetic]).filter(isNumber);
    const most = Math.min(Math.max(1.002, ...values), 1.5); // what is beyond has a full bar and its value
    suitesOf(list).forEach((suite, i) => section.append(folded(suite, list.filter((row) => row.suite === suite),
                               (part) => fractionBars(part, most), i === 0)));
    return true;
}

// A suite that is open where there is room, and the first one everywhere.
function folded(suite, list, draw, first) {
    const part = element("details", {},
        element("summary", {}, element("b", {}, suite),
            element("span.tag", {}, `  ${list.length} case${list.length === 1 ? "" : "s"}`)),
        draw(list));
    part.open = first || !isPhone();
    return part;
}

// ---- ratios ----

// The range of a logarithmic track that has 1 in it: [log10 of its start, of its end].
function rangeOf(values) {
    const from = Math.floor(Math.log10(Math.min(...values, 1 / 1.2)) * 2) / 2;
    const to = Math.ceil(Math.log10(Math.max(...values, 1.2)) * 2) / 2;
    return [from, to];
}

const place = (value, [from, to]) => ((Math.log10(value) - from) / (to - from)) * 100;

function ratioTicks(range) {
    const axis = element("div.axis");
    const steps = range[1] - range[0] > 2.5 ? [1] : range[1] - range[0] > 1.2 ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
    for (let e = Math.floor(range[0]); e <= range[1]; e++) {
        for (const step of steps) {
            const value = step * 10 ** e;
            const at = place(value, range);
            if (at >= -0.1 && at <= 100.1) {
                const tick = element(at < 2 ? "span.first" : at > 98 ? "span.last" : "span", {}, digits(value));
                tick.style.left = `${at}%`;
                axis.append(tick);
            }
        }
    }
    return element("div.meter", {}, axis, element("span"));
}

function ratioBar(value, range) {
    const [one, at] = [place(1, range), place(value, range)];
    const bar = element("i");
    Object.assign(bar.style, {
        left: `${Math.min(one, at)}%`,
        width: `${Math.abs(at - one)}%`,
        background: `var(${value > 1 ? "--worse" : "--better"})`
    });
    const mark = element("u");
    mark.style.left = `${one}%`;
    return element("div.meter", {}, element("div.track", {}, bar, mark), element("span.value", {}, ratio(value)));
}

// ---- peers ----

// Like with like: a peer that is timed on the host against the time of the whole call.
const timeAs = (row, clock) => (clock === "host" && isNumber(row.host_ms) ? row.host_ms : row.median_ms);

function peerPairs(target) {
    const own = new Map(rowsOf(target).filter(isWeft).map((row) => [row.suite + "\n" + row.case, row]));
    return rowsOf(target)
        .filter((row) => !isWeft(row) && own.has(row.suite + "\n" + row.case))
        .map((peer) => {
            const weft = own.get(peer.suite + "\n" + peer.case);
            return {...peer, ratio: timeAs(weft, peer.clock) / peer.median_ms, weft, peer};
        })
        .filter((pair) => isNumber(pair.ratio) && pair.ratio > 0);
}

function peerBars(list, range) {
    const parts = [...list].sort((a, b) => b.ratio - a.ratio).flatMap((pair) => {
        const bar = ratioBar(pair.ratio, range);
        bar.title = `weft ${time(timeAs(pair.weft, pair.peer.clock))}, ${runtimeName(pair.peer)} on ${
            pair.peer.device} ${time(pair.peer.median_ms)}`;
        return [
            element("div.name", {}, breakable(pair.case), element("span.tag", {}, " " + runtimeName(pair.peer))), bar
        ];
    });
    return element("div.bars.ratio", {}, element("span.lone"), ratioTicks(range), ...parts);
}

function showPeers(section, target) {
    const pairs = peerPairs(target);
    if (!pairs.length) {
        return false;
    }
    const range = rangeOf(pairs.map((pair) => pair.ratio));
    const slower = pairs.filter((pair) => pair.ratio > 1).length;
    const holder = element("div");
    const draw = (which) => {
        const list = which === "all" ? pairs : longest(pairs);
        holder.replaceChildren(
            ...suitesOf(list).map((suite, i) => folded(suite, list.filter((pair) => pair.suite === suite),
                                      (part) => peerBars(part, range), i === 0)));
    };
    section.append(element("h2", {}, "Against peers"),
        element("p.lead", {},
            `Weft's time on ${target.name} over the peer's, for the same work in the same run, on a logarithmic scale. `
                +
                `Of ${count(pairs.length)} comparisons Weft is slower in ${count(slower)} and faster in ${
                    count(pairs.length - slower)}.`
                + (target.software ? " Weft runs on a software driver here, the peers on the processor itself." : "")),
        swatches(["--worse", "right of 1: Weft takes longer"], ["--better", "left of 1: Weft takes less time"]),
        element("div.controls", {},
            choice("Lengths", [{value: "longest", label: "longest lengths"}, {value: "all", label: "all lengths"}],
                "longest", draw)),
        holder);
    draw("longest");
    return true;
}
