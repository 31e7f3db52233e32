# SPDX-License-Identifier: MIT
"""Each page of the repository is in the contents of the site, once, or is left out of it by name; ./dev docs checks the rest.

python tests/house/site.py [PAGE]: PAGE is a page that is there, too.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"


def left_out() -> list[str]:
    """What the site's configuration names."""
    for statement in ast.parse((SITE / "conf.py").read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "exclude_patterns":
            return ast.literal_eval(statement.value)
    sys.exit("docs/site/conf.py has no exclude_patterns")


def pages() -> set[str]:
    """The pages, without what is built."""
    found = set(sys.argv[1:])
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        found |= {str((Path(folder) / name).relative_to(ROOT)) for name in files if name.endswith(".md")}
    return {name for name in found if not any(name == part or name.startswith(f"{part}/") for part in left_out())}


def contents() -> list[str]:
    """The pages in the contents, which name them without .md; references are made, for all that there is."""
    trees = re.findall(r"^```\{toctree\}\n((?:.*\n)*?)```", (SITE / "index.md").read_text("utf-8"), re.MULTILINE)
    lines = [line for line in "".join(trees).splitlines() if line and not line.startswith(":") and "*" not in line]
    return [re.sub(r".*<(.*)>", r"\1", line) + ".md" for line in lines]


def main() -> None:
    """Compares both."""
    there, named = pages(), contents()
    twice = {name for name in named if named.count(name) > 1}
    if twice or set(named) != there:
        sys.exit(f"docs/site/index.md: lacks {sorted(there - set(named))}, names {sorted(set(named) - there)}, "
                 f"which are not there, and {sorted(twice)} twice")
    print(f"{len(named)} pages")


main()
