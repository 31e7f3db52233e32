# SPDX-License-Identifier: MIT
"""What ends texts, and how tokens are drawn: against the definitions, written again here."""

import numpy as np
import pytest

import weft

PROMPTS = ["hacker: ", "a", "Once upon a time there was a girl"]


def test_several_texts_are_what_they_are_alone(text_model):
    for how in ({}, {"temperature": 1.0, "top_p": 0.9}, {"temperature": 0.8, "repetition_penalty": 1.2, "stop": ["e", "th"]}):
        ids = []
        together = text_model.generate(PROMPTS, 60, ids=ids, **how)
        assert together == [text_model.generate(prompt, 60, **how) for prompt in PROMPTS]
        if "stop" not in how:
            assert [list(text_model.generate_tokens(text_model.tokenize(prompt), 60, **how)) for prompt in PROMPTS] == ids
        pieces = [""] * len(PROMPTS)
        for index, piece in text_model.stream(PROMPTS, tokens=60, **how):
            pieces[index] += piece
        assert pieces == together
    assert text_model.generate([], 5) == []


def test_stops(text_model):
    whole = text_model.generate("The ", 80, temperature=1.0, seed=3)
    for at in range(0, 60, 7):
        stop = whole[at:at + 3]
        assert text_model.generate("The ", 80, temperature=1.0, seed=3, stop=stop) == whole[:whole.index(stop)]
    several = [whole[40:42], whole[20:24]]
    assert text_model.generate("The ", 80, temperature=1.0, seed=3, stop=several) == whole[:min(map(whole.index, several))]


def test_stops_of_other_tokenizers(text_model, device):
    class Bytes:
        encode = staticmethod(lambda text: list(text.encode()))
        decode = staticmethod(lambda tokens: bytes(tokens).decode("utf-8", "replace"))

    other = weft.load(text_model_folder(), device, tokenizer=Bytes())
    for how in ({"stop": "e"}, {"stop": ["xyz", "th"]}, {}):
        how = {"temperature": 0.8, "seed": 1, **how}
        assert other.generate(PROMPTS, 60, **how) == text_model.generate(PROMPTS, 60, **how)
        assert "".join(other.stream("a", tokens=60, **how)) == text_model.generate("a", 60, **how)


def text_model_folder():
    from conftest import MODELS

    return MODELS / "text-fmmformer"


def test_a_window_goes_on(text_model):
    most = text_model.info.max_length
    prompt = "And then " * 55
    assert most - 30 < len(prompt) < most
    left = most - len(prompt) + 1
    with pytest.raises(weft.InvalidArgument, match=f"tokens: the model's {most} positions leave {left}"):
        text_model.generate(prompt, left + 1)
    whole = text_model.generate(prompt, left + 20, window=50)
    assert len(text_model.generate(prompt)) == left and whole.startswith(text_model.generate(prompt))
    assert whole[left:] == text_model.generate((prompt + whole[:left])[-50:], 20)
    with pytest.raises(weft.InvalidArgument, match="prompt 0: expected at most"):
        text_model.generate("x" * (most + 1))
    assert text_model.generate("x" * most + "weaver", 9, window=6) == text_model.generate("weaver", 9)


def candidates(logits, temperature, top_k, top_p):
    """The tokens that may be drawn and their probabilities, by the definition of nucleus sampling after top-k, in float64."""
    order = np.lexsort((np.arange(len(logits)), -logits))[:top_k or None]
    weights = np.exp((logits[order].astype(np.float64) - logits.max()) / temperature)
    count = np.searchsorted(np.cumsum(weights) / weights.sum(), top_p) + 1
    return order[:count], weights[:count] / weights[:count].sum()


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(1.0, 0, 0.5), (0.7, 0, 0.9), (1.3, 20, 0.8), (2.0, 5, 1.0)])
def test_draws(text_model, temperature, top_k, top_p):
    """One token after a prompt, by many seeds: only those of the set, all that are likely, and as often as they should be."""
    prompt = text_model.tokenize("The w")
    tokens, shares = candidates(text_model.logits([prompt])[0, -1], temperature, top_k, top_p)
    draws = 600
    run = weft.model._generation
    settings = run.settings_of(draws, tokens=1, temperature=temperature, top_k=top_k, top_p=top_p, seed=range(draws))
    made = run.Run(text_model, [prompt] * draws, settings, with_text=False)
    assert len(list(made)) > 0
    found = [ids[0] for ids in made.ids if ids]
    assert set(found) <= set(tokens.tolist()) and len(found) == draws
    for token, share in zip(tokens, shares):
        assert abs(found.count(token) - draws * share) <= 5 * np.sqrt(draws * share * (1 - share)) + 1


def test_seeds(text_model):
    one, other = text_model.generate(["a", "a"], 40, temperature=1.0, seed=[1, 2])
    assert one != other and text_model.generate(["a", "a"], 40, temperature=1.0, seed=1) == [one, one]
    many = text_model.generate(["a"] * 70, 3, temperature=1.0, seed=range(70))
    assert many == [text_model.generate("a", 3, temperature=1.0, seed=seed) for seed in range(70)]
    with pytest.raises(weft.InvalidArgument, match="seed: expected a number, or one for each of 2"):
        text_model.generate(["a", "b"], 3, seed=[1, 2, 3])
