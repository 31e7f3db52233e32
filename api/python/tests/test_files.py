# SPDX-License-Identifier: MIT
"""A model whose folder changes in every way has the old numbers, or an error that names the file; and saving."""

import copy
import gc
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import weft
from conftest import MODELS, ROOT

TOKENS = np.arange(3, 63)[None]


def other_weights(path):
    """The bytes of its file with the first half of its last tensor's numbers, so that it is valid and has other numbers."""
    data = bytearray(path.read_bytes())
    half = len(data) - 4 * 64
    data[half:] = (np.frombuffer(bytes(data[half:]), "<f4") * 0.5).tobytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    rest = np.frombuffer(bytes(data[begin:begin + (len(data) - begin) // 4 * 4]), "<f4") * 0.75
    data[begin:begin + rest.nbytes] = rest.tobytes()
    return bytes(data)


def write_into(path, data):
    with open(path, "r+b") as file:  # the same file, not another one
        file.write(data)
        file.truncate(len(data))


def keep_time(path):
    facts = path.stat()
    write_into(path, other_weights(path))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def by_folder(path):
    path.unlink()
    path.mkdir()


def rename_over(path):
    beside = path.with_suffix(".new")
    beside.write_bytes(other_weights(path))
    beside.replace(path)


def rewrite_config(path):
    config = json.loads((path.parent / "config.json").read_text("utf-8"))
    (path.parent / "config.json").write_text(json.dumps({**config, "task": "hidden", "num_hidden_layers": 1}), "utf-8")


CHANGES = {
    "overwritten": lambda path: write_into(path, other_weights(path)),
    "overwritten, with its old time": keep_time,
    "truncated": lambda path: os.truncate(path, 5000),
    "emptied": lambda path: os.truncate(path, 0),
    "grown": lambda path: write_into(path, path.read_bytes() + b"more"),
    "replaced": rename_over,
    "deleted": pathlib.Path.unlink,
    "a folder": by_folder,
    "unreadable": lambda path: path.chmod(0),
    "another config": rewrite_config,
    "all gone": lambda path: shutil.rmtree(path.parent),
}
FATAL = {"overwritten", "overwritten, with its old time", "truncated", "emptied"}


@pytest.fixture
def folder(tmp_path):
    return pathlib.Path(shutil.copytree(MODELS / "langid", tmp_path / "model"))


@pytest.fixture(scope="module")
def right(langid):
    """What the model says, of the folder that nobody changes."""
    return {"logits": langid.logits(TOKENS), "shorter": langid.logits(TOKENS[:, :20]), "hidden": langid.hidden(TOKENS)}


ASKED = {"logits": lambda model: model.logits(TOKENS), "shorter": lambda model: model.logits(TOKENS[:, :20]),
         "hidden": lambda model: model.hidden(TOKENS)}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("what", ASKED)
def test_a_change_before_the_first_run(device, folder, right, change, what):
    model = weft.load(folder, device)
    CHANGES[change](folder / "model.safetensors")
    if change in FATAL:
        with pytest.raises((weft.BadFile, weft.IoError), match=r'model\.safetensors: tensor ".*changed since it was loaded'):
            ASKED[what](model)
    else:
        assert np.array_equal(ASKED[what](model), right[what])
    model.close()


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_runs(device, folder, right, change):
    """The device has the weights by then, and hidden() has the same ones."""
    model = weft.load(folder, device)
    assert np.array_equal(model.logits(TOKENS), right["logits"])
    CHANGES[change](folder / "model.safetensors")
    for what, ask in ASKED.items():
        assert np.array_equal(ask(model), right[what]), what
    model.close()


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_before_another_length(device, tmp_path, text_model, change):
    """A plan of another length may need weights in another form, which are read again; so may a decoder."""
    prompt, ids = text_model.tokenize("Once upon a time"), np.arange(97, 117)[None]
    expected = [text_model.logits(ids), list(text_model.generate_tokens(prompt, 5))]
    folder = pathlib.Path(shutil.copytree(MODELS / "text-fmmformer", tmp_path / "model"))
    model = weft.load(folder, device)
    model.logits(ids[:, :12])
    CHANGES[change](folder / "model.safetensors")
    for index, ask in enumerate((lambda: model.logits(ids), lambda: list(model.generate_tokens(prompt, 5)))):
        try:
            found = ask()
        except (weft.BadFile, weft.IoError) as error:
            assert change in FATAL and 'model.safetensors: tensor "' in str(error) and "changed since" in str(error)
        else:
            assert np.array_equal(found, expected[index])
    model.close()


TOKENIZERS = ROOT / "tests" / "data" / "tokenizer"
TOKENIZER_CHANGES = {
    "overwritten": lambda path: write_into(path, (TOKENIZERS / "models" / "unigram-plain.model").read_bytes()),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "replaced": lambda path: pathlib.Path(shutil.copy(TOKENIZERS / "models" / "unigram-plain.model",
                                                       path.with_suffix(".new"))).replace(path),
    "deleted": pathlib.Path.unlink,
    "a folder": by_folder,
    "unreadable": lambda path: path.chmod(0),
    "all gone": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("change", TOKENIZER_CHANGES)
def test_a_change_of_the_tokenizer(device, folder, change):
    """It is read at the load: what sentencepiece says of these texts holds whatever becomes of the file."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "tokenizer_class": "FNetTokenizer"}), "utf-8")
    shutil.copy(TOKENIZERS / "spiece.model", folder / "spiece.model")
    case = json.loads((TOKENIZERS / "expected.json").read_text("utf-8"))["cases"][0]
    model = weft.load(folder, device)
    TOKENIZER_CHANGES[change](folder / "spiece.model")
    assert list(model.tokenize(case["text"]))[1:-1] == case["ids"]
    model.close()


@pytest.mark.parametrize("change", CHANGES)
def test_saving_a_model_whose_folder_changed(device, folder, tmp_path, langid, change):
    model = weft.load(folder, device)
    CHANGES[change](folder / "model.safetensors")
    if change in FATAL:
        with pytest.raises((weft.BadFile, weft.IoError), match=r"model\.safetensors: .*changed since it was loaded"):
            weft.save(model, tmp_path / "copy")
    else:
        weft.save(model, tmp_path / "copy")
        assert (tmp_path / "copy" / "model.safetensors").read_bytes() == (MODELS / "langid" / "model.safetensors").read_bytes()
        assert weft.load(tmp_path / "copy", device).config == langid.config
    model.close()


def test_saving_into_the_folder_of_a_loaded_model(device, folder, right):
    """The old model stays what it was, the new one is what was saved; nothing else is left in the folder."""
    (folder / "other").mkdir()
    shutil.copy(folder / "config.json", folder / "other")
    (folder / "other" / "model.safetensors").write_bytes(other_weights(folder / "model.safetensors"))
    old, other = weft.load(folder, device), weft.load(folder / "other", device)
    new = other.logits(TOKENS)
    assert not np.array_equal(new, right["logits"])
    shutil.rmtree(folder / "other")
    weft.save(other, folder)
    for what, ask in ASKED.items():
        assert np.array_equal(ask(old), right[what]), what
    assert np.array_equal(weft.load(folder, device).logits(TOKENS), new)
    assert {path.name for path in folder.iterdir()} == {path.name for path in (MODELS / "langid").iterdir()}
    weft.save(old, folder)
    assert np.array_equal(weft.load(folder, device).logits(TOKENS), right["logits"])


def test_a_save_that_fails_leaves_the_folder_as_it_was(langid, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        weft.save(langid, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_saving_follows_a_link(langid, folder, tmp_path, device):
    link = tmp_path / "link"
    link.mkdir()
    for name in ("config.json", "model.safetensors"):
        (link / name).symlink_to(folder / name)
    weft.save(langid, link)
    assert all((link / name).is_symlink() for name in ("config.json", "model.safetensors"))
    assert np.array_equal(weft.load(folder, device).logits(TOKENS), langid.logits(TOKENS))


def test_unaligned_tensors_are_read(device, right, folder):
    """The format does not align: a byte tensor, or a header of odd length, may stand before the numbers."""
    path = folder / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    for spaces in range(4):
        head = data[8:8 + length].rstrip() + b" " * spaces
        path.unlink()
        path.write_bytes(len(head).to_bytes(8, "little") + head + data[8 + length:])
        assert np.array_equal(weft.load(folder, device).logits(TOKENS), right["logits"])


@pytest.mark.skipif(not pathlib.Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_descriptors_go_with_their_models(device, folder, tmp_path):
    def descriptors():
        return [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
                if os.path.exists(f"/proc/self/fd/{name}")]

    gc.collect()  # what earlier tests have left would go in between
    before = len(descriptors())
    models = [weft.load(folder, device) for _ in range(5)]
    assert len(descriptors()) == before + 5
    for model in models:
        model.hidden(TOKENS)
        model.close()
    device.trim()
    assert len(descriptors()) == before
    (folder / "model.safetensors").write_bytes(b"12345678{")
    for _ in range(5):
        with pytest.raises(weft.BadFile):
            weft.load(folder, device)
    assert len(descriptors()) == before


def test_a_quantized_folder_has_the_bits_of_the_option(tmp_path, device):
    folder = MODELS / "langid1024-transformer"
    for weights in ("int8", "int8-only"):
        weft.quantize(folder, tmp_path / weights, to=weights)
        with weft.Device(device.info.index, weights=weights) as opened, weft.load(folder, opened) as model:
            expected = model.logits(TOKENS)
        with weft.load(tmp_path / weights, device) as model:
            assert np.array_equal(model.logits(TOKENS), expected)
    with pytest.raises(weft.InvalidArgument, match="another place"):
        weft.quantize(folder, folder)
    with pytest.raises(weft.Unsupported, match="found none"):
        weft.quantize(tmp_path / "int8", tmp_path / "again")


@pytest.mark.parametrize(("entry", "found"), [(4, "found 4$"), (-1, "found -1$"), (1, "found 1 again$")])
def test_a_permutation_that_is_none(tmp_path, device, entry, found):
    """Entry 1 of the first row, whose entry 0 becomes 1, too."""
    shutil.copytree(ROOT / "tests" / "data" / "models" / "spectraformer_fastfood_causal_lm", tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    place = start + json.loads(data[8:start])["layers.0.mixer.features.permutation"]["data_offsets"][0]
    data[place:place + 8] = np.array([1, entry], np.int32).tobytes()
    path.write_bytes(data)
    with pytest.raises(weft.BadFile, match=f'features.permutation": expected each of 0 to 3 once in each row, {found}'):
        weft.load(tmp_path / "model", device)


# ---- what others do meanwhile, and before ----


def saved(folder, number):
    graph = weft.Graph()
    x = graph.input("x", [1, 64])
    graph.output(f"y{number}", weft.matmul(x, np.full((512, 64), number, "f4"), transpose_b=True))
    weft.save(graph, folder)


def number_in(folder):
    """What the config and the weights of a folder agree on."""
    name = json.loads((folder / "config.json").read_text())["outputs"][0]["name"]
    data = (folder / "model.safetensors").read_bytes()
    weight = np.frombuffer(data[8 + int.from_bytes(data[:8], "little"):][:4], "<f4")[0]
    assert name == f"y{weight:g}"
    return int(weight)


SAVER = """
import sys, pathlib, weft
sys.path.insert(0, sys.argv[1])
from test_files import saved
for _ in range(int(sys.argv[4])):
    saved(pathlib.Path(sys.argv[2]), int(sys.argv[3]))
"""


def start_saver(folder, number, times):
    command = [sys.executable, "-c", SAVER, str(pathlib.Path(__file__).parent), str(folder), str(number), str(times)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def test_two_savers_mix_nothing(tmp_path):
    savers = [start_saver(tmp_path, number, 200) for number in (1, 2)]
    for saver in savers:
        assert saver.wait() == 0, saver.stderr.read()
    assert number_in(tmp_path) in (1, 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="there are no modes")
def test_what_is_written_over_a_file_has_its_mode(tmp_path):
    from weft import _files

    path = tmp_path / "receipt.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    _files.write(path, b"new")
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o600
    saved(tmp_path, 1)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).chmod(0o640)
    saved(tmp_path, 2)
    assert number_in(tmp_path) == 2
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("config.json", "model.safetensors")} == {0o640}


@pytest.mark.skipif(os.name != "posix", reason="what is open is not removed")
def test_what_ended_writers_left_goes(tmp_path):
    from weft import _files

    path = tmp_path / "file"
    left, other = tmp_path / "file.1f-2e.tmp", tmp_path / "files.1f-2e.tmp"
    left.write_bytes(b"half")
    other.write_bytes(b"another's")
    with _files.written_beside(path, b"slow") as slow:
        assert not left.exists()
        _files.write(path, b"fast")
        assert slow.exists()
        slow.replace(path)
    assert path.read_bytes() == b"slow" and other.exists()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(os.name != "posix", reason="links are the administrator's")
def test_a_link_out_of_the_folder_does_not_travel(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "langid1024-transformer", folder)
    (tmp_path / "secret.json").write_text("{}")
    model = weft.load(folder)
    pickle.dumps(model)
    (folder / "my_token.json").symlink_to(tmp_path / "secret.json")
    model = weft.load(folder)
    with pytest.raises(weft.BadFile, match="my_token.json: expected a file of the model's folder"):
        pickle.dumps(model)
    with pytest.raises(weft.BadFile, match="my_token.json"):
        copy.deepcopy(model)
