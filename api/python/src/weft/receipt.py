# SPDX-License-Identifier: MIT
"""Receipts: what a computation read, went through and gave, as hashes that another device can make again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from . import _checks, _core, errors
from ._core import ffi, lib, text_of

if TYPE_CHECKING:
    from .device import Device


@dataclasses.dataclass(frozen=True)
class Record:
    """A record of a receipt: docs/receipts.md has the kinds."""

    kind: str
    run: int
    name: str
    type: str
    sha256: str
    """Of the bytes; empty for settings and runs."""
    chain: str
    """Of all records up to this one."""


def _record_of(info: Any) -> Record:
    return Record(text_of(lib.weft_record_kind_name(info.kind)), info.run, text_of(info.name), text_of(info.type),
                  text_of(info.sha256), text_of(info.chain))


class Receipt:
    """A list of records, each chained to those before it.

        receipt = weft.Receipt()
        plan = graph.compile(checkpoints="layers")
        y = plan.run({"x": x}, receipt=receipt)
        text = receipt.json()
        weft.Receipt.read(text).first_difference(receipt)  # None: the same bits

    Those of models are the command's: `weft run MODEL --receipt FILE`, and `weft verify --receipt FILE` makes them again.
    """

    def __init__(self, device: Device | None = None, *, _pointer: Any = None) -> None:
        """Begins a receipt of runs on a device, by default the default one, of plans that `Plan.run` is to record."""
        from .device import checked, default_device

        if _pointer is not None:
            self.handle = _core.Handle(_pointer, lib.weft_receipt_destroy)
            return
        device = checked(device) or default_device()
        with device.handle.lock:
            pointer = _core.make("weft_receipt", lib.weft_receipt_create, device.handle.get(), ffi.NULL)
        self.handle = _core.Handle(pointer, lib.weft_receipt_destroy, device.handle)

    @classmethod
    def read(cls, text: str) -> Receipt:
        """A receipt that `json` gave, from anybody. Raises BadFile for anything else, and Unsupported for another version."""
        data = _checks.text(text, "text").encode()
        return cls(_pointer=_core.make("weft_receipt", lib.weft_receipt_read, ffi.from_buffer(data), len(data), _core.host))

    def json(self) -> str:
        """Its text, for a file."""
        with self.handle.lock:
            return self._text(lib.weft_receipt_json(self.handle.get()))

    def note(self, kind: str, name: str, type: str, data: Any = None) -> None:
        """Appends what decides the answer beside the runs.

        Args:
            kind: "setting" before the first run, without data; "rows" behind a run; "data" and "answer" anywhere.
            name: what it is.
            type: a setting's value; else how many rows, lines or texts the data stand for.
            data: what has the bytes that are hashed: bytes, or an array in C order.
        """
        kinds = {"setting": lib.WEFT_RECORD_SETTING, "data": lib.WEFT_RECORD_DATA, "rows": lib.WEFT_RECORD_ROWS,
                 "answer": lib.WEFT_RECORD_ANSWER}
        if kind not in kinds:
            raise errors.InvalidArgument(f"kind: expected one of {', '.join(kinds)}, found {kind!r}")
        c_name, c_type = _checks.text(name, "name").encode(), _checks.text(type, "type").encode()
        buffer = ffi.NULL if data is None else ffi.from_buffer(data)
        size = 0 if data is None else len(buffer)
        with self.handle.lock:
            _core.check(lib.weft_receipt_note(self.handle.get(), kinds[kind], c_name, c_type, buffer, size))

    @property
    def records(self) -> list[Record]:
        """All records in their order."""
        info = ffi.new("weft_record_info *")
        found: list[Record] = []
        with self.handle.lock:
            while lib.weft_receipt_get_record(self.handle.get(), len(found), info) == lib.WEFT_OK:
                found.append(_record_of(info))
        _core.forget()
        return found

    @property
    def root(self) -> str:
        """The root of the Merkle tree over all records: it stands for the whole receipt."""
        with self.handle.lock:
            return self._text(lib.weft_receipt_root(self.handle.get()))

    def proof(self, index: int) -> str:
        """A record with the hashes that lead from it to the root, as JSON: `check_proof` reads it, without the receipt."""
        with self.handle.lock:
            if lib.weft_receipt_get_record(self.handle.get(), index, ffi.new("weft_record_info *")) != lib.WEFT_OK:
                _core.forget()
                raise errors.InvalidArgument(f"index: the receipt has no record {index}")
            return self._text(lib.weft_receipt_proof(self.handle.get(), index))

    @staticmethod
    def check_proof(text: str, root: str) -> tuple[int, int, Record]:
        """What `proof` gave, from anybody: a record's index, among how many, and the record.

        Raises BadFile unless it leads to the root.
        """
        data = _checks.text(text, "text").encode()
        c_root = _checks.text(root, "root").encode()
        pointer = _core.make("weft_proof", lib.weft_proof_read, ffi.from_buffer(data), len(data), c_root, _core.host)
        handle = _core.Handle(pointer, lib.weft_proof_destroy)
        try:
            info = ffi.new("weft_proof_info *")
            _core.check(lib.weft_proof_get_info(handle.get(), info))
            return info.index, info.count, _record_of(info.record)
        finally:
            handle.close()

    def statement(self, name: str, sha256: str, *, envelope: bool = False) -> str:
        """An in-toto Statement about the file of this receipt, for tools that sign.

        Args:
            name: of the file.
            sha256: of its bytes, as 64 hexadecimal digits.
            envelope: whether to put the statement into a DSSE envelope, without a signature.
        """
        c_name, c_sha256 = _checks.text(name, "name").encode(), _checks.text(sha256, "sha256").encode()
        with self.handle.lock:
            text = lib.weft_receipt_statement(self.handle.get(), c_name, c_sha256, envelope)
            if text == ffi.NULL:
                raise errors.InvalidArgument(f"sha256: expected 64 hexadecimal digits, found {sha256!r}")
            return text_of(text)

    @staticmethod
    def _text(text: Any) -> str:
        if text == ffi.NULL:
            raise MemoryError("a receipt")
        return text_of(text)

    def first_difference(self, other: Receipt) -> int | None:
        """The index of the first record in which two receipts differ, or None. Device and driver are not compared."""
        index = ffi.new("uint32_t *")
        _core.check(lib.weft_receipt_compare(index, self.handle.get(), other.handle.get()))
        return None if index[0] == 2**32 - 1 else int(index[0])

    def close(self) -> None:
        """Releases it."""
        self.handle.close()

    def __repr__(self) -> str:
        return f"<weft.Receipt by {text_of(lib.weft_receipt_maker(self.handle.get()))}>"
