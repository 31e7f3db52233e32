# SPDX-License-Identifier: MIT
"""torch.export with names for the sizes that vary, and a program of what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ... import errors
from ..program.program import Program
from . import arithmetic, mixers, movement, networks, recurrent
from .check import Called, check_mutations, unchanged
from .reader import NOTHING, ROWS, SIZE_OPS, Reader, target_name

assert arithmetic and movement and networks and mixers and recurrent  # they have filled ROWS

_MOST_ROUNDS = 6  # of decomposing what has no row


def program_of(module: torch.nn.Module, example_inputs: Sequence[Any], kwargs: Mapping[str, Any], dynamic: Any) -> Program:
    """The program of a module that was called with such inputs. See weft.from_torch."""
    given = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    names = _named_axes(module, given, kwargs, dynamic)
    with unchanged(module):
        module.eval()
        return _program_of(module, given, kwargs, names)


def _program_of(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any],
                names: list[dict[int, str]]) -> Program:
    wide = [_longer(one, axes) for one, axes in zip([*args, *kwargs.values()], names)]
    positional, keywords = tuple(wide[:len(args)]), dict(zip(kwargs, wide[len(args):]))
    exported = _exported(module, positional, keywords, names)
    check_mutations(exported)
    symbols, examples = _symbols(exported, names)
    called = Called(module, exported, positional, keywords, names)
    called.check_state()
    one_sized = {name for one, axes in zip([*args, *kwargs.values()], names) for axis, name in axes.items()
                 if one.shape[axis] == 1}
    program = Reader(exported, symbols, examples, called.never_one(symbols, one_sized)).read()
    _check_example(program, [*args, *kwargs.values()])
    return program


def _check_example(program: Program, given: Sequence[Any]) -> None:
    """Raises Unsupported where the program would refuse what it was made with."""
    most = program.largest
    for one in given if most is not None else ():
        if isinstance(one, torch.Tensor) and one.dtype in (torch.int64, torch.int32) and one.numel():
            found = max(-int(one.min()), int(one.max()))
            if most is not None and found > most:
                raise errors.Unsupported(f"the example: expected whole numbers from -{most} to {most}, found {found}: what the "
                                         "module computes of them has 64 bits, and 32 in a program")


def _named_axes(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic: Any) -> list[dict[int, str]]:
    """Of each argument, the axes that vary and the names of their sizes."""
    given = [*args, *kwargs.values()]
    if dynamic is None:
        return [{0: "batch"} if isinstance(one, torch.Tensor) and one.dim() > 0 else {} for one in given]
    order = _argument_names(module, args, kwargs)
    if isinstance(dynamic, Mapping):
        unknown = set(dynamic) - set(order)
        if unknown:
            raise errors.InvalidArgument(f"dynamic: expected names of arguments, {', '.join(order)}, found "
                                         f"{', '.join(map(repr, sorted(map(str, unknown))))}")
        dynamic = [dynamic.get(name) for name in order]
    if len(dynamic) != len(given):
        raise errors.InvalidArgument(f"dynamic: expected one entry for each of {len(given)} inputs, found {len(dynamic)}")
    return [_axes_of(one, axes) for one, axes in zip(given, dynamic)]


def _argument_names(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    import inspect

    parameters = list(inspect.signature(module.forward).parameters.values())
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    names += [f"args_{at}" for at in range(len(args) - len(names))]
    return [*names[:len(args)], *kwargs]


def _axes_of(one: Any, axes: Any) -> dict[int, str]:
    """{axis: name} of {axis: name or Dim} or a list of them."""
    pairs = axes.items() if isinstance(axes, Mapping) else enumerate(axes or ())
    found = {}
    for axis, name in pairs:
        if name is None:
            continue
        text = name if isinstance(name, str) else getattr(name, "__name__", None)
        if not isinstance(text, str) or not text.isidentifier():
            raise errors.InvalidArgument(f"dynamic: expected a name for axis {axis}, found {name!r}")
        if not isinstance(one, torch.Tensor) or not -one.dim() <= axis < one.dim():
            raise errors.InvalidArgument(f"dynamic: axis {axis} ({text}): the input has no such axis")
        found[axis % one.dim()] = text
    return found


def _exported(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], names: list[dict[int, str]]) -> Any:
    shapes = [{axis: torch.export.Dim.DYNAMIC for axis in axes} or None for axes in names]
    by_name = dict(zip(_argument_names(module, args, kwargs), shapes))
    if any(name.startswith("args_") for name in by_name):
        by_name = (tuple(shapes[:len(args)]), *shapes[len(args):])  # type: ignore[assignment]
    try:
        with recurrent.kept_whole():
            return _decomposed(torch.export.export(module, args, dict(kwargs), dynamic_shapes=by_name))
    except errors.WeftError:
        raise
    except Exception as error:  # whatever PyTorch makes of a module that it cannot trace
        raise errors.Unsupported(f"{type(module).__name__}: torch.export: {error}") from error


def _longer(one: Any, axes: Mapping[int, str]) -> Any:
    """An example whose varying axes have at least two elements: PyTorch takes 1 for a fixed size."""
    for axis in axes:
        if one.shape[axis] == 1:
            one = torch.cat([one, one], axis)
    return one


def _decomposed(exported: Any) -> Any:
    exported = exported.run_decompositions({})
    table = torch.export.default_decompositions()
    for _ in range(_MOST_ROUNDS):
        missing = {node.target for node in exported.graph.nodes if node.op == "call_function" and _lacks(node)}
        known = {target: table[target] for target in missing if target in table}
        if not known:
            break
        exported = exported.run_decompositions(known)
    return exported


def _lacks(node: Any) -> bool:
    name = target_name(node)
    return name not in ROWS and name not in NOTHING and node.target not in SIZE_OPS


def _symbols(exported: Any, names: list[dict[int, str]]) -> tuple[dict[Any, str], dict[str, int]]:
    """What each symbol of PyTorch's is called, and the sizes of the examples."""
    users = set(exported.graph_signature.user_inputs)
    nodes = [node for node in exported.graph.nodes if node.op == "placeholder" and node.name in users]
    found: dict[Any, str] = {}
    examples: dict[str, int] = {}
    for node, axes in zip(nodes, names):
        value = node.meta.get("val")
        for axis, name in axes.items():
            extent = value.shape[axis]
            if not isinstance(extent, torch.SymInt):
                raise errors.Unsupported(f"{node.name}: axis {axis} ({name}) is always {extent} in this module")
            if extent.node.expr.is_Symbol and extent.node.expr not in found:
                found[extent.node.expr] = name
                examples.setdefault(name, int(extent.node.hint))
    return found, examples
