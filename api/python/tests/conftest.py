# SPDX-License-Identifier: MIT
"""What the tests of the package share."""

import pathlib

import pytest

import weft

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ROOT / "api" / "examples" / "models"
DATA = ROOT / "api" / "examples" / "data"


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
