# SPDX-License-Identifier: MIT
"""Pools: what several devices give together is what one gives, in the same order; errors reach the caller."""

import concurrent.futures
import gc
import json
import threading

import numpy as np
import pytest

import weft
from conftest import MODELS

FOLDER = MODELS / "langid1024-fmmformer"


def sample_texts(count):
    """Texts of a few lengths, cut out of the sample texts."""
    samples = [path.read_text("utf-8") for path in sorted((MODELS / "langid" / "samples").glob("*.txt"))]
    return [samples[i % len(samples)].encode()[:40 + 8 * (i % 7 % 4)].decode("utf-8", "ignore") for i in range(count)]


def entry(index, type, usable=True, by_name_only=False):
    return weft.DeviceInfo(index, f"device {index}", "driver", "1", type, 32, 0, 1 << 30, 1 << 15, usable, "", by_name_only)


@pytest.fixture(scope="module")
def pool(device):
    with weft.Pool([device.info.index, device.info.index], threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def pooled(pool):
    return pool.load(FOLDER)


def test_texts_are_classified_as_by_one(pooled, classifier):
    texts = sample_texts(100)
    assert pooled(texts) == classifier(texts)
    assert pooled(texts[3]) == classifier(texts[3])
    assert pooled([]) == []
    assert pooled.info == classifier.info and pooled.labels == classifier.labels


def test_rows_have_the_bits_of_one(pooled, classifier):
    tokens = np.random.default_rng(0).integers(32, 127, (45, 64), dtype=np.int32)
    expected = classifier.logits(tokens)
    found = pooled.logits(tokens)
    assert found.dtype == np.float32 and np.array_equal(found.view(np.uint32), expected.view(np.uint32))
    assert np.array_equal(pooled.logits(tokens[7]), expected[7])
    assert np.array_equal(pooled.logits(tokens[:1].tolist()), expected[:1])
    assert np.array_equal(pooled.hidden(tokens[:5]), classifier.hidden(tokens[:5]))


def without_gaps(head, body):
    """The bytes of a safetensors file of these tensors, one behind the other, whatever lay between them."""
    kept, parts, offset = {}, [], 0
    for name, tensor in head.items():
        begin, end = tensor["data_offsets"]
        kept[name] = {**tensor, "data_offsets": [offset, offset + end - begin]}
        parts.append(body[begin:end])
        offset += end - begin
    text = json.dumps(kept).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def retrieval_folder(folder):
    """The classifier with a head for pairs, at random."""
    config = json.loads((FOLDER / "config.json").read_text("utf-8"))
    config["task"] = "retrieve"
    wide, d = config["intermediate_size"], config["hidden_size"]
    shapes = {f"pair.{name}.weight": (wide, d) for name in ("first", "second", "product", "difference")}
    shapes |= {"pair.first.bias": (wide,), "head.weight": (len(config["id2label"]), wide)}
    data = (FOLDER / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    head, body, rng = json.loads(data[8:8 + size]), data[8 + size:], np.random.default_rng(2)
    for name, shape in shapes.items():
        added = rng.standard_normal(shape).astype("<f4").tobytes()
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(added)]}
        body += added
    head.pop("__metadata__", None)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "model.safetensors").write_bytes(without_gaps(head, body))
    return folder


def test_pairs_stay_together(pool, device, tmp_path):
    folder = retrieval_folder(tmp_path / "retrieval")
    tokens = np.random.default_rng(1).integers(1, 256, (22, 48))
    with weft.load(folder, device) as model, pool.load(folder) as pooled:
        expected = model.logits(tokens)
        assert expected.shape == (11, 24)
        assert np.array_equal(pooled.logits(tokens), expected)
        with pytest.raises(weft.WeftError):
            pooled.logits(tokens[:5])


def test_map_uses_every_device(pool):
    both = threading.Barrier(2, timeout=300)

    def work(device, item):
        if item < 2:
            both.wait()  # only two threads together come further
        return device, item * item

    found = pool.map(work, range(30))
    assert [square for _, square in found] == [i * i for i in range(30)]
    assert {id(device) for device, _ in found} == {id(device) for device in pool.devices}
    assert pool.map(work, []) == []


def test_work_may_ask_for_more(pool, pooled, classifier):
    texts = sample_texts(4)
    assert pool.map(lambda device, text: pooled([text])[0], texts) == classifier(texts)


@pytest.mark.parametrize("where", [0, 20, 39])
def test_an_error_reaches_the_caller(pool, where):
    def work(device, item):
        if item == where:
            raise KeyError(f"item {item}")
        return item

    with pytest.raises(KeyError, match=f"item {where}"):
        pool.map(work, range(40))
    assert pool.map(lambda device, item: item, range(3)) == [0, 1, 2]


def test_what_the_model_refuses(pool, pooled, classifier):
    for inputs in ([[1, 2], [3, 300]], np.zeros((4, 2000), int), np.zeros((0, 5), int), np.zeros((2, 2, 2), int)):
        with pytest.raises(weft.WeftError) as expected:
            classifier.logits(inputs)
        with pytest.raises(expected.type):
            pooled.logits(inputs)
    with pytest.raises(weft.WeftError):
        pooled(["a text", ""])
    with pytest.raises(weft.NotFound):
        pool.load("nowhere")
    assert pooled(sample_texts(1)) == classifier(sample_texts(1))


def test_a_closed_device_is_an_error(device):
    with weft.Pool([device.info.index] * 2, threads=1) as pool:
        model = pool.load(FOLDER)
        pool.devices[1].close()
        both = threading.Barrier(2, timeout=300)

        def work(number, item):
            if item < 2:
                both.wait()
            return model._models[number].logits(np.full((1, 16), 65, np.int32))

        with pytest.raises(weft.InvalidArgument, match="closed"):
            pool._each(work, range(6))


def test_threads_share_a_pool(pooled, classifier):
    texts = sample_texts(24)
    expected = classifier(texts)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert all(found == expected for found in threads.map(pooled, [texts] * 8))


def test_closing(device):
    pool = weft.Pool([device, "processor" if device.info.type == "processor" else device.info.index], threads=1)
    model = pool.load(FOLDER)
    assert model("a text").labels
    assert repr(pool).count(device.info.name) == 2 and "2 devices" in repr(model)
    pool.close()
    pool.close()
    with pytest.raises(weft.InvalidArgument, match="closed"):
        model(["a text"])
    with pytest.raises(weft.InvalidArgument, match="closed"):
        pool.map(lambda device, item: item, [1])
    assert device.stats().bytes_in_use >= 0  # what was given open stays open
    with pytest.raises(weft.InvalidArgument, match="closed"):
        pool.devices[1].stats()


def test_closing_while_it_works(device):
    pool = weft.Pool([device.info.index], threads=1)
    begun, go_on = threading.Event(), threading.Event()

    def work(device, item):
        begun.set()
        assert go_on.wait(60)
        return item

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        answer = threads.submit(pool.map, work, range(5))
        assert begun.wait(60)
        closed = threads.submit(pool.close)
        while not pool._executor._shutdown:
            pass
        go_on.set()
        closed.result(60)
        with pytest.raises(weft.InvalidArgument, match="the pool was closed"):
            answer.result(60)


def test_a_pool_that_nobody_holds_ends_its_threads(device):
    before = threading.active_count()
    pool = weft.Pool([device.info.index] * 2, threads=1)
    pool.map(lambda device, item: item, range(10))
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("weft-pool")]
    assert threading.active_count() > before
    own = list(pool._executor._threads)
    assert own and set(own) <= set(threads)
    del pool
    gc.collect()
    for thread in own:
        thread.join(60)
        assert not thread.is_alive()


def test_all_devices(monkeypatch):
    def all_of(*infos):
        monkeypatch.setattr("weft.pool.devices", lambda: list(infos))
        return weft.pool._selected("all")

    assert all_of(entry(0, "discrete"), entry(1, "discrete"), entry(2, "software"), entry(3, "processor")) == [0, 1, 3]
    assert all_of(entry(0, "discrete", usable=False), entry(1, "integrated"), entry(2, "software")) == [1]
    assert all_of(entry(0, "software"), entry(1, "processor")) == [1]
    assert all_of(entry(0, "software"), entry(1, "software"), entry(2, "processor", usable=False)) == [0]
    assert all_of(entry(0, "discrete"), entry(1, "processor"), entry(2, "discrete", by_name_only=True)) == [0, 1]
    assert all_of() == [None]
    monkeypatch.undo()
    with weft.Pool() as pool:
        assert len({device.info.index for device in pool.devices}) == len(pool.devices)
        assert all(device.info.type != "software" for device in pool.devices) or len(pool.devices) == 1


def test_what_a_pool_refuses():
    with pytest.raises(weft.InvalidArgument, match="empty list"):
        weft.Pool([])
    with pytest.raises(weft.NotFound):
        weft.Pool([0, "nowhere"])
    with pytest.raises(weft.InvalidArgument):
        weft.Pool(math="exact")
