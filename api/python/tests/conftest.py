# SPDX-License-Identifier: MIT
"""What the tests of the package share."""

import base64
import os
import pathlib

import pytest

import weft

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ROOT / "api" / "examples" / "models"
DATA = ROOT / "api" / "examples" / "data"
DRIVERS = pathlib.Path(os.environ.get("WEFT_DRIVERS_DIR", ROOT / "build" / "deps" / "drivers"))


def vulkan_settings(*names):
    """Environments, each with one driver of those that `./dev setup` makes: the first, and for `./dev test cases` all."""
    found = []
    for name in names if os.environ.get("WEFT_TEST_EVERY_DRIVER") == "1" else names[:1]:
        manifest, more = DRIVERS / f"{name}.json", DRIVERS / f"{name}.env"
        given = dict(line.split("=", 1) for line in more.read_text().split()) if more.is_file() else {}
        skipped = () if manifest.is_file() else pytest.mark.skip(f"there is no {manifest}")
        found.append(pytest.param({"VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest), "WEFT_PROCESSOR": "0",
                                   **given}, id=name, marks=skipped))
    return found


@pytest.fixture(scope="session")
def device():
    """The processor where it is a device, or else what the machine prefers."""
    name = "processor" if any(info.type == "processor" for info in weft.devices()) else None
    with weft.Device(name) as opened:
        yield opened


@pytest.fixture(scope="session")
def langid(device):
    """A classifier of bytes: FNet."""
    return weft.load(MODELS / "langid", device)


@pytest.fixture(scope="session")
def classifier(device):
    """A classifier of bytes whose kernels are the same for all lengths: FMMformer."""
    return weft.load(MODELS / "langid1024-fmmformer", device)


@pytest.fixture(scope="session")
def text_model(device):
    """A language model of bytes with a recurrence: FMMformer."""
    return weft.load(MODELS / "text-fmmformer", device)


def sentencepiece_rules():
    """SentencePiece's rules in its file for tests: the field behind the name of its normalizer, of two bytes of size."""
    file = (ROOT / "tests" / "data" / "tokenizer" / "spiece.model").read_bytes()
    at = file.index(b"user_defined") + len("user_defined")
    field, low, high = file[at:at + 3]
    assert field == 2 << 3 | 2 and low >= 128 > high
    return base64.b64encode(file[at + 3:at + 3 + low - 128 + (high << 7)]).decode("ascii")
