# SPDX-License-Identifier: MIT
"""The table of ratios: Weft's time over a peer's, of the same case on the same device."""

EXPLANATION = """\
A ratio is Weft's time over the peer's, so that above 1 Weft is slower: of the wall's clock, and (CPU) of the processor time \
of all threads. {rounds}, Weft and peers by turns, of which the middle one counts. {threads}
"""


def pairs(rows):
    """(Weft's row, peer's row) of each case, peers in the order in which they are in the file."""
    weft = {(row["suite"], row["case"]): row for row in rows if row["runtime"] == "weft"}
    for row in rows:
        if row["runtime"] != "weft":
            yield weft.get((row["suite"], row["case"])), row


def ratio(weft, peer, field):
    if not weft or weft["status"] != "ok" or peer["status"] != "ok":
        return None
    if weft["software_device"] != peer["software_device"]:
        return None  # a processor against a GPU
    ours, theirs = weft.get(field), peer.get(field)
    return ours / theirs if ours and theirs else None


def _number(value, digits=3):
    if value is None:
        return "-"
    return f"{value:#.{digits}g}".rstrip(".") if value < 1000 else f"{value:.0f}"


def _error(peer):
    """None of a row that is checked by its hash: Weft's, of a whole network."""
    return peer["verified"]["rel_l2"] if peer["status"] == "ok" else None


def _line(weft, peer):
    ours = weft["median_ms"] if weft and weft["status"] == "ok" else None
    cells = [peer["case"] if peer["suite"] == "mixers" else f"{peer['suite']}: {peer['case']}",
             peer["runtime"], _number(ours)]
    if peer["status"] != "ok":
        return cells + [peer["status"], "-", "-", "-"]
    return cells + [_number(peer["median_ms"]), _number(ratio(weft, peer, "median_ms")),
                    _number(ratio(weft, peer, "cpu_ms")),
                    "-" if _error(peer) is None else f"{_error(peer):.1e}"]


HEAD = ["case", "peer", "Weft ms", "peer ms", "ratio", "ratio (CPU)", "rel. error"]


def lines(rows):
    return [_line(weft, peer) for weft, peer in pairs(rows)]


def text(rows):
    table = [HEAD, *lines(rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) if column < 2 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in table)


def reasons(rows):
    """Why peers have no time, each reason once with the first case that it is about."""
    seen = {}
    for row in rows:
        if row["status"] != "ok":
            seen.setdefault((row["runtime"], row["status"], row["reason"]), []).append(row["case"])
    return [f"{runtime}: {status}, {reason} ({cases[0]}"
            + (f" and {len(cases) - 1} more)" if len(cases) > 1 else ")")
            for (runtime, status, reason), cases in seen.items()]


def versions(rows):
    seen = dict.fromkeys((row["runtime"], row.get("runtime_version"), row["device"], row["driver"])
                         for row in rows if row.get("runtime_version"))
    return [f"{runtime} {version}: {device}, {driver}" for runtime, version, device, driver in seen]


def worst(rows, count=3):
    """The cases with the largest ratios, one peer of each, Weft's and the peer's device the same."""
    found = {}
    for weft, peer in pairs(rows):
        value = ratio(weft, peer, "median_ms")
        if value is not None and value > found.get(peer["case"], (0.0,))[0]:
            found[peer["case"]] = (value, peer["runtime"])
    order = sorted(found.items(), key=lambda item: -item[1][0])[:count]
    return [f"{case}: {value:.1f} ({runtime})" for case, (value, runtime) in order]


def _cell(weft, peer):
    if peer is None:
        return ""
    if peer["status"] != "ok":
        return peer["status"]
    ratios = [_number(ratio(weft, peer, field)) for field in ("median_ms", "cpu_ms")]
    return f"{_number(peer['median_ms'])} ms: {ratios[0]} ({ratios[1]})"


def _grid(rows):
    """A line per case, a column per peer."""
    runtimes = list(dict.fromkeys(row["runtime"] for row in rows if row["runtime"] != "weft"))
    cases = {}
    for weft, peer in pairs(rows):
        found = cases.setdefault((peer["suite"], peer["case"]), {"weft": weft})
        found[peer["runtime"]] = peer
    yield ["case", "Weft ms", *runtimes]
    for (_, case), found in cases.items():
        weft = found["weft"]
        ours = _number(weft["median_ms"]) if weft and weft["status"] == "ok" else "-"
        yield [f"`{case}`", ours, *(_cell(weft, found.get(name)) for name in runtimes)]


def markdown(rows, explanation, notes):
    """The table with a cell "time: ratio (ratio of processor times)" for each peer."""
    head, *grid = _grid(rows)
    out = [explanation, "", "| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    out += ["| " + " | ".join(line) + " |" for line in grid]
    errors = {}
    for _, peer in pairs(rows):
        if _error(peer) is not None:
            errors.setdefault(peer["runtime"], []).append(_error(peer))
    out += ["", "Relative errors of the results against float64: "
            + ", ".join(f"{name} {min(found):.0e} to {max(found):.0e}"
                        for name, found in errors.items()) + "."]
    for title, found in (("Versions and devices", versions(rows)), ("Notes", notes),
                         ("Without a time", reasons(rows))):
        if found:
            out += ["", f"{title}:", ""] + [f"- {line}" for line in found]
    return "\n".join(out) + "\n"
