// SPDX-License-Identifier: MIT
//
// The page of a record of `weft certify`, with report.js.
"use strict";

const {program, made, system, device, states, bits, models, bench, sustained, summary} = report;

function show(id, title, ...parts) {
    byId(id).append(element("h2", {}, title), ...parts);
}

const or = (value, write) => (isNumber(value) ? write(value) : null);
const unit = (name) => (value) => `${digits(value)}\u00a0${name}`;

/* What is known of the bits: of cases that were skipped nothing is. */
function verdict() {
    if (!summary.cases_ran) {
        return "No case ran on this device: nothing is known of its bits.";
    }
    if (bits.some((mode) => mode.failed)) {
        return "Some bits are wrong: see below.";
    }
    if (!summary.bits_agree) {
        return "In one of the modes no case ran: nothing is known of its bits.";
    }
    return summary.every_kernel ? "All bits of the cases that ran agree; every kernel ran."
        : "All bits of the cases that ran agree, but not every kernel ran: see below.";
}

function showHead() {
    byId("headline").textContent = device.name;
    document.title = `${device.name} · weft certify`;
    byId("subline").textContent = [
        `Weft ${program.version}`, `${device.driver} ${device.driver_version}`, made.started,
        `${digits(made.seconds_taken)} of ${digits(made.seconds_allowed)} s`
    ].join(" · ");
    const notices = [];
    if (device.type === "processor") {
        notices.push("This is the processor itself, by Weft's own device, without Vulkan.");
    } else if (device.software_device) {
        notices.push("This is a software driver: its times say nothing about a GPU.");
    }
    notices.push(verdict());
    byId("notices").append(...notices.map((text) => element("p.notice", {}, text)));
    const failed = bits.reduce((sum, mode) => sum + mode.failed, 0);
    const rate = summary.mixing_rate_tokens_per_s;
    byId("counts").append(
        element("li", {}, element("b", {}, isNumber(rate) ? digits(rate / 1e6) : "–"), "million tokens/s, mixing rate"),
        element("li", {}, element("b", {}, `${count(summary.cases_ran)} of ${count(summary.cases)}`), "cases ran"),
        element("li", {}, element("b", {}, count(summary.cases_skipped)), "skipped"),
        element(failed ? "li.bad" : "li.none", {}, element("b", {}, count(failed)), "wrong"),
        element("li", {}, element("b", {}, `${summary.models_agreeing} of ${summary.models}`),
            "models with the known logits"));
    byId("rate").textContent = summary.reason ? `No mixing rate: ${summary.reason}.` : "";
}

function showBits() {
    show("bits", "Bits", table(["math", "ran", "right", "wrong", "skipped", "of every kernel", ""],
        bits.map((mode) => [mode.math, `${count(mode.ran)} of ${count(mode.cases)}`, count(mode.passed),
            count(mode.failed), count(mode.skipped), `${mode.listed_ran} of ${mode.listed}`, mode.reason])));
    const unseen = bits.flatMap((mode) => mode.listed_skips.map((skip) => [mode.math, skip.case, skip.reason]));
    if (unseen.length) {
        byId("bits").append(element("h3", {}, "Cases for every kernel that were skipped"), table(["math", "case", "why"], unseen));
    }
    const failures = bits.flatMap((mode) => mode.failures.map((failure) => [mode.math, failure.case, failure.reason]));
    if (failures.length) {
        byId("bits").append(element("h3", {}, "Wrong cases"), table(["math", "case", "why"], failures));
    }
    const details = element("details", {}, element("summary", {}, "A hash for each op"));
    bits.forEach((mode) => details.append(element("h3", {}, mode.math), table(["op", "ran", "root"],
        mode.ops.map((op) => [op.op, `${op.ran} of ${op.cases}`, element("code", {}, op.root)]))));
    byId("bits").append(details);
}

function showModels() {
    show("models", "Models", table(["model", "math", "", "logits", "tokens/s"],
        models.map((row) => [row.model, row.math, row.agrees ? "as known" : row.reason ?? "other bits",
            row.found ? element("code", {}, row.found.slice(0, 16) + "…") : null, or(row.tokens_per_s, digits)])));
}

const COUNTED = (row) => row.math === "reproducible" && /n=1024,d=64$/.test(row.case);

function showBench() {
    const lines = bench.rows.map((row) => [
        element("span", {}, breakable(row.case), COUNTED(row) ? element("span.tag", {}, " rate") : null),
        row.math, or(row.p50_ms, time), or(row.p90_ms, time), or(row.p99_ms, time),
        row.medians_ms.map((ms) => time(ms)).join(", "),
        row.status === "ok" ? (row.replicated ? "yes" : "no") : `${row.status}: ${row.reason ?? ""}`,
        or(row.gflop_per_s, digits), row.runs
    ]);
    show("bench", "The bench", csvButton(`weft certify ${device.name}`, () => bench.rows),
        table(["case", "math", "p50", "p90", "p99", "medians", "replicated", "GFLOP/s", "runs"], lines),
        table(["limits of the device", "f32 GFLOP/s", "copy GB/s"],
            bench.modes.map((mode) => [mode.math, or(mode.f32_gflop_per_s, digits), or(mode.copy_gb_per_s, digits)])));
}

function showSustained() {
    const parts = sustained.runs_per_s;
    show("sustained", "A minute without a pause", element("p", {},
        parts.length ? `${sustained.case}: ${digits(sustained.gflop_per_s)} GFLOP/s over ${digits(sustained.seconds)} s, `
            + `${percent(sustained.last_over_first)} of the first part's rate in the last.` : sustained.reason ?? ""),
        table(parts.map((_, i) => `part ${i + 1}`), [parts.map((value) => unit("runs/s")(value))]));
}

function showStates() {
    show("states", "The machine", table(
        ["when", "others' load", "load", "governor", "clock", "temperature", "GPU clock", "GPU temperature", "GPU power"],
        states.map((state) => [state.when, or(state.others_busy, percent), or(state.load_1min, digits), state.governor,
            or(state.mean_mhz, unit("MHz")), or(state.temperature_c, unit("°C")), or(state.gpu_mhz, unit("MHz")),
            or(state.gpu_temperature_c, unit("°C")), or(state.gpu_watt, unit("W"))])));
}

function showEnvironment() {
    const facts = [
        ["Build", program.build], ["Known bits", program.known_bits], ["Seed", String(made.seed)],
        ["Processor", system.cpu ? `${system.cpu}, ${system.cores} cores` : null], ["System", system.system],
        ["Memory", isNumber(system.memory) ? bytes(system.memory) : null], ["Governor", system.governor],
        ["Energy preference", system.energy_preference], ["Power plan", system.power_plan], ["Machine", system.label],
        ["Device", `${device.type}, Vulkan ${device.vulkan}, subgroups of ${device.subgroup_size}, fma by ${device.fma}`]
    ];
    byId("environment").append(...facts.filter(([, value]) => value).flatMap(
        ([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

showHead();
showBits();
showModels();
showBench();
showSustained();
showStates();
showEnvironment();
