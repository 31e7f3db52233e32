# SPDX-License-Identifier: MIT
"""The scripts of api/examples/train: how they choose and count, the claims of the papers, and what they train, held against
Weft. Their tables are in test_pages.py."""

import importlib.util
import re
import sys
import types

import numpy as np
import pytest

import weft
from conftest import ROOT

sys.path.insert(0, str(ROOT / "api" / "examples" / "train"))
import data_mixing  # noqa: E402
import mixing  # noqa: E402
import papers  # noqa: E402
import points  # noqa: E402
import reruns  # noqa: E402
import text_masked  # noqa: E402
import text_order  # noqa: E402
import text_positions  # noqa: E402
import trials  # noqa: E402

HAVE_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "safetensors"))
needs_torch = pytest.mark.skipif(not HAVE_TORCH, reason="without PyTorch and transformers; ./dev test all has them")
RESULTS, BENCH = ROOT / "api" / "examples" / "train" / "results", ROOT / "bench" / "results"

# Those that compare; the others show architectures, data or hyperparameters.
MAIN = {
    "FNet": {*(f"Table {i}" for i in range(1, 10)), "Figure 2", "Figure 3"},
    "FMMformer": {"Table 1", "Table 2", *(f"Figure {i}" for i in range(3, 7))},
    "SKI-TNN, FD-TNN": {"Table 1", "Table 2", "Figure 1a", "Figure 1b", *(f"Figure {i}" for i in (4, 5, 6, "7a", "7b", 8))},
    "FLT": {"Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2", "Figure 3", "Figure 5"},
    "Spectraformer": {"Table 3", "Table 4", "Table 5", "Table 6"},
}
FILES = {"mixing": mixing.MODELS, "text-positions": text_positions.MODELS, "text-order": text_order.MODELS,
         "text-masked": text_masked.MODELS, "points": points.MODELS}


# --- choosing and counting -----------------------------------------------------------------------

def row(rate, seed, validation, test, **more):
    return {"model": "m", "steps": 9, "rate": rate, "seed": seed, "validation": validation, "test": test, **more}


def test_the_validation_draw_chooses_the_rate_and_the_test_draw_does_not():
    rows = [row(2e-3, 0, 0.5, 0.6), row(6e-3, 0, 0.4, 0.9), row(2e-3, 1, 0.1, 0.2)]
    assert trials.best_rate(rows, trials.RIGHT) == 2e-3
    assert trials.RIGHT.of(trials.counted(rows, trials.RIGHT)) == [60, 20]
    assert trials.best_rate(rows, text_positions.BITS) == 6e-3  # fewer bits are better
    assert trials.counted(rows[2:], trials.RIGHT) == []  # without seed 0 nothing was chosen


def keys_trained(path, rule, seeds):
    """The (rate, seed) of every training that trials.complete asks for, in order; rule(rate) is the validation."""
    asked = []

    def train(key):
        asked.append((key["rate"], key["seed"]))
        return {"validation": rule(key["rate"]), "test": 0.5}

    args = types.SimpleNamespace(steps=9, seeds=seeds, rate=None)
    trials.complete(path, trials.keys(path, {"task": "t"}, ["m"], args, trials.RIGHT), train)
    return asked


@pytest.mark.parametrize("best, rates", [(2e-3, [6e-3, 2e-3, 6e-4]), (6e-3, [6e-3, 2e-3, 6e-4, 2e-2]),
                                         (2e-2, [6e-3, 2e-3, 6e-4, 2e-2]), (2e-4, [6e-3, 2e-3, 6e-4, 2e-4])])
def test_a_best_rate_at_the_end_of_those_tried_has_the_next_one_tried(tmp_path, best, rates):
    path = tmp_path / "rows.jsonl"
    asked = keys_trained(path, lambda rate: -abs(np.log(rate / best)), seeds=3)
    assert asked == [*((rate, 0) for rate in rates), (best, 1), (best, 2)]
    assert keys_trained(path, None, seeds=3) == []  # what is recorded is not trained again
    assert keys_trained(path, lambda rate: 0, seeds=4) == [(best, 3)]


def test_one_more_run_is_within_the_interval_nine_times_in_ten():
    rng = np.random.default_rng(1)
    for n in (2, 3, 5):
        draws = rng.normal(50, 2, (4000, n + 1))
        within = [low <= last <= high for *values, last in draws.tolist()
                  for low, high in [trials.one_more(values, (-1e9, 1e9))]]
        assert abs(np.mean(within) - 0.9) < 0.02


def test_runs_with_other_threads_and_other_vectors_are_where_the_tables_say():
    again = trials.read(RESULTS / "reruns.jsonl")
    assert len(again) >= 3 and {row["threads"] for row in again} >= {1, 2} and {row["vectors"] for row in again} >= {"AVX2"}
    assert all(reruns.line_of(row, RESULTS)[-1] == "yes" for row in again)


# --- tasks ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, length", [("copy", 128), ("copy-fixed", 128), ("restore", 128), ("recall", 32)])
def test_targets_follow_from_the_tokens_and_not_from_those_of_the_control(name, length):
    task = data_mixing.TASKS[name](length)
    tokens, targets = task.draw(np.random.default_rng(3), 64)
    control = task.control(np.random.default_rng(4), tokens)
    assert tokens.shape == targets.shape == control.shape == (64, length) and tokens.max() < task.vocabulary
    right = [np.mean([said == target for said, target in answers(name, rows, targets)]) for rows in (tokens, control)]
    assert right[0] == 1 and right[1] < task.chance + 0.1
    assert (np.sort(tokens) == np.sort(control)).all()


def answers(name, tokens, targets):
    """(what the tokens before say, the target) of each target."""
    for words, wanted in zip(tokens, targets):
        at = np.flatnonzero(wanted != data_mixing.IGNORED)
        if name == "recall":
            half = len(words) // 2
            said = [words[:half][np.flatnonzero(words[:half:2] == words[i])[0] * 2 + 1] for i in at]
        else:
            said = words[:len(at)] if name == "copy" else words[1:1 + len(at)]
        yield from zip(said, wanted[at])


def test_words_to_copy_have_drawn_lengths():
    _, targets = data_mixing.Copy(128).draw(np.random.default_rng(3), 500)
    lengths = (targets != data_mixing.IGNORED).sum(1)
    assert set(lengths) == set(range(32, 63))  # as the authors' programs draw them


def test_texts_are_shuffled_within_blocks_alone():
    windows = np.arange(text_order.LENGTH).reshape(1, -1)
    tokens, labels = text_order.every_order(windows)
    assert list(labels) == [0, 1, 2, 3] and (np.sort(tokens) == windows).all()
    for shuffled, block in zip(tokens, text_order.BLOCKS):
        assert (shuffled // block == windows[0] // block).all()
    assert (tokens[1:] != windows).any(1).all() and (tokens[0] == windows).all()


# --- claims --------------------------------------------------------------------------------------

def test_every_main_table_and_figure_has_a_claim():
    found = {paper: set() for paper in MAIN}
    for claim in papers.read_claims():
        found[claim["paper"]].update(claim["where"])
    assert found == MAIN


def test_claims_say_what_they_need():
    for claim in papers.read_claims():
        assert claim["sign"] in ("better", "worse", "equal") and claim["by"] and claim["size"], claim
        assert bool(claim["here"]) != ("why" in claim), claim  # either looked for, or said why not
        for place in claim["here"]:
            for name in (place["mixer"], place["than"]):
                if "results" in place:
                    assert name in FILES[place["results"].removesuffix(".jsonl")], claim
                else:
                    assert f"{name}/{place['size']}" in papers.read_bench(BENCH, place), claim


def found_of(*values, learns=True, enough=True):
    return papers.Found(list(values), trials.RIGHT, " %", enough=enough, learns=learns)


@pytest.mark.parametrize("sign, mixer, than, said", [
    ("better", found_of(80, 90), found_of(60, 70), "seen"), ("better", found_of(60, 90), found_of(50, 70), "not seen"),
    ("better", found_of(10, 20), found_of(60, 70), "opposite"), ("worse", found_of(10, 20), found_of(60, 70), "seen"),
    ("worse", found_of(80, 90), found_of(60, 70), "opposite"), ("equal", found_of(60, 90), found_of(50, 70), "seen"),
    ("equal", found_of(80, 90), found_of(60, 70), "not seen"),
    ("equal", found_of(9, 9), found_of(9, 9, learns=False), "not seen"),
    ("better", found_of(80, 90, enough=False), found_of(60, 70), "not tried")])
def test_verdicts(sign, mixer, than, said):
    assert papers.verdict(sign, mixer, than, trials.RIGHT) == said


def test_six_claims_are_seen_and_each_opposite_has_a_paragraph():
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    found = [(claim, papers.judged(claim, place, RESULTS, BENCH)[-1]) for claim in papers.read_claims()
             for place in claim["here"]]
    assert sum(said == "seen" for _, said in found) >= 6
    for claim, said in found:
        if said == "opposite":
            assert f"**{claim['mixer']} and {claim['than']}** ({claim['paper']}, {', '.join(claim['where'])})" in page, claim


def tables_of_the_page():
    """(file of results, {"task", "length"}, {model: its line}) of every table of trainings."""
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    command = r"^\$ python3 api/examples/train/(\w+)\.py api/examples/train/results/(\S+\.jsonl)(.*) --table\n```\n\n"
    for script, file, options, table in re.findall(command + r"((?:\|.*\n)+)", page, flags=re.M):
        fields = {"task": {"text_positions": "text"}.get(script, script.removeprefix("text_"))}
        if script == "mixing":
            length = re.search(r"--length (\d+)", options)
            fields = {"task": re.search(r"--task (\S+)", options)[1], "length": int(length[1]) if length else 128}
        yield file, fields, {line.split("|")[1].strip(): line for line in table.splitlines()[2:]}


def never_learns(rows, file):
    """Whether no rate that was tried brought seed 0 beyond what needs no mixing; rows are those of one model."""
    validation = [row["validation"] for row in trials.matching(rows, seed=0)]
    if rows[0]["task"] == "points":
        return min(validation) >= 0.95 * rows[0]["chance"]
    if rows[0]["task"] != "text":
        return max(validation) <= rows[0]["chance"] + (1 - rows[0]["chance"]) / 20
    alone = trials.matching(trials.read(RESULTS / file), model=text_positions.ALONE, seed=0)
    return rows[0]["model"] != text_positions.ALONE and min(validation) >= min(row["validation"] for row in alone)


def test_every_training_is_on_the_page_and_what_does_not_learn_says_so():
    found = set()
    for file, fields, lines in tables_of_the_page():
        for name, line in lines.items():
            rows = trials.matching(trials.read(RESULTS / file), model=name, **fields)
            assert ("does not learn" in line) == never_learns(rows, file), (fields, name)
            found.add((file, *fields.values(), name))
    recorded = {path.name: trials.read(path) for path in RESULTS.glob("*.jsonl") if path.name != "reruns.jsonl"}
    assert found == {(file, *(row[field] for field in ("task", "length") if field in row), row["model"])
                     for file, rows in recorded.items() for row in rows}


def test_claims_say_what_does_not_learn():
    for place in (place for claim in papers.read_claims() for place in claim["here"] if "results" in place):
        fields = {field: place[field] for field in ("task", "length") if field in place}
        for side in ("mixer", "than"):
            rows = trials.matching(trials.read(RESULTS / place["results"]), model=place[side], **fields)
            found, _ = papers.of_trainings(RESULTS, place, side)
            assert ("does not learn" in found.text) == (bool(rows) and never_learns(rows, place["results"])), place


# --- what is trained -----------------------------------------------------------------------------

@needs_torch
@pytest.mark.parametrize("name", [mixing.GAUSSIANS, mixing.LOCAL])
def test_flt_learns_its_transform_by_the_papers_formula(name):
    """The weights of weft_models are those that weft.flt makes of the same parameters by g(xi)/p(xi)."""
    import torch

    torch.manual_seed(2)
    model, _ = mixing.make_model(name, {"vocab_size": 11, "max_position_embeddings": 16, "task": "causal_lm"})
    for layer in model.layers:
        positions = layer.mixer.positions
        for value in positions.parameters():
            value.data += 0.1 * torch.randn_like(value)
        frequencies, made = positions.frequencies.numpy(), positions.weights.detach().numpy()
        amplitudes = positions.amplitudes.detach().numpy()
        terms = amplitudes.shape[1]
        for head in range(len(made)):
            if name == mixing.GAUSSIANS:
                widths = positions.log_widths[head].exp().detach().numpy()
                given = {"coefficients": amplitudes[head] / (terms * np.sqrt(2 * np.pi) * widths), "widths": widths,
                         "centres": positions.centres[head].detach().numpy()}
                expected = weft.flt.weights(frequencies[head], "gaussian_mixture", sigma=positions.sigma, **given)
            else:
                given = {"coefficients": amplitudes[head] / terms, "radii": positions.log_radii[head].exp().detach().numpy()}
                expected = weft.flt.weights(frequencies[head], "local", sigma=positions.sigma, **given)
            assert np.linalg.norm(made[head] - expected) < 1e-4 * np.linalg.norm(expected)


@needs_torch
@pytest.mark.parametrize("name", [mixing.GAUSSIANS, mixing.LOCAL, "Spectraformer, OPRF-SORF",
                                  "Spectraformer, OPRF-FastFood_L", "Spectraformer, SADERF-MM",
                                  "Spectraformer, PosRF-SGQ", "FMMformer, band of 20, 2 fast weights",
                                  "linear, 3 kernels", "SKI-TNN"])
def test_folders_of_trainings_compute_what_was_trained(name, tmp_path):
    import torch

    torch.manual_seed(3)
    both_ways = name in mixing.BOTH_WAYS_ONLY
    model, save = mixing.make_model(name, {"vocab_size": 11, "max_position_embeddings": 40,
                                           "task": "masked_lm" if both_ways else "causal_lm"})
    save(tmp_path)
    compare(model, tmp_path, np.random.default_rng(1).integers(0, 11, (2, 40)))


@needs_torch
def test_models_that_say_an_order_are_as_large_as_each_other():
    counts = {name: sum(value.numel() for value in text_order.make_model(name)[0].parameters()) for name in text_order.MODELS}
    assert max(counts.values()) < 1.05 * min(counts.values()), counts


@needs_torch
@pytest.mark.parametrize("task", ["copy", "restore"])
def test_every_mixer_can_be_made_and_is_as_large_as_the_others(task):
    task = data_mixing.TASKS[task](128)
    fields = {"vocab_size": task.vocabulary, "max_position_embeddings": task.length}
    unfit = mixing.CAUSAL_ONLY if task.head == "masked_lm" else mixing.BOTH_WAYS_ONLY
    counts = {}
    for name in mixing.MODELS:
        if name not in unfit:
            model, _ = mixing.make_model(name, {**fields, **({} if name == "FNet" else {"task": task.head})})
            counts[name] = sum(value.numel() for value in model.parameters())
    assert max(counts.values()) < 1.05 * min(counts.values()), counts


def test_spectraformer_has_the_papers_18_combinations():
    assert len(mixing.GRID) == len(mixing.COMPONENTS) * len(mixing.MATRICES) - 1 == 17  # one is the Performer


@needs_torch
def test_sparse_grids_are_those_of_the_library():
    import weft_models

    grid = weft_models.SparseGrid(65, 32)
    rows, weights = weft.features.fill("sgq", 65, 32)
    assert np.array_equal(grid.weight.numpy(), rows)
    assert np.abs(grid.weights.numpy() - weights).max() < 1e-6


@needs_torch
@pytest.mark.parametrize("name", list(text_masked.MODELS))
def test_folders_of_fnets_siblings_compute_what_was_trained(name, tmp_path):
    import torch

    torch.manual_seed(3)
    model, save = text_masked.make_model(name)
    save(tmp_path)
    compare(model, tmp_path, np.random.default_rng(1).integers(0, 257, (2, text_masked.LENGTH)))


@needs_torch
@pytest.mark.parametrize("name", list(points.MODELS))
def test_folders_for_clouds_compute_what_was_trained(name, tmp_path):
    import torch
    import weft_models
    torch.manual_seed(3)
    model = weft_models.Model(points.config_of(name))
    weft_models.save_model(tmp_path, model, points.config_of(name))
    charges, positions, targets = points.data_points.Data().sample(np.random.default_rng(1), points.CLOUDS)
    with torch.no_grad():
        outputs = model.eval()(*(torch.from_numpy(part) for part in points.inputs_of(name, charges, positions))).numpy()[:, 0]
    found, = points.errors_by_weft(tmp_path, name, [(charges, positions, targets)])
    assert abs(found - np.sqrt(np.mean((outputs - targets) ** 2))) < 1e-3
    assert not np.allclose(outputs[0], outputs[1:])


def compare(model, folder, tokens):
    import torch

    with torch.no_grad():
        expected = model.eval()(torch.from_numpy(tokens)).numpy()
    found, = mixing.by_weft(folder, tokens)
    assert np.linalg.norm(found - expected) < 1e-4 * np.linalg.norm(expected)


@needs_torch
def test_siblings_have_equal_parameters_and_those_of_random_stay():
    counts = {}
    for name in text_masked.MODELS:
        model, _ = text_masked.make_model(name)
        counts[name] = sum(value.numel() for value in model.parameters() if value.requires_grad)
        fixed = [key for key, value in model.named_parameters() if not value.requires_grad]
        assert bool(fixed) == (name == "Random") and all(re.search(r"mixing\.(seq|hidden)", key) for key in fixed)
    assert max(counts.values()) < 1.05 * min(counts.values())
