# SPDX-License-Identifier: MIT
"""Images of models that read them: bytes become pixel values as preprocessor_config.json says, and these vectors and labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _array, _core, _texts, errors
from ._core import check, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .model import Model, ModelInfo

    F32 = npt.NDArray[np.float32]

_LARGEST_BATCH = 16
_MOST_PIXELS = 16384 * 16384  # as an image of the longest edges that a file may ask for


class Rules:
    """What becomes of an image's bytes before a model reads them: read when the model is loaded."""

    def __init__(self, folder: str) -> None:
        self._error: errors.WeftError | None = None
        self._rules = ffi.new("weft_image_rules *")
        try:
            check(lib.weft_image_rules_read(self._rules, os.fsencode(folder), _core.host))
        except errors.WeftError as error:
            self._error = error

    def get(self) -> Any:
        """The weft_image_rules. Raises what reading them raised."""
        if self._error is not None:
            raise type(self._error)(f"{self._error}: give float arrays [n, channels, height, width], which are read as they "
                                    "are") from self._error
        return self._rules


def pixels(model: Model, images: Any) -> tuple[F32, bool]:
    """Pixel values f32 [n, channels, height, width], and whether one image was given, without that axis."""
    import numpy as np

    info = model.info
    shape = (info.image_channels, info.image_size, info.image_size)
    if isinstance(images, (list, tuple)):
        if not images:
            return np.empty((0, *shape), np.float32), False
        return np.stack([_one(model, image, index) for index, image in enumerate(images)]), False
    if _is_pillow(images):
        return _one(model, images, 0)[None], True
    array = _array._plain(images, "images")
    if array.dtype.kind == "f":
        single = array.ndim == 3
        values = _array.f32(array[None] if single else array, "images")
        if values.ndim != 4 or values.shape[1:] != shape:
            raise errors.ShapeMismatch(f"images: expected pixel values {['n', *shape]}, as the model reads them, found shape "
                                       f"{list(array.shape)}")
        return values, single
    if array.ndim == 4:
        return np.stack([_one(model, image, index) for index, image in enumerate(array)]), False
    return _one(model, array, 0)[None], True


def _is_pillow(image: Any) -> bool:
    return hasattr(image, "convert") and hasattr(image, "resize") and hasattr(image, "mode")


def _one(model: Model, image: Any, index: int) -> F32:
    """Pixel values of an image of Pillow, or of an array of bytes, or those of a float array as they are."""
    info = model.info
    shape = (info.image_channels, info.image_size, info.image_size)
    array = None if _is_pillow(image) else _array._plain(image, f"image {index}")
    if array is not None and array.dtype.kind == "f":
        values = _array.f32(array, f"image {index}")
        _expect_shape(values.shape, shape, index)
        return values
    rules = _rules_of(model).get()
    picture = _converted(rules, _pillow(image, array, index), index)
    _expect_shape(_prepared_shape(rules, picture, index), shape, index)  # before there is memory for it
    return _prepared(rules, picture, index)


def _expect_shape(found: tuple[int, ...], shape: tuple[int, ...], index: int) -> None:
    if found != shape:
        raise errors.ShapeMismatch(f"image {index}: expected pixel values {list(shape)}, as the model reads them, found "
                                   f"{list(found)}")


def _rules_of(model: Model) -> Rules:
    if model._rules is None:
        raise errors.Unsupported("images: expected a model of a folder, whose preprocessor_config.json says what becomes of "
                                 "images: give float arrays [n, channels, height, width], which are read as they are")
    return model._rules


def _pillow(image: Any, array: Any, index: int) -> Any:
    """An image of Pillow."""
    try:
        import PIL.Image
    except ImportError as error:
        raise errors.Unsupported("images: Pillow prepares them, and it is not installed: pip install pillow; or give float "
                                 "arrays [n, channels, height, width], which are read as they are") from error
    if array is None:
        return image
    if array.dtype != "uint8" or not array.size or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        raise errors.ShapeMismatch(f"image {index}: expected an image of Pillow, an array uint8 [height, width, 3] or float "
                                   f"pixel values, found {array.dtype} {list(array.shape)}")
    return PIL.Image.fromarray(array)


def _converted(rules: Any, image: Any, index: int) -> Any:
    """An image of the channels that its values are of."""
    if rules.converts_rgb:
        return image.convert("RGB")
    if image.mode not in ("RGB", "L"):
        raise errors.InvalidArgument(f"image {index}: expected an image of mode RGB or L, as do_convert_rgb is not true, found "
                                     f"mode {image.mode}: image.convert(\"RGB\") makes one")
    return image


def _prepared_shape(rules: Any, image: Any, index: int) -> tuple[int, ...]:
    """That of what _prepared makes of an image that it can have memory for."""
    width, height = image.size
    if not width or not height:
        raise errors.InvalidArgument(f"image {index}: expected at least one pixel, found height {height} and width {width}")
    if rules.resizes:
        wide, high = _size(rules, width, height)
        if wide * high > _MOST_PIXELS:
            raise errors.InvalidArgument(f"image {index}: expected at most {_MOST_PIXELS} pixels behind the resizing of "
                                         f"preprocessor_config.json, found height {high} and width {wide}, made of height "
                                         f"{height} and width {width}")
        width, height = wide, high
    if rules.crops:
        width, height = rules.crop_width, rules.crop_height
    return len(image.getbands()), height, width


def _prepared(rules: Any, image: Any, index: int) -> F32:
    """What transformers' image processors, those that use Pillow, make of an image: f32 [channels, height, width]."""
    import numpy as np

    if rules.resizes:
        image = image.resize(_size(rules, *image.size), resample=rules.resampling)
    array = np.asarray(image)
    array = array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0)
    if rules.crops:
        array = _cropped(array, rules.crop_height, rules.crop_width)
    values: F32 = (array.astype(np.float64) * rules.rescale_factor if rules.rescales else array).astype(np.float32)
    if rules.normalizes:
        if rules.channels != len(values):
            raise errors.InvalidArgument(f"image {index}: expected {rules.channels} channels, as image_mean has, found "
                                         f"{len(values)}")
        mean, deviation = (np.array(list(numbers[0:rules.channels]), np.float32)[:, None, None]
                           for numbers in (rules.mean, rules.std))
        values = (values - mean) / deviation
    return values


def _size(rules: Any, width: int, height: int) -> tuple[int, int]:
    """Width and height behind the resizing."""
    if not rules.shortest_edge:
        return rules.width, rules.height
    short, long = min(width, height), max(width, height)
    longer = int(rules.shortest_edge * long / short)
    return (rules.shortest_edge, longer) if width <= height else (longer, rules.shortest_edge)


def _cropped(array: Any, height: int, width: int) -> Any:
    """The middle of an image [c, h, w], with zeros around where it is smaller."""
    import numpy as np

    found = np.zeros((len(array), height, width), array.dtype)
    rows, columns = (_overlap(there, wanted) for there, wanted in ((array.shape[1], height), (array.shape[2], width)))
    found[:, rows[1], columns[1]] = array[:, rows[0], columns[0]]
    return found


def _overlap(there: int, wanted: int) -> tuple[slice, slice]:
    """Which of so many are in the middle, and where that is among those that are wanted."""
    if there >= wanted:
        first = (there - wanted) // 2
        return slice(first, first + wanted), slice(0, wanted)
    before = (wanted - there + 1) // 2  # more zeros are before it than behind it, as in transformers
    return slice(0, there), slice(before, before + there)


# ---- what models make of them ----


def tower_of(model: Model) -> Model:
    """The model that reads images: itself, or its tower."""
    if model.info.image_size:
        return model
    if not model.info.similarity_scale:
        raise errors.Unsupported(f"expected a model that reads images, found {model.info.architecture}")
    return model.image_tower


def rows(model: Model, values: F32, batch_size: int | None) -> F32:
    """The model's output for each image, a batch after the other."""
    import numpy as np

    if not len(values):
        return np.empty((0, *_row_shape(model.info)), np.float32)
    return np.concatenate([model.logits(batch) for batch in _batches(values, batch_size or _LARGEST_BATCH)])


def _row_shape(info: ModelInfo) -> tuple[int, ...]:
    return {"embed": (info.embedding_size,), "hidden": (info.exact_length, info.hidden_size)}.get(info.task,
                                                                                                   (info.label_count,))


def _batches(values: F32, size: int) -> Iterator[F32]:
    for first in range(0, len(values), size):
        yield values[first:first + size]


def embed(model: Model, images: Any, pooling: str | None, normalize: bool, batch_size: int | None) -> F32:
    """Vectors f32 [n, d], or [d] of one image."""
    tower = tower_of(model)
    values, single = pixels(tower, images)
    with tower._texts_lock:
        _texts.set_vectors(tower, pooling, normalize, "")
        found = rows(tower, values, batch_size)
    return found[0] if single else found


def similarity(model: Model, texts: Any, images: Any) -> F32:
    """The logits of texts and images, f32 [texts, images]."""
    import numpy as np

    from . import _similarity

    if not model.info.similarity_scale:
        raise errors.Unsupported(f"similarity: expected a model with a tower of texts and one of images, found "
                                 f"{model.info.architecture}")
    given = [texts] if isinstance(texts, str) else texts
    words = model.embed(given) if isinstance(given, Sequence) and all(isinstance(text, str) for text in given) \
        else model.logits(given)
    pictures = model.embed_images(images)
    cosines = _similarity.of("cosine", words.astype(np.float64), pictures, False)
    found: F32 = (cosines * model.info.similarity_scale + model.info.similarity_bias).astype(np.float32)
    return found
