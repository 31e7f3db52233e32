// SPDX-License-Identifier: MIT
//
// All rows, a table for each suite, to be sorted and filtered.
"use strict";

const several = {
    targets: targets.length > 1,
    runtimes: rows.some((row) => !isWeft(row))
};
const targetNames = new Map(targets.map((target) => [target.key, target.name]));
const deviceName = (row) =>
    targetNames.get(targetOf(row)) ?? targets.find((target) => target.device === row.device)?.name ?? row.device;
const interval = (row) => (row.interval_ms ? (row.interval_ms[1] - row.interval_ms[0]) / 2 / row.median_ms : null);

// title, what to sort by, how to write it; text columns are marked, minor ones are not printed.
const COLUMNS = [
    {title: "median", of: (row) => row.median_ms, write: time},
    {title: "± 95 %", of: interval, write: (value, row) => percent(value) + (row.tight === false ? " ○" : "")},
    {title: "p5", of: (row) => row.p5_ms, write: time, minor: true},
    {title: "p90", of: (row) => row.p90_ms, write: time, minor: true},
    {title: "p95", of: (row) => row.p95_ms, write: time, minor: true},
    {title: "p99", of: (row) => row.p99_ms, write: time, minor: true},
    {title: "host", of: (row) => row.host_ms, write: time, minor: true},
    {title: "CPU time", of: (row) => row.cpu_ms, write: time},
    {title: "GFLOP/s", of: (row) => row.gflop_per_s, write: digits},
    {title: "GB/s", of: (row) => row.gb_per_s, write: digits, minor: true},
    {title: "of copy", of: (row) => row.fraction_of_copy, write: percent},
    {title: "of arithmetic", of: (row) => row.fraction_of_arithmetic, write: percent},
    {title: "tokens/s", of: (row) => row.tokens_per_s, write: digits},
    {title: "extra memory", of: (row) => row.extra_bytes, write: bytes},
    {title: "peak memory", of: (row) => row.peak_bytes, write: bytes},
    {title: "weights", of: (row) => row.weight_bytes, write: bytes, minor: true},
    {
        title: "error",
        of: (row) => row.verified?.rel_l2,
        write: (value, row) => element("span",
            {title: isNumber(row.verified.tolerance) ? `${digits(row.verified.tolerance)} is allowed` : ""},
            power(value, 2))
    },
    {
        title: "verified by",
        of: (row) => row.verified?.by,
        write: (value, row) => element("span", {title: row.verified.reason ?? ""}, value),
        text: true
    },
    {title: "dispatches", of: (row) => row.dispatches, write: count, minor: true},
    {title: "barriers", of: (row) => row.barriers, write: count, minor: true},
    {title: "submissions", of: (row) => row.submissions, write: count, minor: true},
    {
        title: "longest dispatch",
        of: (row) => row.longest_dispatch?.ms,
        minor: true,
        text: true,
        write: (value, row) => `${time(value)} ${row.longest_dispatch.kernel}${
            row.longest_dispatch.node ? " at " + row.longest_dispatch.node : ""}`
    },
    {title: "start cold", of: (row) => row.start_ms?.cold, write: time, minor: true},
    {title: "warm cache", of: (row) => row.start_ms?.warm_cache, write: time, minor: true},
    {title: "steady", of: (row) => row.start_ms?.steady, write: time, minor: true},
    {title: "runs", of: (row) => row.runs, write: count, minor: true},
    {
        title: "output SHA-256",
        of: (row) => row.output_sha256,
        write: (value) => value.slice(0, 12) + "…",
        minor: true,
        text: true
    },
];
const LEADING = [
    {title: "case", of: (row) => row.case, write: breakable, text: true},
    ...(several.targets ? [{title: "device", of: deviceName, write: String, text: true}] : []),
    ...(several.runtimes ? [{title: "runtime", of: runtimeName, write: String, text: true}] : []),
];

const isThere = (value) => value !== null && value !== undefined;

function compare(a, b) {
    if (!isThere(a) || !isThere(b)) {
        return isThere(b) - isThere(a); // those without a value last
    }
    return typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b;
}

function rowLine(row, columns) {
    const cell = (column) => {
        const value = column.of(row);
        const name = ["td", column.text ? "left" : "", column.minor ? "minor" : ""].filter(Boolean).join(".");
        return element(name, {}, isThere(value) ? column.write(value, row) : "–");
    };
    const leading = LEADING.map(cell);
    if (row.status === "ok") {
        return element("tr", {}, ...leading, ...columns.map(cell));
    }
    const state = element(`span.state.${row.status}`, {}, row.status);
    return element("tr", {}, ...leading,
        element(
            "td.reason", {colspan: String(Math.max(1, columns.length))}, state, row.reason ? `: ${row.reason}` : ""));
}

function rowTable(list) {
    const columns = COLUMNS.filter((column) => list.some((row) => row.status === "ok" && isThere(column.of(row))));
    const state = {column: null, up: true};
    const body = element("tbody");
    const fill = () => {
        const order = [...list];
        if (state.column) {
            const sign = state.up ? 1 : -1;
            order.sort((a, b) => {
                const [x, y] = [state.column.of(a), state.column.of(b)];
                return isThere(x) && isThere(y) ? sign * compare(x, y) : compare(x, y);
            });
        }
        body.replaceChildren(...order.map((row) => rowLine(row, columns)));
    };
    const heads = [...LEADING, ...columns].map((column) => {
        const head = element(["th", column.text ? "left" : "", column.minor ? "minor" : ""].filter(Boolean).join("."),
            {scope: "col"},
            element("button", {
                type: "button",
                onclick: () => {
                    state.up = state.column === column ? !state.up : true;
                    state.column = column;
                    heads.forEach((other) => other.removeAttribute("aria-sort"));
                    head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
                    fill();
                }
            },
                column.title));
        return head;
    });
    fill();
    return element(
        "div.scroll", {}, element("table.rows", {}, element("thead", {}, element("tr", {}, ...heads)), body));
}

const STATES = ["ok", "skipped", "unsupported", "error"];
const countStates = (list) =>
    STATES.map((state) => [state, list.filter((row) => row.status === state).length]).filter(([, n]) => n > 0);

function matches(row, filter) {
    const text = [
        row.suite, row.case, row.series, runtimeName(row), row.status, row.reason, row.verified?.by, deviceName(row)
    ].join(" ").toLowerCase();
    return filter.words.every((word) => text.includes(word)) && (!filter.state || row.status === filter.state)
           && (!filter.target || belongs(row, filter.target));
}

function showRows(section) {
    const filter = {words: [], state: "", target: null};
    const holder = element("div");
    const opened = new Map(); // what was folded by hand stays so
    const draw = () => {
        const list = rows.filter((row) => matches(row, filter));
        const filtered = filter.words.length > 0 || filter.state !== "";
        const parts = suitesOf(list).map((suite) => {
            const own = list.filter((row) => row.suite === suite);
            const part = element("details", {},
                element("summary", {}, element("b", {}, suite),
                    element("span.tag", {},
                        "  " + countStates(own).map(([state, n]) => `${count(n)} ${state}`).join(", "))),
                rowTable(own));
            part.open = filtered || (opened.get(suite) ?? !isPhone());
            part.addEventListener("toggle", () => opened.set(suite, part.open));
            return part;
        });
        holder.replaceChildren(...(parts.length ? parts : [element("p.quiet", {}, "No row is like that.")]));
    };
    const search = element("input", {
        type: "search",
        placeholder: "Filter: case, runtime, reason …",
        "aria-label": "Filter the rows",
        oninput: () => {
            filter.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
            draw();
        }
    });
    const states = choice("Status",
        [{value: "", label: "all"}, ...countStates(rows).map(([state]) => ({value: state, label: state}))], "",
        (value) => {
            filter.state = value;
            draw();
        });
    const devices = element("select", {
        "aria-label": "Device",
        onchange: () => {
            filter.target = targets.find((target) => target.key === devices.value) ?? null;
            draw();
        }
    },
        element("option", {value: ""}, "all devices"),
        ...targets.map((target) => element("option", {value: target.key}, target.name)));
    section.append(element("h2", {}, "All rows"),
        element("p.lead.screen", {},
            "Press a column's title to sort by it. ○ marks an interval that did not get as narrow as asked."),
        element("div.controls", {}, search, states, several.targets ? devices : null,
            csvButton("weft bench", () => rows.filter((row) => matches(row, filter)))),
        holder);
    draw();
}
