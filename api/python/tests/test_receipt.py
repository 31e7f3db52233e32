# SPDX-License-Identifier: MIT
"""Receipts of plans, and the command's."""

import base64
import hashlib
import json

import numpy as np
import pytest

import weft


def network(scale):
    g = weft.Graph()
    x = g.input("x", [2, 5, 8])
    y = weft.linear(x, np.full([8, 8], scale, np.float32))
    g.output("y", weft.layer_norm(x + y, np.ones(8, np.float32), np.zeros(8, np.float32), 1e-5))
    return g.compile(checkpoints="nodes")


def receipt_of(scale, x):
    receipt = weft.Receipt()
    outputs = network(scale).run({"x": x}, receipt=receipt)
    return receipt, outputs


def test_a_receipt_is_the_same_again_and_names_what_differs():
    x = np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 5, 8)
    receipt, outputs = receipt_of(0.5, x)
    assert receipt.first_difference(receipt_of(0.5, x)[0]) is None
    other = receipt_of(0.25, x)[0]
    different = other.records[receipt.first_difference(other)]
    assert (different.kind, different.run, different.name) == ("value", 0, "node 0 matmul")
    record = next(record for record in receipt.records if record.kind == "output")
    assert record.type == "f32 [2, 5, 8]"
    assert record.sha256 == hashlib.sha256(hashlib.sha256(outputs["y"].tobytes()).digest()).hexdigest()


def test_a_receipt_is_read():
    receipt, _ = receipt_of(0.5, np.zeros([2, 5, 8], np.float32))
    again = weft.Receipt.read(receipt.json())
    assert receipt.first_difference(again) is None
    assert again.records == receipt.records
    assert "weft.Receipt by" in repr(again)
    with pytest.raises(weft.BadFile, match="format"):
        weft.Receipt.read("{}")
    again.close()


def test_the_chain_follows_from_the_records():
    receipt, _ = receipt_of(0.5, np.zeros([2, 5, 8], np.float32))
    chain = bytes(32)
    for record in receipt.records:
        texts = b"".join(text.encode() + b"\0" for text in (record.kind, record.name, record.type))
        chain = hashlib.sha256(chain + texts + bytes.fromhex(record.sha256)).digest()
        assert record.chain == chain.hex()


def test_what_is_given_and_handed_over_is_in_the_chain():
    def make(lines, place):
        receipt = weft.Receipt()
        receipt.note("setting", "similarity", "dot")
        receipt.note("data", "lines", f"{len(lines)} lines", "\n".join(lines).encode())
        network(0.5).run({"x": np.zeros([2, 5, 8], np.float32)}, receipt=receipt)
        receipt.note("rows", "rows", "2 of 2", np.array([0, 1], np.uint64))
        receipt.note("answer", "ranking", "1 text", np.uint32(place).tobytes())
        return receipt

    receipt = make(["a", "b"], 0)
    assert receipt.first_difference(make(["a", "b"], 0)) is None
    assert receipt.records[receipt.first_difference(make(["b", "a"], 0))].name == "lines"
    assert receipt.records[receipt.first_difference(make(["a", "b"], 1))].kind == "answer"
    with pytest.raises(weft.InvalidArgument, match="behind the first run"):
        receipt.note("setting", "similarity", "cosine")
    with pytest.raises(ValueError, match="kind"):
        receipt.note("value", "x", "f32 [1]", b"")
    with pytest.raises(weft.InvalidArgument, match="was read"):
        weft.Receipt.read(receipt.json()).note("data", "x", "1 line", b"")


def test_the_root_follows_from_the_chains():
    receipt, _ = receipt_of(0.5, np.zeros([2, 5, 8], np.float32))
    row = [hashlib.sha256(b"\0" + bytes.fromhex(record.chain)).digest() for record in receipt.records]
    count = len(row)
    while len(row) & (len(row) - 1):
        row.append(hashlib.sha256(b"\3").digest())
    while len(row) > 1:
        row = [hashlib.sha256(b"\1" + row[i] + row[i + 1]).digest() for i in range(0, len(row), 2)]
    assert receipt.root == hashlib.sha256(b"\2" + count.to_bytes(8, "little") + row[0]).hexdigest()


def test_a_proof_shows_a_record():
    receipt, _ = receipt_of(0.5, np.zeros([2, 5, 8], np.float32))
    for i, record in enumerate(receipt.records):
        index, count, found = weft.Receipt.check_proof(receipt.proof(i), receipt.root)
        assert (index, count, found) == (i, len(receipt.records), record)
    with pytest.raises(weft.BadFile, match="to the root"):
        weft.Receipt.check_proof(receipt.proof(0), "0" * 64)
    with pytest.raises(weft.InvalidArgument, match="no record 99"):
        receipt.proof(99)


def test_a_statement_is_one_of_in_toto():
    receipt, _ = receipt_of(0.5, np.zeros([2, 5, 8], np.float32))
    statement = json.loads(receipt.statement("receipt.json", "ab" * 32))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [{"name": "receipt.json", "digest": {"sha256": "ab" * 32}}]
    assert statement["predicate"]["root"] == receipt.root
    envelope = json.loads(receipt.statement("receipt.json", "ab" * 32, envelope=True))
    assert json.loads(base64.b64decode(envelope["payload"])) == statement
    assert (envelope["payloadType"], envelope["signatures"]) == ("application/vnd.in-toto+json", [])
    with pytest.raises(weft.InvalidArgument, match="64 hexadecimal digits"):
        receipt.statement("receipt.json", "ab")
