# SPDX-License-Identifier: MIT
# weft-test: long
"""On Ray: the same bits with any number of workers, and when one is killed; requests are run together."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import weft
from conftest import MODELS, ROOT
from small_models import WORDS, sentence_folder, token_folder

try:
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
    import ray
    import ray.data

    import weft.ray
except ImportError:
    pytest.skip("without Ray; ./dev test all has it", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

EXAMPLES = ROOT / "api" / "python" / "examples"
FOLDER = MODELS / "langid1024-fmmformer"
LONGEST = 1200  # seconds that one test may take


@pytest.fixture(autouse=True)
def time_limit():
    def over(number, frame):
        raise TimeoutError(f"the test took more than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def descendants():
    """Processes that this one started, and those that they started."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def cluster():
    before = descendants()
    settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32),
                # A proxy that is not ready in 5 s is started anew, for ever where the machine is busy.
                "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(LONGEST), "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": str(LONGEST),
                "PYTHONPATH": f"{EXAMPLES}:{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        patch.syspath_prepend(EXAMPLES)  # here, as for the workers
        folder = tempfile.mkdtemp(prefix="weft-ray-", dir="/tmp")  # names of sockets must be short
        try:
            ray.init(num_cpus=6, num_gpus=1, include_dashboard=False, object_store_memory=128 << 20, _temp_dir=folder,
                     log_to_driver=False, logging_level="WARNING")
            yield
        finally:
            started = descendants() - before
            ray.shutdown()
            until = time.monotonic() + LONGEST
            while any(alive(pid) for pid in started) and time.monotonic() < until:
                time.sleep(0.1)
            left = [pid for pid in started if alive(pid)]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
    assert not left


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """LABEL/NAME.txt, of five lengths."""
    folder = tmp_path_factory.mktemp("texts")
    for sample in sorted((MODELS / "langid" / "samples").glob("*.txt")):
        (folder / sample.stem).mkdir()
        for i in range(5):
            text = sample.read_bytes()[i:40 + 17 * i].decode("utf-8", "ignore")
            (folder / sample.stem / f"{i}.txt").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(texts, classifier):
    """What one device says of each text: names, logits."""
    found = {path.relative_to(texts).as_posix(): classifier.logits(classifier.tokenize(path.read_text("utf-8")))
             for path in sorted(texts.glob("*/*.txt"))}
    assert len(found) == 100
    return found


@pytest.fixture(scope="module")
def digest(alone):
    return hashlib.sha256(b"".join(row.tobytes() for row in alone.values())).hexdigest()


def example():
    import ray_classify  # by the cluster's path

    return ray_classify


def test_the_command_gives_the_same_bits(texts, alone, digest, tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "weft", *map(str, arguments)], capture_output=True, text=True,
                              check=False, timeout=LONGEST)

    (tmp_path / "bits").write_text(f"{digest}  outputs\n")
    evaluated = run("eval", FOLDER, texts, "--bits", tmp_path / "bits")
    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    assert digest in evaluated.stdout
    for name in ("de/3.txt", "ja/4.txt"):
        assert run("run", FOLDER, "--file", texts / name, "--out", tmp_path / "x.npy").returncode == 0
        assert np.array_equal(np.load(tmp_path / "x.npy").reshape(-1), alone[name])


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers(cluster, texts, alone, digest, classifier, tmp_path, workers):
    outcome = example().classify(texts, FOLDER, workers, tmp_path / "out", batch=8)
    assert outcome.texts == 100
    assert outcome.digest == digest
    rows = pyarrow.dataset.dataset(tmp_path / "out").to_table().sort_by("number").to_pylist()
    assert [row["name"] for row in rows] == list(alone)
    answers = classifier([(texts / row["name"]).read_text("utf-8") for row in rows])
    assert [row["label"] for row in rows] == [answer.label for answer in answers]
    assert [row["probability"] for row in rows] == [answer.probability for answer in answers]


def test_a_killed_worker_loses_nothing(cluster, texts, digest, tmp_path):
    killed = tmp_path / "killed"

    class Mortal(weft.ray.Predictor):
        def __call__(self, batch):
            answers = super().__call__(batch)
            if 50 in batch["number"]:
                try:
                    killed.touch(exist_ok=False)
                except FileExistsError:
                    return answers
                killed.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
            return answers

    outcome = example().classify(texts, FOLDER, 2, tmp_path / "out", predictor=Mortal, batch=8)
    assert int(killed.read_text()) != os.getpid()
    assert outcome.texts == 100
    assert outcome.digest == digest


def parquet_example():
    import ray_parquet  # by the cluster's path

    return ray_parquet


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Parquet with ids and texts, some 500 of all lengths."""
    draw = np.random.default_rng(4)
    texts = [" ".join(draw.choice(WORDS[4:], size=1 + number % 12)) for number in range(500)]
    path = tmp_path_factory.mktemp("words") / "texts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [7 * number for number in range(500)], "text": texts}), path)
    return path, texts


class MortalOnce(weft.ray.Predictor):
    """Ends its process once, in the middle of its work."""

    def __init__(self, folder, text_column="text", *, killed, **how):
        super().__init__(folder, text_column, **how)
        self._killed = pathlib.Path(killed)

    def __call__(self, batch):
        made = super().__call__(batch)
        if 7 * 250 in batch["id"]:
            try:
                self._killed.touch(exist_ok=False)
            except FileExistsError:
                return made
            os.kill(os.getpid(), signal.SIGKILL)
        return made


@pytest.mark.parametrize(("workers", "batch", "mortal"), [(1, 500, False), (2, 7, False), (4, 64, False), (2, 32, True)])
def test_vectors_are_those_of_the_command(cluster, words, tmp_path, workers, batch, mortal):
    path, texts = words
    folder = sentence_folder(tmp_path / "model")
    how = {"predictor": MortalOnce, "killed": str(tmp_path / "killed")} if mortal else {}
    parquet_example().predict(path, folder, "id", workers, tmp_path / "out", batch=batch, **how)
    assert (tmp_path / "killed").exists() == mortal
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    run = subprocess.run([sys.executable, "-m", "weft", "embed", folder, "--lines", tmp_path / "texts.txt", "--out",
                          tmp_path / "x.npy"], capture_output=True, text=True, check=False, timeout=LONGEST)
    assert run.returncode == 0, run.stderr
    digest = hashlib.sha256(np.load(tmp_path / "x.npy").tobytes()).hexdigest()
    assert parquet_example().digest_of(tmp_path / "out", "id", "vector") == (500, digest)
    ids = pyarrow.dataset.dataset(tmp_path / "out").to_table()["id"].to_pylist()
    assert sorted(ids) == [7 * number for number in range(500)]


def test_parts_of_texts_in_parquet(cluster, words, tmp_path):
    path, texts = words
    folder = sentence_folder(tmp_path / "model")
    token_folder(folder)
    parquet_example().predict(path, folder, "id", 2, tmp_path / "out", batch=50)
    rows = pyarrow.dataset.dataset(tmp_path / "out").to_table().sort_by("id").to_pylist()
    expected = weft.load(folder, weft.Device("processor")).entities(texts)
    assert [row["entities"] for row in rows] == [[dict(vars(one)) for one in found] for found in expected]


def test_an_error_of_a_text_reaches_the_caller(cluster):
    texts = ray.data.from_items([{"text": "a text"}, {"text": ""}])
    answers = texts.map_batches(weft.ray.Predictor, fn_constructor_kwargs={"folder": str(FOLDER)},
                                compute=ray.data.ActorPoolStrategy(size=1), num_cpus=1)
    with pytest.raises(Exception, match="empty|shape"):
        answers.materialize()


def test_the_device_is_the_one_that_ray_gave(cluster):
    def found():
        with weft.ray.worker_pool() as pool:
            return [(device.info.type, device.info.threads) for device in pool.devices]

    remote = ray.remote(found)
    infos = [info for info in weft.devices() if info.usable]
    if any(info.type == "processor" for info in infos):
        assert ray.get(remote.options(num_cpus=1).remote(), timeout=LONGEST) == [("processor", 1)]
        assert ray.get(remote.options(num_cpus=2).remote(), timeout=LONGEST) == [("processor", 2)]
        assert [weft.devices()[number].type for number in weft.ray.worker_devices()] == ["processor"]
    assert weft.ray.worker_threads() == 0
    if all(info.type in ("processor", "software") for info in infos):  # the cluster's GPU is made up
        with pytest.raises(weft.NotFound, match="the accelerator 0, which is none of Weft's graphics devices"):
            ray.get(remote.options(num_gpus=1).remote(), timeout=LONGEST)


def entry(index, type, usable=True):
    return weft.DeviceInfo(index, f"device {index}", "driver", "1", type, 32, 0, 1 << 30, 1 << 15, usable, "")


def test_accelerator_ids():
    infos = [entry(0, "integrated"), entry(1, "discrete"), entry(2, "discrete", usable=False), entry(3, "discrete"),
             entry(4, "software"), entry(5, "processor")]
    assert weft.ray._given(["0"], infos) == [1]
    assert weft.ray._given(["1", "0"], infos) == [3, 1]
    assert weft.ray._given([], infos) == [5]
    assert weft.ray._given([], infos[:5]) == [4]
    assert weft.ray._given(["0"], [infos[0], *infos[4:]]) == [0]
    for ids in (["2"], ["GPU-1234"], ["-1"], ["0", "2"]):
        with pytest.raises(weft.NotFound, match="0: device 1, 1: device 3"):
            weft.ray._given(ids, infos)
    with pytest.raises(weft.NoDevice, match="no accelerator"):
        weft.ray._given([], infos[:4])


def test_a_predictor_without_a_cluster(classifier, tmp_path):
    predictor = weft.ray.Predictor(FOLDER, "body", devices=classifier.device)
    bodies = np.array(["Dies ist ein Text.", b"C'est un texte.", "Dit is een tekst."], object)
    batch = predictor({"body": bodies, "id": np.arange(3)})
    assert list(batch) == ["body", "id", "label", "probability", "logits"]
    answers = classifier(["Dies ist ein Text.", "C'est un texte.", "Dit is een tekst."])
    assert batch["label"].tolist() == [answer.label for answer in answers]
    assert batch["probability"].tolist() == [answer.probability for answer in answers]
    assert batch["logits"].dtype == np.float32 and batch["logits"].shape == (3, 24)
    assert predictor({"body": np.array([], object)})["logits"].shape == (0, 24)
    with pytest.raises(weft.NotFound, match="no column 'body' of texts: there are text"):
        predictor({"text": bodies})
    with pytest.raises(weft.InvalidArgument, match="expected a text, found int"):
        predictor({"body": np.arange(2)})
    with pytest.raises(weft.InvalidArgument, match="the column 'label' is there already: rename it"):
        predictor({"body": bodies, "label": bodies})
    ranker = weft.ray.Predictor(sentence_folder(tmp_path / "model"), "body", query_column="asked", devices=classifier.device)
    with pytest.raises(weft.NotFound, match="no column 'asked' of queries: there are body"):
        ranker({"body": bodies})


def test_serving(cluster, classifier, monkeypatch):
    from ray import serve

    for part in ("api", "client"):  # a minute, and a busy machine takes more
        monkeypatch.setattr(f"ray.serve._private.{part}.HTTP_PROXY_TIMEOUT", LONGEST)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def ask(body, method="POST"):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LONGEST) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def label(text):
        status, answer = ask(json.dumps({"text": text}).encode())
        assert status == 200, answer
        return answer

    several = [path.read_bytes()[:60 + 10 * i].decode("utf-8", "ignore")
               for path in sorted((MODELS / "langid" / "samples").glob("*.txt"))[:10] for i in range(2)]
    expected = [{"label": answer.label, "probability": answer.probability} for answer in classifier(several)]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    try:
        # A batch waits for a second, so that requests that come together are run together on a slow machine, too.
        handle = serve.run(weft.ray.deployment(FOLDER, max_batch_size=8, batch_wait_timeout_s=1.0))
        assert label(several[0]) == expected[0]
        assert handle.remote(several[1]).result(timeout_s=LONGEST) == expected[1]
        assert ask(b"{}")[0] == 400 and ask(b"no JSON")[0] == 400 and ask(None, "GET")[0] == 405
        before = handle.counts.remote().result(timeout_s=LONGEST)
        assert before == {"texts": 2, "batches": 2}
        with concurrent.futures.ThreadPoolExecutor(21) as threads:
            empty = threads.submit(ask, json.dumps({"text": ""}).encode())
            assert list(threads.map(label, several)) == expected  # although one beside them is refused
            assert empty.result()[0] == 400 and empty.result()[1]["error"]
        after = handle.counts.remote().result(timeout_s=LONGEST)
        assert after["texts"] == before["texts"] + 21
        assert 3 <= after["batches"] - before["batches"] <= 12
    finally:
        serve.shutdown()


def test_serving_vectors_and_scores(cluster, tmp_path):
    from ray import serve

    folder = sentence_folder(tmp_path / "model")
    model = weft.load(folder, weft.Device("processor"))
    serve.start(http_options={"host": "127.0.0.1", "port": 0})
    try:
        handle = serve.run(weft.ray.deployment(folder), route_prefix=None)
        assert handle.remote("the cat sat").result(timeout_s=LONGEST) == {"vector": model.embed("the cat sat").tolist()}
        with pytest.raises(Exception, match="a text without a query"):
            handle.remote("the cat", "a dog").result(timeout_s=LONGEST)
        handle = serve.run(weft.ray.deployment(folder, with_queries=True), route_prefix=None)
        score = model.rerank("a dog", ["the cat"])[0].score
        assert handle.remote("the cat", "a dog").result(timeout_s=LONGEST) == {"score": score}
    finally:
        serve.shutdown()


def test_ray_is_not_needed():
    def run(code):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=LONGEST)

    assert run("import sys, weft; sys.exit('ray' in sys.modules)").returncode == 0
    said = run("import sys; sys.modules['ray'] = None; import weft.ray")
    assert said.returncode == 1
    assert "ImportError: weft.ray needs Ray, which is not installed here: pip install 'ray[data,serve]' pyarrow" in said.stderr


def test_a_program_runs_on_columns(tmp_path):
    graph = weft.Graph()
    x = graph.input("x", [2, 3])
    graph.output("y", x * 2.0)
    weft.save(graph, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["symbols"] = {"batch": {}}
    config["inputs"][0]["shape"][0] = "batch"
    (tmp_path / "config.json").write_text(json.dumps(config))
    numbers = np.arange(30, dtype=np.float32).reshape(10, 3)
    predict = weft.ray.ProgramPredictor(tmp_path, {"x": "numbers"}, device="processor")
    assert (predict({"numbers": numbers})["y"] == 2 * numbers).all()
    assert (predict({"numbers": np.array([*numbers, None], object)[:-1]})["y"] == 2 * numbers).all()  # rows as Ray has them
    with pytest.raises(weft.NotFound, match="no column 'numbers'"):
        predict({"other": numbers})
    with pytest.raises(weft.Unsupported, match="expected a program, found task classify"):
        weft.ray.ProgramPredictor(FOLDER, device="processor")
