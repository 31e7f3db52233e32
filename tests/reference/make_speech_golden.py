# SPDX-License-Identifier: MIT
"""Makes tests/data/whisper: a small Whisper with random weights as save_pretrained writes it, and transformers' transcripts.

expected.json has the sounds, each by its seed and the number of its samples (tests/cli/whisper_folder.h makes the same), with
what was asked for and what was found: tokens and languages of the module in float64. The likeliest token leads by GAP everywhere,
so that no rounding changes it.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "api" / "python" / "tests"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

import goldens  # noqa: E402
from speech_folders import Folder  # noqa: E402

FOLDER = ROOT / "tests" / "data" / "whisper"
GAP = 0.005
TOKENS = 10
# A language, or None to find it; the task; how many samples.
CASES = (("en", "transcribe", 16000), ("de", "transcribe", 16000), ("de", "translate", 16000), (None, "transcribe", 7001),
         (None, "transcribe", 1600))


def sound(seed, count):
    """Noise of 16-bit integers, each of which is held for some samples, and whose loudness changes in steps."""
    values, state = np.empty(count, np.int16), seed
    for i in range(count):
        if i % (1 + seed % 11) == 0:
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        loudness = 500 + 1500 * (i // 800 * (seed + 3) % 7)
        values[i] = (state >> 16) % (2 * loudness + 1) - loudness
    return values


def leads(folder, samples, begin, tokens):
    """How far each of these tokens is ahead of the next, behind what a text begins with."""
    exact, config = folder._exact(), folder.module.generation_config
    given = torch.tensor([[*begin, *tokens]])
    logits = exact(folder.features(samples), decoder_input_ids=given[:, :-1]).logits[0, len(begin) - 1:]
    forbidden = [*config.suppress_tokens, *range(config.no_timestamps_token_id + 1, logits.shape[1])]
    logits[:, forbidden] = -np.inf
    logits[0, config.begin_suppress_tokens] = -np.inf
    best = logits.topk(2).values
    assert logits.argmax(1).tolist() == list(tokens)
    return (best[:, 0] - best[:, 1]).tolist()


def language_lead(folder, samples):
    """The same of the language."""
    config = folder.module.generation_config
    start = torch.tensor([[config.decoder_start_token_id]])
    logits = folder._exact()(folder.features(samples), decoder_input_ids=start).logits[0, 0]
    best = logits[list(config.lang_to_id.values())].topk(2).values
    return float(best[0] - best[1])


def case_of(folder, language, task, count, others):
    """The first sound whose tokens no rounding changes, and are not those of others."""
    for seed in range(1, 400):
        samples = sound(seed, count) / 32768.0
        found = language or folder.language(samples)
        tokens = folder.tokens(samples, TOKENS, found, task)
        begin = [folder.special(name) for name in ("startoftranscript", found, task, "notimestamps")]
        whole = tokens if len(tokens) == TOKENS else [*tokens, folder.special("endoftext")]
        lead = min(leads(folder, samples, begin, whole) + ([] if language else [language_lead(folder, samples)]))
        varied = len(set(tokens)) >= 2 and tokens not in [other["tokens"] for other in others]
        known = language or found not in [other["language"] for other in others if not other["given"]]
        if lead >= GAP and varied and known:
            return {"seed": seed, "samples": count, "given": language, "translate": task == "translate", "language": found,
                    "tokens": tokens, "text": folder.text(tokens)}
    raise SystemExit(f"{language} {task} {count}: no sound with a lead of {GAP}")


def timed_case_of(folder, language, count):
    """The first sound of several segments, with time stamps, that small changes of its spectrum leave as they are."""
    exact, words = folder.features, folder.special("notimestamps")
    for seed in range(1, 400):
        samples = sound(seed, count) / 32768.0
        found = folder.segments(samples, language)
        changed = goldens.generator(seed)
        folder.features = lambda given, changed=changed: exact(given) + 1e-3 * torch.tensor(
            changed.standard_normal(tuple(exact(given).shape)))
        steady = all(folder.segments(samples, language) == found for _ in range(3))
        folder.features = exact
        ends = all(tokens[-2] <= words or tokens[-1] <= words for _, _, tokens in found)  # with one time stamp at most
        if steady and ends and len(found) >= 3 and len({tuple(tokens) for _, _, tokens in found}) >= 3:
            return {"seed": seed, "samples": count, "language": language, "segments": [
                {"begin": begin, "end": end, "tokens": tokens, "text": folder.text([one for one in tokens if one < words])}
                for begin, end, tokens in found]}
    raise SystemExit(f"{language} {count}: no sound whose segments small changes leave as they are")


def main():
    goldens.use_one_thread()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder = Folder(seconds=1, words=90, d_model=16, encoder_ffn_dim=24, decoder_ffn_dim=24, max_target_positions=24)
    FOLDER.mkdir(exist_ok=True)
    folder.save(FOLDER)
    cases = []
    for language, task, count in CASES:
        cases.append(case_of(folder, language, task, count, cases))
        print(cases[-1], flush=True)
    timed = [timed_case_of(folder, language, count) for language, count in (("en", 30000), ("de", 40000))]
    print(*timed, sep="\n")
    lines, more = (",\n".join(json.dumps(case) for case in some) for some in (cases, timed))
    (FOLDER / "expected.json").write_text(f"{{\"cases\": [\n{lines}\n],\n\"timed\": [\n{more}\n]}}\n")


if __name__ == "__main__":
    sys.exit(main())
