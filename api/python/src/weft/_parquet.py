# SPDX-License-Identifier: MIT
"""Vectors of texts from Parquet to Parquet, with pyarrow where it is installed."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, Any

from . import _checks, errors

if TYPE_CHECKING:
    from .model import Model


def embed_parquet(model: Model, source: str | os.PathLike[str], target: str | os.PathLike[str], field: str, *,
                  id_field: str | None = None, rows_at_once: int = 8192, **how: Any) -> int:
    """Writes the vectors of a Parquet file's texts to another, column "vector", a piece at a time; how many there are.

        weft.embed_parquet(weft.load("all-MiniLM-L6-v2"), "texts.parquet", "vectors.parquet", "text", id_field="id")

    The file is called target.part until it is whole. A text has the bits that it has alone, whatever `rows_at_once` is. After a
    stop it is begun again, as a Parquet file that is not whole cannot be read: `weft embed --resume` goes on, with CSV and JSON
    Lines.

    Args:
        model: one that makes vectors.
        source: a Parquet file.
        target: the file that is written, or replaced.
        field: the column with the texts; null is an error.
        id_field: a column that is copied.
        rows_at_once: texts that are in memory; a row group of the new file.
        how: of `Model.embed`: prompt, pooling, normalize, batch_size.
    """
    name, part = _checks.path(source, "source"), pathlib.Path(f"{_checks.path(target, 'target')}.part")
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise errors.Unsupported("embed_parquet needs pyarrow: pip install pyarrow") from error
    rows_at_once = _checks.whole(rows_at_once, "rows_at_once", 1)
    file, writer, count = parquet.ParquetFile(name), None, 0
    columns = [field] if id_field is None else list(dict.fromkeys([id_field, field]))
    if id_field == "vector":
        raise errors.InvalidArgument('id_field: expected another name than "vector", which is that of the vectors')
    for column in columns:
        if column not in file.schema_arrow.names:
            raise errors.InvalidArgument(f"{name}: expected a column {column!r}, found "
                                         f"{', '.join(map(repr, file.schema_arrow.names))}")
    try:
        for batch in file.iter_batches(rows_at_once, columns=columns):
            table = _vectors_of(model, batch, field, id_field, f"{name}: behind row {count}", how)
            writer = parquet.ParquetWriter(part, table.schema) if writer is None else writer
            writer.write_table(table)
            count += len(batch)
    except BaseException:
        if writer is not None:
            writer.close()
            part.unlink()
        raise
    if writer is None:
        raise errors.BadFile(f"{name}: expected texts, found none")
    writer.close()
    part.replace(target)
    return count


def _vectors_of(model: Model, batch: Any, field: str, id_field: str | None, place: str, how: dict[str, Any]) -> Any:
    """A table of a batch's ids and vectors."""
    import pyarrow as arrow

    texts = batch.column(field).to_pylist()
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise errors.InvalidArgument(f"{place}: text {index}: {field!r}: expected a text, found {type(text).__name__}")
    vectors = model.embed(texts, **how)
    made = {} if id_field is None else {id_field: batch.column(id_field)}
    made["vector"] = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.reshape(-1)), vectors.shape[1])
    return arrow.table(made)
