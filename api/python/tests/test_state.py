# SPDX-License-Identifier: MIT
"""States in files: what goes on from one is what would have gone on."""

import numpy as np
import pytest

import weft


def test_a_text_goes_on_in_another_row(text_model, tmp_path):
    tokens = text_model.tokenize("Once upon a time")
    path = tmp_path / "state.safetensors"
    one = text_model.state()
    first = one.read([tokens])
    one.save(path)
    assert one.tokens() == list(tokens)
    assert one.nbytes > 0 and one.decoding == "recurrent"
    other = text_model.state(batch=3, max_length=len(tokens) + 20)
    assert other.load(path, row=1) is other
    assert other.tokens(1) == list(tokens) and other.tokens(0) == []
    for token in [int(first.argmax()), 7, 9]:
        assert (one.step([token])[0] == other.step([1, token, 2])[1]).all()
    assert other.tokens(1) == [*tokens, int(first.argmax()), 7, 9]


def test_what_is_in_a_file(text_model, tmp_path):
    safetensors = pytest.importorskip("safetensors")
    path = tmp_path / "state.safetensors"
    state = text_model.state()
    state.read([[1, 2, 3]])
    state.save(path)
    with safetensors.safe_open(path, "numpy") as file:
        notes = file.metadata()
        assert notes["format"] == "weft-state" and notes["tokens"] == "3" and notes["math"] == "reproducible"
        assert file.get_tensor("tokens").tolist() == [1, 2, 3]
        shapes = {name: file.get_tensor(name).shape for name in file.keys()}  # noqa: SIM118
    assert any(name.startswith("state/") for name in shapes)


def test_tokens_are_taken_back(text_model):
    state = text_model.state(reevaluate=True)
    state.read([[1, 2, 3]])
    expected = state.step([4])
    state.step([5])
    state.rewind(3)
    assert (state.step([4]) == expected).all()
    state.reset()
    assert state.tokens() == []
    assert np.isfinite(state.read([[1, 2]])).all()


def test_refusals(text_model, tmp_path):
    state = text_model.state()
    path = tmp_path / "state.safetensors"
    with pytest.raises(weft.InvalidArgument, match="no tokens"):
        state.save(path)
    with pytest.raises(weft.NotFound):
        state.load(tmp_path / "absent")
    with pytest.raises(weft.InvalidArgument, match="expected 1, each of at least a token"):
        state.read([[]])
    with pytest.raises(weft.InvalidArgument, match="expected 1, found 2"):
        state.step([1, 2])
    state.read([[1, 2]])
    state.save(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"version":"1"', b'"version":"9"'))
    with pytest.raises(weft.BadFile, match="version: expected '1', found '9'"):
        state.load(path)
    path.write_bytes(data[:-5])
    with pytest.raises(weft.BadFile):
        state.load(path)
    assert state.tokens() == [1, 2]
    with pytest.raises(weft.InvalidArgument, match="length of 3"):
        state.rewind(3)
