# SPDX-License-Identifier: MIT
"""Exact search, and vectors of texts from Parquet to Parquet."""

import numpy as np
import pytest

import weft
from small_models import sentence_folder

TEXTS = ["the cat sat on the mat", "a feline was resting", "der hund", "", "the mat ."]


def best(vectors, queries, top, score):
    """The rows of the largest scores, equal ones in their order."""
    scores = np.array([[score(query.astype(np.float64), row.astype(np.float64)) for row in vectors] for query in queries])
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return rows, np.take_along_axis(scores, rows, 1)


SCORES = {"dot": lambda a, b: a @ b, "euclidean": lambda a, b: -np.linalg.norm(a - b),
          "manhattan": lambda a, b: -np.abs(a - b).sum(),
          "cosine": lambda a, b: a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) if a.any() and b.any() else 0.0}


@pytest.mark.parametrize("similarity", SCORES)
def test_all_are_compared(tmp_path, similarity):
    draw = np.random.default_rng(4)
    vectors = draw.integers(-3, 4, (301, 6)).astype(np.float32)
    queries = draw.integers(-3, 4, (4, 6)).astype(np.float32)
    vectors[17] = 0
    np.save(tmp_path / "v.npy", vectors)
    np.save(tmp_path / "double.npy", vectors.astype(np.float64))
    rows, scores = best(vectors, queries, 9, SCORES[similarity])
    for given in (vectors, tmp_path / "v.npy", str(tmp_path / "double.npy"), np.asfortranarray(vectors)):
        found = weft.search(given, queries, top=9, similarity=similarity)
        assert np.allclose(found.scores, scores, atol=1e-12)
        if similarity in ("dot", "manhattan"):  # of whole numbers: equal ones are equal
            assert np.array_equal(found.rows, rows)
    whole = weft.search(vectors, queries[0], top=1000, similarity=similarity)
    assert whole.rows.shape == (1, 301) and sorted(whole.rows[0]) == list(range(301))
    assert np.array_equal(whole.rows[:, :9], found.rows[:1])


def test_what_makes_no_search_is_refused():
    vectors = np.ones((3, 2), np.float32)
    assert weft.search(vectors, np.empty((0, 2), np.float32)).rows.shape == (0, 0)
    assert weft.search(np.empty((0, 2), np.float32), vectors).rows.shape == (3, 0)
    for wrong, said in ((dict(vectors=np.ones((3, 3))), "vectors"), (dict(queries=np.ones((1, 2, 2))), "queries"),
                        (dict(queries=np.array(["a"])), "queries"), (dict(top=0), "top"), (dict(similarity="x"), "similarity")):
        with pytest.raises(weft.InvalidArgument, match=said):
            weft.search(**{"vectors": vectors, "queries": vectors, **wrong})


def test_parquet(tmp_path, device):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    model = weft.load(sentence_folder(tmp_path / "model"), device)
    source, target = tmp_path / "texts.parquet", tmp_path / "vectors.parquet"
    parquet.write_table(arrow.table({"id": [7, 8, 9, 10, 11], "text": TEXTS, "more": [0.5] * 5}), source)
    assert weft.embed_parquet(model, source, target, "text", id_field="id", rows_at_once=2) == 5
    found = parquet.read_table(target)
    assert found.column_names == ["id", "vector"] and found["id"].to_pylist() == [7, 8, 9, 10, 11]
    assert np.array_equal(np.array(found["vector"].to_pylist(), np.float32), model.embed(TEXTS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "texts.parquet", "vectors.parquet"]
    with pytest.raises(weft.InvalidArgument, match="'txt'"):
        weft.embed_parquet(model, source, target, "txt")
    parquet.write_table(arrow.table({"text": [*TEXTS, None]}), source)
    with pytest.raises(weft.InvalidArgument, match="NoneType"):
        weft.embed_parquet(model, source, tmp_path / "other.parquet", "text", rows_at_once=2)
    assert not list(tmp_path.glob("other*"))
