# SPDX-License-Identifier: MIT
"""Chat templates of model folders, by Jinja where it is installed."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any, NoReturn

from .. import errors
from .failure import Failure

_MOST_BYTES = 1 << 20
_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Template:
    """Makes one text of messages.

    Args:
        source: the template.
        tokens: special tokens by their names, such as bos_token.
    """

    def __init__(self, source: str, tokens: dict[str, str]) -> None:
        self._source, self._tokens = source, tokens
        self._compiled: Any = None

    def _template(self) -> Any:
        if self._compiled is None:
            try:
                from jinja2.sandbox import ImmutableSandboxedEnvironment
            except ImportError:
                raise Failure(400, "model: its chat template needs Jinja, which is not installed: pip install jinja2",
                              param="model", code="model_not_supported") from None
            # As transformers sets it up, for which these templates are written.
            environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                        extensions=["jinja2.ext.loopcontrols"])
            environment.filters["tojson"] = lambda value, **how: json.dumps(value, ensure_ascii=False, **how)
            environment.globals["raise_exception"] = _refuse
            environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
            self._compiled = environment.from_string(self._source)
        return self._compiled

    def text(self, messages: list[dict[str, Any]], answers: bool = True) -> str:
        """The text that a model continues, with an answer where one is wanted. Raises a Failure for messages that the template
        does not take."""
        try:
            found: str = self._template().render(messages=messages, add_generation_prompt=answers, tools=None, documents=None,
                                                 **self._tokens)
        except Failure:
            raise
        except Exception as error:  # whatever a template makes of messages
            raise Failure(400, f"messages: the model's chat template does not take them: {error}"[:500],
                          param="messages") from None
        return found


def _refuse(message: str) -> NoReturn:
    raise Failure(400, f"messages: {message}"[:500], param="messages")


def _read(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        found = file.read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise errors.BadFile(f"{path}: expected at most {_MOST_BYTES} characters")
    return found


def _fields_of(folder: str) -> dict[str, Any]:
    text = _read(folder, "tokenizer_config.json")
    try:
        found = json.loads(text) if text is not None else {}
    except (ValueError, RecursionError) as error:
        raise errors.BadFile(f"{os.path.join(folder, 'tokenizer_config.json')}: {error}") from None
    return found if isinstance(found, dict) else {}


def template_of(folder: str) -> Template | None:
    """That of a model's folder: chat_template.jinja, or the field chat_template of tokenizer_config.json, of several the one
    that is called default. None where there is none."""
    if not os.path.isdir(folder):
        return None
    fields = _fields_of(folder)
    source: Any = _read(folder, "chat_template.jinja") or fields.get("chat_template")
    if isinstance(source, list):
        source = next((one.get("template") for one in source if isinstance(one, dict) and one.get("name") == "default"), None)
    if not isinstance(source, str):
        return None
    tokens = {}
    for name in _TOKENS:
        value = fields.get(name)
        value = value.get("content") if isinstance(value, dict) else value
        if isinstance(value, str):
            tokens[name] = value
    return Template(source, tokens)
