#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures other programs beside `weft bench`, the same cases on the same device by turns.

  python bench/peers/peers.py --weft build/weft --out peers.json [--markdown peers.md]
  python bench/peers/peers.py --weft build/weft --check      # results against float64, no times
"""

import argparse
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import iree_ops
import rows
import suite
import table
import transforms

HERE = os.path.dirname(os.path.abspath(__file__))

ON_PROCESSOR = ("processor", "software")  # types of devices
# peer -> its module, whether it is at work on the Vulkan device
PEERS = {
    "torch": ("torch_peer", False),
    "fftw": ("fftw_peer", False),
    "vkfft": ("vkfft_peer", True),
    "ncnn": ("ncnn_peer", True),
    "ncnn-cpu": ("ncnn_peer", False),
    "iree-cpu": ("iree_peer", False),
    "iree-vulkan": ("iree_peer", True),
    "vkdispatch": ("vkdispatch_peer", True),
}

# (suite, what --filter gets, at which lengths): in the order in which they are measured
OPS = ["matmul/512x3072x768", "matmul/512x768x3072", "layer_norm/512x768", "gelu_tanh/512x3072",
       "softmax/6144x512"]
WIDE = ["fourier/fft/n=512,d=768", "attention/n=512,d=768,heads=12"]
ENCODER = ("fnet", "fnet/fft/n=", [128], ["fnet/fft/n=128,d=768,layers=12"])
SERIES = [series for series in suite.MIXERS
          if series not in ("fourier/fft", "fourier/matrix", "attention/full_band")]
QUICK_SERIES = ["attention", "fourier", "toeplitz", "banded_attention", "kernel_attention/1"]

ANSWER_SECONDS = 240  # a peer that says nothing for so long is ended


NO_VULKAN = ("Weft runs on its processor device, and no other: --also-device names a Vulkan device "
             "for Vulkan peers")


class Silence(Exception):
    """A worker ended, or did not answer in time."""


class Worker:
    """A peer in a process of its own (worker.py)."""

    def __init__(self, name, options):
        module, self.on_vulkan = PEERS[name]
        self.name, self.refusal, self.hello, self.process = name, None, {}, None
        if self.on_vulkan and not options["device"]:
            self.refusal = ("unsupported", NO_VULKAN)
        else:
            self._start(options | {"module": module, "name": name, "vulkan": self.on_vulkan})

    def _start(self, options):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "worker.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        bufsize=1, start_new_session=True)  # Ctrl-C is for us
        try:
            self.hello = self.ask(options)
        except Silence as silence:
            self.refusal = ("error", str(silence))
        if "status" in self.hello:
            self.refusal = (self.hello["status"], self.hello["reason"])

    def _signal(self, number):
        """To the peer and what it started; it may have ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def ask(self, request):
        """The answer. Between questions the peer is stopped: threads of some spin while they wait."""
        self._signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Silence(f"the peer's process ended with {self.process.wait()}") from None
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_SECONDS)
        line = self.process.stdout.readline() if ready else None
        if line:
            self._signal(signal.SIGSTOP)
            return json.loads(line)
        if not ready:
            self.process.kill()
            raise Silence(f"no answer in {ANSWER_SECONDS} s")
        raise Silence(f"the peer's process ended with {self.process.wait()}")

    def measure(self, job, work, seconds, device):
        """Answers for the case, an empty list where the peer has nothing of its kind."""
        absent = {"runtime": self.name, "runtime_version": self.hello.get("version", ""),
                  "device": device["name"], "driver": device["driver_version"], "note": ""}
        if not self.refusal:
            try:
                return self.ask({"job": job, "suite": work.suite, "case": work.case,
                                 "seconds": seconds})
            except Silence as silence:
                self.refusal = ("error", str(silence))
        if not covers(self.name, work):
            return []
        return [absent | {"status": self.refusal[0], "reason": self.refusal[1]}]

    def close(self):
        if self.process and self.process.poll() is None:
            self._signal(signal.SIGCONT)
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()


def covers(name, work):
    """Whether a peer that could not even start would have had a row for the case."""
    transform = transforms.is_transform(work)
    network = work.kind in suite.OPS or work.kind == "attention"
    if name.startswith("iree"):
        return work.kind in iree_ops.CASES
    return {"torch": True, "ncnn": network, "ncnn-cpu": network}.get(name, transform)


# ---- Weft ----


def run_weft(options, device, job, seconds):
    """The report of `weft bench` for one suite and filter; None where it has no such case."""
    suite_name, text, lengths = job
    command = [options.weft, "bench", "--suite", suite_name, "--filter", text, "--seconds",
               str(seconds), "--no-limits", "--json"]
    if lengths:
        command += ["--lengths", ",".join(map(str, lengths))]
    if device:
        command += ["--device", device]
    if options.math:
        command += ["--math", options.math]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stdout.startswith("{"):
        return json.loads(done.stdout)
    if done.returncode == 2 and "no case of" in done.stderr:
        return None
    return sys.exit(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")


def device_of(options, selector):
    """What `weft devices` says of the device that --device SELECTOR would take."""
    done = subprocess.run([options.weft, "devices", "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{options.weft} devices: {done.stderr.strip()[-500:]}")
    found = json.loads(done.stdout)
    devices = found["devices"] if isinstance(found, dict) else found
    wanted = (selector or "").lower()
    for device in devices:
        names = f"{device['name']} {device['driver']}".lower()
        if device["usable"] and (wanted in names or wanted == str(device["index"])):
            return device
    return sys.exit(f"no usable device matches '{wanted}'; there are "
                    + ", ".join(device["name"] for device in devices))


def runtime_on(device):
    """The name for Weft's rows on a second device: weft- and its driver."""
    driver = re.sub("[^a-z0-9]+", "-", device["driver"].lower()).strip("-")
    return driver if driver.startswith("weft-") else f"weft-{driver}"


# ---- what is measured ----


def jobs_of(options):
    """(suite, filter, lengths, the names of the cases wanted)."""
    lengths = [512] if options.quick else options.lengths
    jobs = []
    for name in OPS[2:] if options.quick else OPS:
        jobs.append(("ops", name, None, [name]))
    for name in [] if options.quick else WIDE:
        jobs.append(("mixers", name, None, [name]))
    for series in QUICK_SERIES if options.quick else SERIES:
        names = [f"{series}/n={n},d=64" for n in lengths]
        jobs.append(("mixers", f"{series}/n=", lengths, names))
    if not options.quick:
        jobs.append(ENCODER)
    return [job for job in jobs if not options.filter or options.filter in " ".join(job[3])]


class Session:
    def __init__(self, options):
        self.options = options
        self.device = device_of(options, options.device)
        self.also = options.also_device and device_of(options, options.also_device)
        self.vulkan = next((device for device in (self.device, self.also)
                            if device and device["type"] != "processor"), None)
        self.report = None
        self.weft_rows, self.peer_rows, self.noted = {}, {}, {}
        names = options.peers or list(PEERS)
        vulkan = self.vulkan or {"name": None, "driver_version": None, "type": None}
        base = {"device": vulkan["name"], "driver": vulkan["driver_version"],
                "software": vulkan["type"] in ON_PROCESSOR, "seconds": options.seconds,
                "threads": options.threads, "vkfft": options.vkfft,
                "torch_device": options.torch_device, "torch_variants": options.torch_variants}
        self.workers = [Worker(name, base) for name in names]

    def software(self, worker):
        """A processor's rows say nothing about any GPU, be it by Vulkan or by itself."""
        if worker.on_vulkan:
            return self.device_for(worker)["type"] in ON_PROCESSOR
        return self.options.torch_device == "cpu" or worker.name != "torch"

    def device_for(self, worker):
        """What a peer's row names where the peer could not say it."""
        return (worker.on_vulkan and self.vulkan) or self.device

    def _weft(self, job, names):
        report = run_weft(self.options, self.options.device, job[:3], self.options.seconds)
        if report is None:
            return
        self.report = self.report or report | {"rows": [], "fits": []}
        fits = {(fit["suite"], fit["series"]) for fit in self.report["fits"]}
        wanted = {suite.parse(job[0], name).series for name in names}
        self.report["fits"] += [fit for fit in report["fits"] if fit["series"] in wanted
                                and (fit["suite"], fit["series"]) not in fits]
        for row in report["rows"]:
            if row["case"] in names:
                row.setdefault("runtime", "weft")
                row.setdefault("runtime_version", report["environment"]["weft"])
                self.weft_rows.setdefault((row["suite"], row["case"]), []).append(row)

    def _weft_also(self, job, names):
        """Weft on the second device, as a peer."""
        report = run_weft(self.options, self.options.also_device, job[:3], self.options.seconds)
        for row in report["rows"] if report else []:
            if row["case"] in names:
                row = rows.weft_as_peer(row, runtime_on(self.also), report["environment"]["weft"])
                key = (row["suite"], row["case"])
                self.peer_rows.setdefault(key, {}).setdefault(row["runtime"], []).append(row)

    def _peers(self, job, name):
        work = suite.parse(job[0], name)
        key = (job[0], name)
        for worker in self.workers:
            for found in worker.measure(job[1], work, self.options.seconds,
                                        self.device_for(worker)):
                weft = self.weft_rows.get(key, [None])[-1]
                if found.get("note"):
                    self.noted.setdefault((found["runtime"], found["note"]), []).append(name)
                row = rows.peer_row(work, found, weft, self.software(worker))
                self.peer_rows.setdefault(key, {}).setdefault(found["runtime"], []).append(row)

    def _job(self, job, until):
        """A round, and the others as long as there is time for them."""
        for number in range(self.options.rounds):
            if number > 0 and time.monotonic() > until:
                break
            self._weft(job, job[3])
            if self.also:
                self._weft_also(job, job[3])
            for name in job[3]:
                self._peers(job, name)

    def run(self):
        """Measures until done or Ctrl-C, and gives the seconds that it took."""
        jobs, start = jobs_of(self.options), time.monotonic()
        try:
            for number, job in enumerate(jobs, 1):
                print(f"{number}/{len(jobs)} {job[1]}, {time.monotonic() - start:.0f} s",
                      file=sys.stderr, flush=True)
                self._job(job, start + self.options.budget * number / len(jobs))
        except KeyboardInterrupt:
            print("interrupted: what is measured is kept", file=sys.stderr)
        return time.monotonic() - start

    def check(self):
        """Prints what every result differs by from float64; how many of them are wrong."""
        wrong = 0
        for job in jobs_of(self.options):
            for name in job[3]:
                work = suite.parse(job[0], name)
                for worker in self.workers:
                    for found in worker.measure(job[1], work, None, self.device_for(worker)):
                        print_check(name, found)
                        wrong += found["status"] == "error"
        return wrong

    def rounds(self):
        counts = sorted({len(found) for found in self.weft_rows.values()})
        return " to ".join(dict.fromkeys(str(counts[end]) for end in (0, -1))) + " rounds"

    def notes(self):
        """What else is to be known of peers' times, each once, with the first case."""
        return [f"{runtime} ({names[0]}{' …' if set(names) > {names[0]} else ''}): {note}"
                for (runtime, note), names in self.noted.items()]

    def close(self):
        for worker in self.workers:
            worker.close()

    def merged(self):
        """One row per case and runtime: that of the middle round, Weft's before its peers'."""
        merged = []
        for job in jobs_of(self.options):
            for name in job[3]:
                key = (job[0], name)
                if key in self.weft_rows:
                    merged.append(rows.middle_round(self.weft_rows[key]))
                elif key in self.peer_rows:
                    print(f"weft bench has no case {name}: its peers have no ratio", file=sys.stderr)
                merged += map(rows.middle_round, self.peer_rows.get(key, {}).values())
        return merged


# ---- reports ----


def print_check(name, found):
    result = f"{found['status']}: {found['reason']}"
    if found["status"] == "ok":
        result = f"{found['verified']['rel_l2']:.1e}"
    print(f"{name:34} {found['runtime']:14} {result}", flush=True)


def explanation(options, session):
    threads = (f"Weft's device is {session.device['name']} ({session.device['driver_version']}); "
               f"peers on the processor had {options.threads} of {os.cpu_count()} threads")
    if session.vulkan and session.vulkan["type"] == "software":
        threads += ", on the cores on which the software driver runs, too: no statement about any GPU"
    return table.EXPLANATION.format(rounds=session.rounds(), threads=threads + ".").strip()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="the weft command")
    parser.add_argument("--device", help="which device, as weft's --device")
    parser.add_argument("--also-device", metavar="DEVICE",
                        help="show Weft on a second device as one more peer; where --device is the "
                             "processor, Vulkan peers take this one")
    parser.add_argument("--math", choices=("reproducible", "fused", "fast"), help="as weft's --math")
    parser.add_argument("--out", help="write rows, Weft's and the peers', as JSON")
    parser.add_argument("--markdown", help="write the table as Markdown")
    parser.add_argument("--quick", action="store_true", help="a few cases, n = 512, one round")
    parser.add_argument("--check", action="store_true", help="hold results against float64 only")
    parser.add_argument("--filter", help="only cases whose name has this in it")
    parser.add_argument("--lengths", default="512,4096", help="of mixers (default 512,4096)")
    parser.add_argument("--rounds", type=int, help="by turns (default 3; --quick: 1)")
    parser.add_argument("--budget", type=float, default=420.0,
                        help="seconds after which cases get one round each (default 420)")
    parser.add_argument("--seconds", type=float, default=0.5,
                        help="per case and round (default 0.5)")
    parser.add_argument("--peers", help="of " + ",".join(PEERS) + " (default: all)")
    parser.add_argument("--torch-device", help="cpu, or cuda (default where there is one)")
    parser.add_argument("--torch-variants", help="of eager,compile,sdpa,flex (default: all on "
                                                 "CUDA, eager,sdpa on a processor)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1,
                        help="of each peer on the processor (default: one per core)")
    parser.add_argument("--vkfft", help="the program vkfft_raw (default: beside weft)")
    options = parser.parse_args()
    options.lengths = [int(length) for length in options.lengths.split(",")]
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.peers = options.peers.split(",") if options.peers else None
    unknown = [name for name in options.peers or [] if name not in PEERS]
    if unknown:
        parser.error(f"--peers: there is no {unknown[0]}; there are {', '.join(PEERS)}")
    if not options.vkfft:
        options.vkfft = os.path.join(os.path.dirname(os.path.abspath(options.weft)), "vkfft_raw")
    options.torch_device = options.torch_device or default_torch_device()
    everything = "eager,compile,sdpa,flex"
    variants = options.torch_variants or (everything if options.torch_device != "cpu" else
                                          "eager,sdpa")
    options.torch_variants = variants.split(",")
    if not set(options.torch_variants) <= set(everything.split(",")):
        parser.error(f"--torch-variants: expected some of {everything}, found '{variants}'")
    return options


def default_torch_device():
    try:
        import torch
    except ImportError:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def write_reports(options, session, merged):
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(session.report | {"rows": merged}, file, indent=1)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(table.markdown(merged, explanation(options, session), session.notes()))


def main():
    options = read_options()
    session = Session(options)
    try:
        if options.check:
            return 1 if session.check() else 0
        took = session.run()
    finally:
        session.close()  # peers that are stopped would stay
    if not session.report:
        sys.exit("weft bench has none of these cases")
    merged = session.merged()
    write_reports(options, session, merged)
    print(explanation(options, session), table.text(merged), sep="\n\n")
    for title, found in (("Versions and devices", table.versions(merged)),
                         ("Notes", session.notes()), ("Without a time", table.reasons(merged)),
                         ("Largest ratios", table.worst(merged))):
        if found:
            print(f"\n{title}:", *found, sep="\n  ")
    print(f"\n{took:.0f} s")
    return 1 if any(row["status"] == "error" for row in merged) else 0


if __name__ == "__main__":
    sys.exit(main())
