# SPDX-License-Identifier: MIT
"""What a stranger does with the wheel: five lines, an answer. Run by ./dev wheel, without pytest and without the repository's
build; the repository gives the model alone."""

import pathlib
import tempfile
import time

begin = time.perf_counter()
import weft  # noqa: E402

imported = time.perf_counter()
folder = pathlib.Path(__file__).resolve().parents[3] / "api" / "examples" / "models" / "langid1024-fmmformer"
answer = weft.load(folder)("Ceci est une phrase en français, et la réponse devrait donc être le français. " * 3)
if answer.label != "fr":
    raise SystemExit(f"expected fr, found {answer}")
where = pathlib.Path(weft.__file__).parent
if (where / "weft-kernels").is_dir():  # made on this kind of processor
    with tempfile.TemporaryDirectory() as empty, weft.Device("processor", cache_dir=empty) as device:
        text = (folder.parent / "langid" / "samples" / "vi.txt").read_text("utf-8")
        weft.load(weft.example("languages"), device=device)(text)
        compiled = device.stats().pipelines_compiled
    if compiled != 0:
        raise SystemExit(f"the kernels of langid come with the wheel, and {compiled} of its were compiled")
if weft.load(weft.example("terms")).generate("compiler: ", tokens=1) == "":
    raise SystemExit("the model of terms wrote nothing")
print(f"{where}: imported in {imported - begin:.3f} s, an answer after {time.perf_counter() - begin:.2f} s: {answer}")
