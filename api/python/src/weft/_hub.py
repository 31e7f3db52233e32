# SPDX-License-Identifier: MIT
"""Folders of models by their names on the Hub, which huggingface_hub fetches where it is installed."""

from __future__ import annotations

import os
import re
from typing import Any

from . import _checks, errors

_NAME = r"[\w-][\w.-]*(/[\w-][\w.-]*)?"

_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_UNWANTED = ["onnx/*", "openvino/*", "*/onnx/*", "*/openvino/*"]


def folder_of(name_or_path: Any, organization: str, **how: Any) -> str:
    """The path of a folder, which is there or is fetched from the Hub.

    Args:
        name_or_path: a folder, or a name on the Hub. One without an organization is of `organization`, or of none.
        organization: whose models have the short names.
        how: cache_folder, revision, local_files_only and token, as sentence-transformers calls them.

    Raises NotFound, which says how to fetch it where huggingface_hub is not installed.
    """
    path = _checks.path(name_or_path, "model_name_or_path")
    if os.path.isdir(path):
        return path
    if os.path.exists(path):
        raise errors.InvalidArgument(f"model_name_or_path: expected a folder, or a name on the Hub, found the file {path}")
    if not re.fullmatch(_NAME, path):
        raise errors.NotFound(f"model_name_or_path: {path} is not there")
    names = [path] if "/" in path else [f"{organization}/{path}", path]
    try:
        import huggingface_hub
    except ImportError:
        raise errors.NotFound(
            f"model_name_or_path: {path} is no folder here. If it is a name on the Hub: pip install huggingface_hub, which "
            f"fetches it, or fetch it elsewhere with hf download {names[0]} --local-dir {os.path.basename(path)}, and give "
            "that folder") from None
    return _fetched(huggingface_hub, names, **how)


def _fetched(hub: Any, names: list[str], cache_folder: Any = None, revision: str | None = None, local_files_only: bool = False,
             token: Any = None) -> str:
    """The folder of the first of these names that the Hub, or its cache, has."""
    said: list[Exception] = []
    for name in names:
        try:
            return str(hub.snapshot_download(
                name, revision=revision, cache_dir=cache_folder or os.environ.get("SENTENCE_TRANSFORMERS_HOME"), token=token,
                local_files_only=local_files_only, allow_patterns=_WANTED, ignore_patterns=_UNWANTED))
        except (OSError, ValueError) as error:  # those of the Hub's own, and of the network, are among these
            said.append(error)
    first = str(said[0]).strip().splitlines() or [type(said[0]).__name__]
    raise errors.NotFound(f"model_name_or_path: {' and '.join(names)}: not there, and not to be had from the Hub: "
                          f"{first[0]}") from said[0]
