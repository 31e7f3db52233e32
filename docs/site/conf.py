# SPDX-License-Identifier: MIT
"""The site of ./dev docs: the repository's pages, and references of the headers and of the Python package.

It runs in a copy of the working tree (build/site-pages), where index.md of this folder is the first page.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from itertools import groupby
from pathlib import Path
from typing import Any

from weft import __version__, ops

HERE = Path(__file__).resolve().parent
HEADERS = HERE / "api" / "include"
SECTIONS = ("Args:", "Raises:", "Returns:", "Yields:")

project = html_title = f"Weft {__version__}"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["docs/site", "tests/data", "CODE_OF_CONDUCT.md"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = False
html_show_sphinx = html_show_copyright = False
smartquotes = False
html_extra_path = ["figures.html"]
breathe_projects = {"weft": str(HERE / "xml")}
breathe_default_project = "weft"
autodoc_mock_imports = ["ray", "torch"]
autodoc_typehints_format = "short"


def write_references() -> None:
    """A page for each header, and for each module of the package that is its own name space."""
    for folder in ("c", "python"):
        (HERE / folder).mkdir(exist_ok=True)
    for header in HEADERS.rglob("*.h"):
        name = header.relative_to(HEADERS)
        (HERE / "c" / f"{header.stem}.md").write_text(f"# {name}\n\n```{{doxygenfile}} {header.name}\n```\n")
    for module in ("weft", *(f"weft.{name}" for name in ("features", "flt", "nn", "ops", "ray", "torch_ops"))):
        directive = f".. automodule:: {module}\n   :members:"
        (HERE / "python" / f"{module}.md").write_text(f"# {module}\n\n```{{eval-rst}}\n{directive}\n```\n")


write_references()


def mend_links(app: Any, page: str, text: list[str]) -> None:
    """A link to a header leads to its reference; a folder, or a page that is not here, is named without a link."""
    def mend(found: re.Match[str]) -> str:
        target = (HERE / page).parent / found[2]
        if target.suffix == ".h" and HEADERS in target.resolve().parents:
            return f"[{found[1]}](/c/{target.stem}.md)"
        if target.resolve() == HEADERS / "weft":
            return f"[{found[1]}](/c/weft.md)"
        is_page = app.project.path2doc(str(target.resolve())) in app.project.docnames
        return found[0] if is_page or target.is_file() and target.suffix != ".md" or not target.exists() else found[1]
    if page == "index":  # moved here from docs/site
        text[0] = text[0].replace("](../../", "](")
    text[0] = re.sub(r"\[([^]]*)\]\(([^)#:\s]+)\)", mend, text[0])


def inline(text: str) -> str:
    """Code is as in Markdown, and nothing else is marked."""
    return re.sub(r"`([^`]+)`|([|*\\]|_\b)", lambda found: f"``{found[1]}``" if found[1] else "\\" + found[2], text)


def with_indentation(lines: list[str], docstring: str) -> list[str]:
    """Sphinx removes what all lines but the first begin with, also where these are all code: the last line says how much."""
    own = docstring.split("\n")
    if own[-1].strip() or cleandoc(docstring) != "\n".join(lines).strip():
        return lines
    return [own[0], *(line[len(own[-1]):] for line in own[1:])]


def read_docstring(_: Any, __: str, ___: str, thing: Any, ____: Any, lines: list[str]) -> None:
    """Docstrings have code as Markdown has it, and may have parameters without a heading."""
    made: list[str] = []
    lines[:] = with_indentation(lines, getattr(thing, "__doc__", None) or "")
    text = inline("\n".join(lines)).split("\n")
    for is_indented, group in groupby(range(len(lines)), lambda at: next(filter(str.strip, lines[at:]), "").startswith("  ")):
        block = list(group)
        first = next((lines[at] for at in block if lines[at].strip()), "")
        if is_indented and re.match(r" {4}\w+: ", first) and not made[-1].endswith(":"):
            made += ["", "Args:"]
        elif is_indented and not made[-1].endswith(SECTIONS):
            made += ["", "::", "", *(lines[at] for at in block), ""]
            continue
        made += [text[at] for at in block if lines[at] or made[-1:] != ["Args:"]]
    lines[:] = made


def skip_twice(app: Any, _: str, name: str, __: Any, skip: bool, ___: Any) -> bool | None:
    """The ops, which are in weft, too, have a page of their own."""
    return True if app.env.docname == "python/weft" and name in ops.__all__ else None


def setup(app: Any) -> None:
    """Connects the functions above: Sphinx calls this."""
    app.connect("source-read", mend_links)
    app.connect("autodoc-process-docstring", read_docstring, priority=1)
    app.connect("autodoc-skip-member", skip_twice)
