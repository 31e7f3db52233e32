# SPDX-License-Identifier: MIT
"""torch.export with names for the sizes that vary, and a program of what it gives."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ... import errors
from ..program.program import Program
from . import arithmetic, fourier, functions, mixers, movement, networks, pooling, recurrent, resampling, scatter, selective
from .check import Called, check_mutations, unchanged, written_inputs
from .inplace import has_writes, reached_by_inputs
from .reader import NOTHING, ROWS, SIZE_OPS, Reader, target_name
from .traced import masks_as_they_are, nothing_printed, numbers_known, tensors_alone

# They have filled ROWS.
assert (arithmetic and fourier and functions and mixers and movement and networks and pooling and recurrent and resampling
        and scatter and selective)

_BY_NUMBERS = "data-dependent"  # in what PyTorch says of a branch, or a size, by what a tensor holds
_MOST_ROUNDS = 6  # of decomposing what has no row


def program_of(module: torch.nn.Module, example_inputs: Any, kwargs: Mapping[str, Any], dynamic: Any) -> Program:
    """The program of a module that was called with such inputs. See weft.from_torch."""
    if isinstance(module, torch.jit.ScriptModule):
        raise errors.Unsupported(f"{type(module).__name__}: this is TorchScript, which torch.export does not take: give the "
                                 "module that it was made of, or its ONNX file to weft.from_onnx")
    args, kwargs = _arguments(module, example_inputs, kwargs)
    names = _named_axes(module, args, kwargs, dynamic)
    try:
        with unchanged(module):
            module.eval()
            return _program_of(module, args, kwargs, names, dynamic is None)
    except errors.WeftError:
        raise
    except Exception as error:  # whatever else PyTorch or a row makes of a module
        raise errors.Unsupported(f"{type(module).__name__}: {type(error).__name__}: {error}") from error


def _arguments(module: torch.nn.Module, example_inputs: Any,
               kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Those by place and by keyword. A dictionary is one argument, unless its keys are parameters of forward."""
    given = _plain(example_inputs)
    if isinstance(given, dict) and given and set(given) <= set(_parameters(module)):
        return (), {**given, **kwargs}
    args = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    return args, {name: _plain(one) for name, one in kwargs.items()}


def _plain(given: Any) -> Any:
    """With dictionaries in place of other mappings, such as what a tokenizer of transformers gives."""
    if isinstance(given, Mapping):
        return {key: _plain(one) for key, one in given.items()}
    return type(given)(map(_plain, given)) if type(given) in (list, tuple) else given


def _program_of(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any],
                names: list[dict[int, str]], by_default: bool) -> Program:
    leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
    leaves, name = _apart(leaves), type(module).__name__
    with tensors_alone(module) as left_out:
        try:
            program, written = _traced(module, leaves, spec, names)
        except errors.Unsupported as refusal:
            reason = _of_sizes(str(refusal))
            if not by_default or not any(names) or not reason:
                raise
            try:
                program, written = _traced(module, leaves, spec, [{} for _ in names])
            except errors.Unsupported:
                raise refusal from None
            warnings.warn(f"{name}: {reason}, so the program has the batch of the example", stacklevel=5)
    if written:
        warnings.warn(f"{name}: forward writes into its inputs ({', '.join(written)}): a program leaves its inputs as they are",
                      stacklevel=5)
    if left_out:
        found = ", ".join(f"{one} ({kind})" for one, kind in left_out.items())
        warnings.warn(f"{name}: a program gives tensors alone, and leaves out {found}", stacklevel=5)
    return program


_SIZED = ("no number", "varies", "depends on the sizes", "depend on the sizes")


def _of_sizes(refusal: str) -> str:
    """Why the example's own sizes may do where free ones are refused; "" where they cannot."""
    lines = refusal.splitlines()
    if "torch.export: " in lines[0] or "is always" in lines[0]:
        return "it fixes the first axis of its inputs"
    reasons = [line.strip() for line in lines if any(word in line for word in _SIZED)]
    return f"any batch is refused ({reasons[0]})" if reasons else ""


def _traced(module: torch.nn.Module, leaves: Sequence[Any], spec: Any,
            names: list[dict[int, str]]) -> tuple[Program, list[str]]:
    """The program, and the inputs that forward writes into."""
    positional, keywords, exported = _exported_with(module, leaves, spec, names)
    symbols, examples = _symbols(exported, names)
    check_mutations(exported)
    called = Called(module, exported, positional, keywords, names)
    called.check_state()
    one_sized = {name for one, axes in zip(leaves, names) for axis, name in axes.items() if one.shape[axis] == 1}
    program = Reader(exported, symbols, examples, called.never_one(symbols, one_sized)).read()
    _check_example(program, leaves)
    return program, written_inputs(exported)


def _exported_with(module: torch.nn.Module, leaves: Sequence[Any], spec: Any,
                   names: list[dict[int, str]]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Example arguments of which no varying axis is 1, and what torch.export makes of the module with them."""
    args, kwargs = pytree.tree_unflatten([_longer(one, axes) for one, axes in zip(leaves, names)], spec)
    return args, kwargs, _exported(module, args, kwargs, names)


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
    """Of each tensor in the arguments, the axes that vary and the names of their sizes."""
    given = [*args, *kwargs.values()]
    if dynamic is None:
        return _batches(pytree.tree_leaves(given))
    order = _argument_names(module, args, kwargs)
    if isinstance(dynamic, Mapping):
        unknown = set(dynamic) - set(order)
        if unknown:
            raise errors.InvalidArgument(f"dynamic: expected names of arguments, {', '.join(order)}, found "
                                         f"{', '.join(map(repr, sorted(map(str, unknown))))}")
        dynamic = [dynamic.get(name) for name in order]
    if not isinstance(dynamic, (list, tuple)):
        raise errors.InvalidArgument(f"dynamic: expected a dictionary or a list, found {dynamic!r}")
    if len(dynamic) != len(given):
        raise errors.InvalidArgument(f"dynamic: expected one entry for each of {len(given)} inputs, found {len(dynamic)}")
    return [axes for one, entry in zip(given, dynamic) for axes in _axes_inside(one, entry)]


def _batches(leaves: Sequence[Any]) -> list[dict[int, str]]:
    """The first axis of each tensor: "batch", and a name of its own for each other size; 1 among others is the same for all."""
    sizes = [one.shape[0] if isinstance(one, torch.Tensor) and one.dim() > 0 else 0 for one in leaves]
    several = [size for size in dict.fromkeys(sizes) if size > 1] or [1]
    names = {size: "batch" if at == 0 else f"batch_{at + 1}" for at, size in enumerate(several)}
    return [{0: names[size]} if size in names else {} for size in sizes]


def _axes_inside(one: Any, entry: Any) -> list[dict[int, str]]:
    """Of each tensor in an argument. {axis: name} of a list or a dictionary is for all tensors in it."""
    if not isinstance(one, (dict, list, tuple)):
        return [_axes_of(one, entry)]
    parts = one if isinstance(one, dict) else dict(enumerate(one))
    is_for_each = isinstance(entry, Mapping) and any(isinstance(key, str) for key in entry)
    if is_for_each and not set(entry) <= set(parts):
        raise errors.InvalidArgument(f"dynamic: expected keys of the input, {', '.join(map(str, parts))}, found "
                                     f"{', '.join(map(str, entry))}")
    if isinstance(entry, (list, tuple)):
        if len(entry) != len(parts):
            raise errors.InvalidArgument(f"dynamic: expected one entry for each of {len(parts)} parts, found {len(entry)}")
        entry, is_for_each = dict(zip(parts, entry)), True
    return [axes for key, part in parts.items() for axes in _axes_inside(part, entry.get(key) if is_for_each else entry)]


def _parameters(module: torch.nn.Module) -> list[str]:
    """The names of forward's parameters; of none where it does not say."""
    import inspect

    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except ValueError:  # of a function that Python has no text of
        return []
    return [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _argument_names(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    names = _parameters(module)
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
    leaves = iter({axis: torch.export.Dim.DYNAMIC for axis in axes} or None for axes in names)
    shapes = [pytree.tree_map(lambda _: next(leaves), one) for one in (*args, *kwargs.values())]
    by_name = dict(zip(_argument_names(module, args, kwargs), shapes))
    if any(name.startswith("args_") for name in by_name):
        named = len(_parameters(module))  # the others are those of *args, together
        by_name = (*shapes[:named], tuple(shapes[named:len(args)]), *shapes[len(args):])  # type: ignore[assignment]
    try:
        with recurrent.kept_whole(), selective.kept_whole(), masks_as_they_are(), nothing_printed():
            try:
                exported = torch.export.export(module, args, dict(kwargs), dynamic_shapes=by_name)
            except Exception as error:
                if _BY_NUMBERS not in str(error):
                    raise
                with numbers_known(module):
                    exported = torch.export.export(module, args, dict(kwargs), dynamic_shapes=by_name)
            return _decomposed(exported)
    except errors.WeftError:
        raise
    except Exception as error:  # whatever PyTorch makes of a module that it cannot trace
        raise errors.Unsupported(f"{type(module).__name__}: torch.export: {_told(error)}") from error


def _told(error: Exception) -> str:
    """What PyTorch says, without advice that is not for a caller of Weft's."""
    text = str(error)
    if not text:  # an assert without words
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {last.filename}:{last.lineno}: {last.line}"
    if _BY_NUMBERS in text:
        place = re.search(r"Caused by: \((.*)\)", text)
        where = f" ({place[1]})" if place else ""
        return (f"forward does one thing or another by numbers that its inputs hold{where}, and a program has one way: choose "
                "it by an argument of Python's, or leave the check out")
    if "Constraints violated" not in text and "ConstraintViolation" not in type(error).__name__:
        return text
    fixed = [line.strip(" -") for line in text.splitlines() if "marked" in line or "specialized" in line]
    return ("the module fixes a size that `dynamic` says varies: leave that axis out of `dynamic`, or give {} for the input: "
            + "; ".join(fixed or [text.splitlines()[0]]))


def _apart(leaves: Sequence[Any]) -> list[Any]:
    """Inputs, of which PyTorch takes those that are one tensor for one input."""
    seen: set[int] = set()
    apart = []
    for one in leaves:
        apart.append(one.clone() if isinstance(one, torch.Tensor) and id(one) in seen else one)
        seen.add(id(one))
    return apart


def _longer(one: Any, axes: Mapping[int, str]) -> Any:
    """An example whose varying axes have at least two elements: PyTorch takes 1 for a fixed size."""
    for axis in axes:
        if one.shape[axis] == 1:
            one = torch.cat([one, one], axis)
    return one


def _decomposed(exported: Any) -> Any:
    """Without ops that write into what they read, and those that have no row but are made of others."""
    if not has_writes(exported):
        reached = reached_by_inputs(exported)
        if not any(_lacks(node) for node in _calls(exported) if node in reached):
            return exported  # PyTorch's passes take several times as long as the export
    table = torch.export.default_decompositions()
    for _ in range(_MOST_ROUNDS):
        exported = exported.run_decompositions(_known(exported, table))
        if not _known(exported, table):
            break
    _allow_copies(exported)
    return exported


def _allow_copies(exported: Any) -> None:
    """Views of what PyTorch took for dense while it made ops of others, as einsum of a spectrum's parts, may have to copy."""
    for node in _calls(exported):
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.reshape.default
    exported.graph_module.recompile()


def _known(exported: Any, table: Mapping[Any, Any]) -> dict[Any, Any]:
    """How ops that have no row are made of others, where PyTorch knows."""
    missing = {node.target for node in _calls(exported) if _lacks(node)}
    return {target: table[target] for target in missing if target in table}


def _calls(exported: Any) -> list[Any]:
    return [node for node in exported.graph.nodes if node.op == "call_function"]


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
            if not isinstance(extent, torch.SymInt) or extent.node.expr.is_number:
                raise errors.Unsupported(f"{node.name}: axis {axis} ({name}) is always {extent} in this module")
            if extent.node.expr.is_Symbol and extent.node.expr not in found:
                found[extent.node.expr] = name
                examples.setdefault(name, int(extent.node.hint))
    return found, examples
