// SPDX-License-Identifier: MIT
//
// Puts the page together: its head, the choice of a device, and the sections.
"use strict";

function listed(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function showHead() {
    const names = [...new Set(targets.map((target) => plain(target.device)))];
    const title = names.length ? `Sequence mixing on ${listed(names)}` : "Sequence mixing";
    byId("headline").textContent = title;
    document.title = `${title} · weft bench`;
    const modes = [...new Set(targets.map((target) => target.math).filter(Boolean))];
    const drivers = [...new Set(targets.map((target) => `${plain(target.device)}: ${target.driver}`))];
    byId("subline").textContent = [
        environment.label ?? "",
        `Weft ${environment.weft ?? ""}`.trim(),
        modes.length ? `${listed(modes)} mode` : "",
        environment.started ? dateOf(environment.started) : "",
        environment.size ? `${environment.size} run of ${listed(suitesOf(rows))}` : listed(suitesOf(rows)),
        drivers.join("; "),
    ].filter(Boolean).join(" · ");
}

function dateOf(text) {
    const date = new Date(text);
    return Number.isNaN(date.getTime()) ? text : date.toLocaleString("en-GB", {
        day: "numeric",
        month: "long",
        year: "numeric",
        hour: "2-digit",
        minute: "2-digit",
        timeZone: "UTC"
    }) + " UTC";
}

function showNotices() {
    const notices = [];
    const processors = targets.filter(isProcessor);
    if (processors.length) {
        const names = [...new Set(processors.map((target) => plain(target.device)))];
        notices.push(`${listed(names)}: the processor itself, by Weft's own device, without Vulkan. These rows are no statement `
            + "about the performance of any GPU.");
    }
    const software = targets.filter((target) => target.software && !isProcessor(target));
    if (software.length) {
        const names = [...new Set(software.map((target) => plain(target.device)))];
        notices.push(
            `${listed(names)} ${names.length > 1 ? "are software drivers" : "is a software driver"}: ` +
            "Vulkan on the processor. These rows say whether the code works and how it grows with the length; they are no statement "
            +
            "about the performance of any GPU.");
    }
    if (environment.interrupted) {
        notices.push("The run was interrupted. What was measured until then is here; the rest is missing.");
    }
    if (isNumber(environment.debug_slow_down)) {
        notices.push(`Every timed run did its work ${
            digits(environment.debug_slow_down)} times on purpose (--debug-slow-down).`);
    }
    byId("notices").append(...notices.map((text) => element("p.notice", {}, text)));
}

function showCounts() {
    const words = {ok: "measured", skipped: "skipped", unsupported: "unsupported", error: "errors"};
    byId("counts").append(...STATES.map((state) => {
        const n = rows.filter((row) => row.status === state).length;
        return element(n === 0             ? "li.none"
                       : state === "error" ? "li.bad"
                                           : "li",
            {}, element("b", {}, count(n)), words[state]);
    }));
    const ways = {
        float64: "against float64",
        hash: "by the hash of outputs checked before",
        reproducible: "against a reproducible run"
    };
    const ok = rows.filter((row) => row.status === "ok");
    const parts = Object.entries(ways)
                      .map(([by, text]) => [ok.filter((row) => row.verified?.by === by).length, text])
                      .filter(([n]) => n > 0)
                      .map(([n, text]) => `${count(n)} ${text}`);
    const none = ok.filter((row) => !row.verified || row.verified.by === "none").length;
    byId("verified").textContent = parts.length ? `Outputs verified before timing: ${listed(parts)}.`
                                                      + (none > 0 ? ` Not verified: ${count(none)}.` : "")
                                                                  : "No output was verified.";
}

function showEnvironment() {
    const facts = [
        ["Machine", environment.label], ["Weft", environment.weft], ["Started", environment.started && dateOf(environment.started)],
        [
            "Processor",
            environment.cpu && `${environment.cpu}${environment.cores ? `, ${environment.cores} cores` : ""}`
        ],
        ["System", environment.system], ["Memory", isNumber(environment.memory) ? bytes(environment.memory) : null],
        ["Governor", environment.governor], ["Energy preference", environment.energy_preference],
        ["Power plan", environment.power_plan], ["Sizes", environment.size], ["Seconds per case", environment.seconds]
    ];
    for (const device of environment.devices ?? []) {
        facts.push([
            targetOfDevice(device)?.name ?? device.name,
            [
                device.name, `${device.type}, ${device.driver} ${device.driver_version}`, `Vulkan ${device.vulkan}`,
                `subgroups of ${device.subgroup_size}`,
                isNumber(device.device_memory) ? `${bytes(device.device_memory)} of memory` : ""
            ].filter(Boolean)
                .join("; ")
        ]);
    }
    const peers = [...new Set(rows.filter((row) => !isWeft(row)).map((row) => `${runtimeName(row)} on ${row.device}`))];
    if (peers.length) {
        facts.push(["Peers", peers.join("; ")]);
    }
    byId("environment").append(...facts.filter(([, value]) => isThere(value) && value !== "").flatMap(([name,
        value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

// The sections that show one device, drawn anew for another one.
const PER_DEVICE = {
    curves: showCurves,
    grid: showGrid,
    fractions: showFractions,
    accuracy: showAccuracy,
    peers: showPeers
};

function showDevice(target) {
    [...plots].forEach((entry) => entry.remove());
    for (const [id, show] of Object.entries(PER_DEVICE)) {
        const section = byId(id);
        section.replaceChildren();
        section.hidden = !show(section, target);
    }
    showLinks();
}

function showLinks() {
    byId("links").replaceChildren(...[...document.querySelectorAll("main > section:not([hidden])")].map(
        (section) => element("a", {href: "#" + section.id}, section.dataset.title)));
}

function main() {
    showHead();
    showNotices();
    showCounts();
    showEnvironment();
    byId("changes").hidden = !showChanges(byId("changes"));
    byId("ceilings").hidden = !showCeilings(byId("ceilings"));
    showRows(byId("rows"));
    if (targets.length) {
        if (targets.length > 1) {
            byId("devices").replaceWith(choice("Device shown in the plots",
                targets.map((target) => ({value: target, label: target.name})), targets[0], showDevice));
        }
        showDevice(targets[0]);
    } else {
        Object.keys(PER_DEVICE).forEach((id) => { byId(id).hidden = true; });
        showLinks();
    }
}

main();
