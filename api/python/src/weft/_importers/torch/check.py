# SPDX-License-Identifier: MIT
"""Whether what torch.export traced is what the module computes: at the example, and where a size is 1."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Interpreter, Node
from torch.utils import _pytree as pytree

from ... import errors
from .reader import NOTHING, ROWS, SIZE_OPS, Refusals, place_of, target_name
from .types import draws

_MOST_TOGETHER = 3  # symbols of which all sets are tried
_NEAR = 1e-3  # of the largest number: ops that are decomposed round in another order


class Differs(Exception):
    """What the module and its graph do not have in common."""


class Called:
    """A module, the arguments that it was exported with, and the names of their axes."""

    def __init__(self, module: torch.nn.Module, exported: Any, args: Sequence[Any], kwargs: Mapping[str, Any],
                 names: Sequence[Mapping[int, str]]) -> None:
        self._module, self._exported, self._names = module, exported, names
        self._leaves, self._spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        self._draws = any(draws(node) for node in exported.graph.nodes)  # which the reader refuses

    def check_state(self) -> None:
        """Raises Unsupported where a call changes what the next one gives."""
        if self._draws:
            return
        given, name = self._given({}), type(self._module).__name__
        try:
            expected, again, traced = self._eager(given), self._eager(given), self._graph(given)
        except Exception as error:  # whatever forward makes of the example, which export did not compute with
            raise errors.Unsupported(f"{name}: forward fails on the example: {type(error).__name__}: {error}") from error
        try:
            _compare(expected, again)
            _compare(expected, traced)
        except Differs as error:
            raise errors.Unsupported(
                f"{name}: {error} in two calls with the same inputs, or in its export: forward keeps "
                "something from one call to the next, or reads what is no input: a program has neither state, nor random "
                "numbers, nor clocks") from error

    def never_one(self, symbols: Mapping[Any, str], one_sized: set[str]) -> set[str]:
        """Of the symbols those for whose size 1 the module computes something else than what was traced.

        Raises Unsupported for one of `one_sized`, which have the size 1 in the example."""
        found: set[str] = set()
        if self._draws:
            return found
        names = sorted({name for expression, name in symbols.items() if self._low(expression) <= 2})
        counts = range(1, len(names) + 1) if len(names) <= _MOST_TOGETHER else (1, len(names))
        for chosen in itertools.chain.from_iterable(itertools.combinations(names, count) for count in counts):
            if not found & set(chosen) and not self._holds(chosen):
                found |= set(chosen)
        for name in sorted(found & one_sized):
            raise errors.Unsupported(
                f"dynamic: {name}: the example has the size 1, for which {type(self._module).__name__} computes something else "
                "than for others: give an example of 2, or leave it out of `dynamic`")
        return found

    def _low(self, expression: Any) -> int:
        found = self._exported.range_constraints.get(expression)
        return 1 if found is None else int(found.lower)

    def _holds(self, ones: Sequence[str]) -> bool:
        given = self._given(dict.fromkeys(ones, 1))
        others = [_other(part) for part in given]
        try:
            for one in [given, others] if any(a is not b for a, b in zip(given, others)) else [given]:
                _compare(self._eager(one), self._graph(one))
        except Exception:  # whatever either makes of such a size
            return False
        return True

    def _given(self, sizes: Mapping[str, int]) -> list[Any]:
        """The tensors and numbers in the arguments, cut to sizes."""
        found = []
        for one, axes in zip(self._leaves, self._names):
            for axis, name in axes.items():
                one = one.narrow(axis, 0, sizes[name]) if name in sizes else one
            found.append(one)
        return found

    def _eager(self, given: Sequence[Any]) -> list[Any]:
        copies = pytree.tree_map_only(torch.Tensor, lambda part: part.detach().clone(), list(given))
        args, kwargs = pytree.tree_unflatten(copies, self._spec)
        with torch.no_grad(), _as_exported():
            return list(pytree.tree_leaves(self._module(*args, **kwargs)))

    def _graph(self, given: Sequence[Any]) -> list[Any]:
        leaves = iter(given)
        inputs = []
        for spec in self._exported.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                inputs.append(next(leaves))
            else:
                tensor = self._exported.constants.get(spec.target)
                inputs.append(self._exported.state_dict[spec.target] if tensor is None else tensor)
        with torch.no_grad():
            return list(_Graph(self._exported.graph_module).run(*inputs))[len(written_inputs(self._exported)):]


class _Graph(Interpreter):
    """Runs an exported graph, whose results must have the shapes that were traced."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._sizes: dict[Any, int] = {}

    def run_node(self, n: Node) -> Any:
        found = super().run_node(n)
        for part, traced in zip(_parts(found), _parts(n.meta.get("val"))):
            if isinstance(part, torch.Tensor) and isinstance(traced, torch.Tensor):
                self._check_shape(part.shape, traced.shape, n.op == "placeholder")
        return found

    def _check_shape(self, found: Sequence[int], traced: Sequence[Any], given: bool) -> None:
        if len(found) != len(traced):
            raise Differs("a shape differs")
        for extent, size in zip(found, traced):
            expression = size.node.expr if isinstance(size, torch.SymInt) else None
            if expression is not None and given and expression.is_Symbol:
                self._sizes.setdefault(expression, extent)
            wanted = size if expression is None else expression.subs(self._sizes)
            if (expression is None or wanted.is_Integer) and int(wanted) != extent:
                raise Differs("a shape differs")


def written_inputs(exported: Any) -> list[str]:
    """Inputs that forward writes into, whose new numbers an exported graph gives before its results."""
    return [spec.target for spec in exported.graph_signature.output_specs if spec.kind.name == "USER_INPUT_MUTATION"]


def check_mutations(exported: Any) -> None:
    """Raises Unsupported naming the buffers and parameters that forward changes."""
    _check_effects(exported)
    what = {"BUFFER_MUTATION": "buffer", "PARAMETER_MUTATION": "parameter"}
    nodes = {node.name: node for node in exported.graph.nodes}
    refusals = Refusals()
    for spec in exported.graph_signature.output_specs:
        kind = spec.kind.name
        if kind in ("USER_OUTPUT", "USER_INPUT_MUTATION"):
            continue
        name = f"{what[kind]} {spec.target}" if kind in what else kind.lower()
        node = nodes.get(getattr(spec.arg, "name", ""))
        refusals.add(name, place_of(node) if node is not None else "")
    refusals.check("forward changes what a program cannot, as it keeps nothing from one call to the next",
                   "tensors that forward changes, which a program cannot, as it keeps nothing from one call to the next")


def _check_effects(exported: Any) -> None:
    """Raises Unsupported naming ops that torch.export keeps in their order, such as checks that raise, and others that are
    missing."""
    if all(spec.kind.name != "TOKEN" for spec in exported.graph_signature.output_specs):
        return
    refusals = Refusals()
    for node in exported.graph.nodes:
        has_effects = node.op == "call_function" and target_name(node) == "with_effects"
        name = str(node.args[1]) if has_effects else target_name(node)
        if node.op == "call_function" and name not in ROWS and name not in NOTHING and node.target not in SIZE_OPS:
            refusals.note(node, f"{name}: there is no such op")
    refusals.check()


@contextlib.contextmanager
def unchanged(module: torch.nn.Module) -> Iterator[None]:
    """Attributes of a module and its parts are afterwards what they were."""
    kept = [(part, dict(vars(part)), _contents(vars(part))) for part in module.modules()]
    try:
        yield
    finally:
        for part, fields, contents in kept:
            vars(part).clear()
            vars(part).update(fields)
            for one, content in contents:
                one.clear()
                one.update(content) if isinstance(one, dict) else one.extend(content)


def _contents(fields: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Lists and dictionaries among fields, with copies."""
    return [(one, one.copy()) for one in fields.values() if type(one) in (list, dict)]


@contextlib.contextmanager
def _as_exported() -> Iterator[None]:
    """Without the short cuts of PyTorch's that export does not take: they write zeros where a token is padding."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _other(part: Any) -> Any:
    """Other numbers in place of those of the example, which may hide a difference."""
    if not isinstance(part, torch.Tensor) or not part.is_floating_point():
        return part
    generator = torch.Generator(part.device).manual_seed(1)
    return torch.randn(part.shape, generator=generator, dtype=part.dtype, device=part.device)


def _parts(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _compare(expected: Sequence[Any], found: Sequence[Any]) -> None:
    """Raises Differs where results are not the same but for rounding."""
    if len(expected) != len(found):
        raise Differs("the number of results differs")
    for at, (one, other) in enumerate(zip(expected, found)):
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            if one.shape != other.shape or not _near(one, other):
                raise Differs(f"result {at} differs")
        elif isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor) or one != other:
            raise Differs(f"result {at} differs")


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not one.is_floating_point() and not one.is_complex():
        return bool(torch.equal(one, other))
    finite = one[torch.isfinite(one)]
    size = float(finite.abs().max()) if finite.numel() else 0.0
    return bool(torch.allclose(one, other, rtol=0.0, atol=_NEAR * size + 1e-30, equal_nan=True))
