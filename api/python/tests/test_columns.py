# SPDX-License-Identifier: MIT
"""The columns that a model adds to a batch of texts, task by task: those of its own methods, whatever the batch."""

import pytest

import weft
from conftest import MODELS
from small_models import cross_folder, question_folder, sentence_folder, token_folder
from weft._columns import TextColumns

TEXTS = ["The cat sat on the mat.", "a dog", "Die Katze saß auf der Matte .", "resting , feline cat", "mat"]
QUERIES = ["a cat", "the dog", "a cat", "a cat", "the dog"]


@pytest.fixture
def columns(device):
    """What makes them of a folder, which a pool of one device has loaded."""
    with weft.Pool(device) as pool:
        yield lambda folder, asked=False, **how: TextColumns(pool.load(folder), folder.name, asked, how)


@pytest.fixture
def sentences(tmp_path):
    return sentence_folder(tmp_path / "sentences", prompts={"query": "a cat "})


def same_rows(made, texts, queries=()):
    """The columns of all, which are those of each row alone and of any two batches."""
    whole = made(texts, queries)
    for cut in range(1, len(texts)):
        parts = [made(texts[:cut], queries[:cut]), made(texts[cut:], queries[cut:])]
        for name, column in whole.items():
            assert column.dtype == parts[0][name].dtype
            assert column.tolist() == parts[0][name].tolist() + parts[1][name].tolist(), (name, cut)
    return whole


def test_vectors(columns, sentences, device):
    model = weft.load(sentences, device)
    assert (same_rows(columns(sentences), TEXTS)["vector"] == model.embed(TEXTS)).all()
    assert (columns(sentences, prompt="query")(TEXTS, [])["vector"] == model.embed(TEXTS, prompt="query")).all()
    (sentences / "modules.json").unlink()
    model = weft.load(sentences, device)
    assert (columns(sentences, pooling="max", normalize=True)(TEXTS, [])["vector"]
            == model.embed(TEXTS, pooling="max", normalize=True)).all()
    with pytest.raises(weft.Unsupported, match="found task hidden, and no modules.json"):
        columns(sentences)
    with pytest.raises(TypeError, match="task hidden has no option 'tokens': expected prompt, batch_size, pooling, normalize"):
        columns(sentences, tokens=3)


def test_scores(columns, sentences, device):
    def of(folder):
        model = weft.load(folder, device)
        return [model.rerank(query, [text])[0].score for query, text in zip(QUERIES, TEXTS)]

    assert same_rows(columns(sentences, asked=True), TEXTS, QUERIES)["score"].tolist() == of(sentences)
    cross_folder(sentences)
    (sentences / "modules.json").unlink()
    assert same_rows(columns(sentences, asked=True), TEXTS, QUERIES)["score"].tolist() == of(sentences)
    assert set(columns(sentences)(TEXTS, [])) == {"label", "probability", "logits"}


def test_parts(columns, sentences, device):
    token_folder(sentences)
    entities = weft.load(sentences, device).entities(TEXTS)
    assert any(entities)
    made = same_rows(columns(sentences), TEXTS)["entities"]
    assert made.tolist() == [[dict(vars(one)) for one in found] for found in entities]
    with pytest.raises(TypeError, match="task classify_tokens has no option 'top': there is none"):
        columns(sentences, top=1)


def test_answers(columns, sentences, device):
    question_folder(sentences)
    model = weft.load(sentences, device)
    made = same_rows(columns(sentences, asked=True, max_tokens=3), TEXTS, QUERIES)
    for row, (query, text) in enumerate(zip(QUERIES, TEXTS)):
        answer = model.answer(query, text, max_tokens=3)
        assert {name: column[row] for name, column in made.items()} == {
            "answer": answer.text, "score": answer.score, "begin": answer.begin, "end": answer.end}


def test_continued_texts(columns, device):
    folder = MODELS / "text-fmmformer"
    prompts = ["The ", "In the year ", "A"]
    model = weft.load(folder, device)
    made = same_rows(columns(folder, tokens=5, temperature=0.8, seed=3), prompts)
    assert made["generated"].tolist() == model.generate(prompts, 5, temperature=0.8, seed=3)
    with pytest.raises(weft.InvalidArgument, match="top_p: expected a number above 0"):
        columns(folder, top_p=0.0)


def test_labels(columns, classifier):
    made = columns(MODELS / "langid1024-fmmformer")(["Dies ist ein Text.", "C'est un texte."], [])
    assert made["label"].tolist() == [answer.label for answer in classifier(["Dies ist ein Text.", "C'est un texte."])]


def test_what_has_no_columns(columns, tmp_path):
    graph = weft.Graph()
    graph.output("y", graph.input("x", [2]) * 2.0)
    weft.save(graph, tmp_path / "program")
    with pytest.raises(weft.Unsupported, match="program: expected a model of texts, found a program, which ProgramPredictor"):
        columns(tmp_path / "program")
    with pytest.raises(weft.Unsupported, match="expected a model that reads queries .* found task causal_lm"):
        columns(MODELS / "text-fmmformer", asked=True)


def test_one_device_where_rows_are_not_shared(device, sentences):
    with weft.Pool([device, device]) as pool:
        model = pool.load(sentences)
        with pytest.raises(weft.Unsupported, match="expected one device for each worker, found 2"):
            TextColumns(model, "sentences", False, {})
