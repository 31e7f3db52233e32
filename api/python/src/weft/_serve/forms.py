# SPDX-License-Identifier: MIT
"""Bodies of multipart/form-data, as clients send files: parts by Python's own parser, texts and bytes by their names."""

from __future__ import annotations

import email.parser
from typing import Any

from .failure import Failure

KIND = b"multipart/form-data"


def parsed(content_type: bytes, body: bytes) -> dict[str, Any]:
    """The values of a form: bytes of a part that has a file's name, otherwise text. Raises a Failure for all that is none."""
    head = b"content-type: " + content_type.replace(b"\r", b"").replace(b"\n", b"") + b"\r\n\r\n"
    message = email.parser.BytesParser().parsebytes(head + body)
    parts = message.get_payload()
    if not isinstance(parts, list) or message.defects:
        raise Failure(400, "the body is no form: expected parts between the boundary that Content-Type names")
    found: dict[str, Any] = {}
    for part in parts:
        name, data, is_file = _part(part)
        if name in found:
            raise Failure(400, f"{name[:60]}: expected one part of that name, found several", param=name[:60])
        found[name] = data if is_file else _text(name, data)
    return found


def _part(part: Any) -> tuple[str, bytes, bool]:
    """Its name, its bytes, and whether these are a file's."""
    try:
        name, data = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        is_file = part.get_filename() is not None
    except (LookupError, ValueError, AttributeError):  # of names in encodings that there are not
        name = data = None
        is_file = False
    if not isinstance(name, str) or not isinstance(data, bytes) or "content-transfer-encoding" in part:
        raise Failure(400, "the body is no form: expected parts with a name and bytes as they are")
    return name, data, is_file


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure(400, f"{name[:60]}: expected a text in UTF-8", param=name[:60]) from None
