# SPDX-License-Identifier: MIT
"""What masks say that frameworks write out of positions: whole numbers of a program as functions of their coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

from .program import Node, Value
from .sizes import Extent, Undecided, decided


class Form(NamedTuple):
    """A sum of coordinates, each with a factor, and a constant. Coordinates of axes of one element are left out."""

    factors: tuple[Extent, ...]
    constant: Extent

    def plus(self, other: Form, sign: int = 1) -> Form:
        """The sum, or with -1 the difference."""
        factors = tuple(a + sign * b for a, b in zip(self.factors, other.factors))
        return Form(factors, self.constant + sign * other.constant)


Truth = Optional[Union[bool, list[Form]]]
"""When a condition holds: where all forms are at least 0; True and False: everywhere and nowhere; None: that is not known."""

_LOWEST = -1e30  # what is added to scores of pairs that do not count is below this


def shown_pairs(bias: Value) -> Truth:
    """Where what is added to scores [.., queries, keys], or a mask of truth values, leaves a pair of tokens as it is."""
    try:
        if bias.dtype == "i32":
            return _truth(bias)
        if bias.array is not None:
            shown_, hidden_ = bias.array == 0.0, bias.array <= _LOWEST
            return _of_array(shown_) if (shown_ | hidden_).all() else None
        while bias.node is not None and bias.node.op == "expand" and bias.node.inputs[0] is not None:
            bias = bias.node.inputs[0]
        node = bias.node
        if node is None or node.op != "where":
            return None
        condition, shown, hidden = node.inputs
        if condition is None or not _is_number(shown, 0.0, 0.0) or not _is_number(hidden, -float("inf"), _LOWEST):
            return None
        return _truth(condition)
    except Undecided:
        return None


def window(truth: Truth) -> tuple[bool, Extent | None] | None:
    """Of the pairs that are shown: whether none is behind its query, and how many tokens a key may be away, None: any number;
    where they are no more and no less than that says."""
    if truth is True:
        return False, None
    if not isinstance(truth, list):
        return None
    back: Extent | None = None  # queries see keys at most so many tokens before them
    ahead: Extent | None = None
    for form in truth:
        if any(factor != 0 for factor in form.factors[:-2]):
            return None
        if form.factors[-2:] == (1, -1):
            ahead = form.constant if ahead is None or _less(form.constant, ahead) else ahead
        elif form.factors[-2:] == (-1, 1):
            back = form.constant if back is None or _less(form.constant, back) else back
        else:
            return None
    if ahead == 0:
        return True, back
    return (False, back) if back is not None and ahead == back else None


def positions(x: Value, axis: int) -> int | None:
    """What is added to an axis's coordinates in x, if that and nothing else is what x holds."""
    try:
        form = form_of(x)
    except Undecided:
        return None
    if form is None or not isinstance(form.constant, int):
        return None
    return form.constant if all(factor == (at == axis) for at, factor in enumerate(form.factors)) else None


def form_of(x: Value | None) -> Form | None:
    """What whole numbers are, as a function of their coordinates; None where that is not known."""
    if x is None or x.dtype != "i32":
        return None
    if x.array is not None:
        return _form_of_array(x.array)
    form = _FORMS[x.node.op](x, x.node) if x.node is not None and x.node.op in _FORMS else None
    if form is None:
        return None
    return Form(tuple(0 if extent == 1 else factor for extent, factor in zip(x.shape, form.factors)), form.constant)


def _form_of_array(array: Any) -> Form | None:
    import numpy as np

    if not array.size:
        return None
    first = int(array.reshape(-1)[0])
    factors = tuple(int(np.take(array, 1, axis).reshape(-1)[0]) - first if extent > 1 else 0
                    for axis, extent in enumerate(array.shape))
    expected = first + sum(factor * at for factor, at in zip(factors, np.indices(array.shape, sparse=True)))
    return Form(factors, first) if (array == expected).all() else None


def _of_array(array: Any) -> Truth:
    """Of truth values whose last two axes are queries and keys."""
    import numpy as np

    if array.all() or not array.any():
        return bool(array.all())
    if array.ndim < 2:
        return None
    zeros = (0,) * (array.ndim - 2)
    lags = np.arange(array.shape[-2])[:, None] - np.arange(array.shape[-1])[None, :]
    seen = lags[array.reshape(-1, *lags.shape).any(0)]
    ahead, back = -int(seen.min()), int(seen.max())
    if not (array == ((lags >= -ahead) & (lags <= back))).all():
        return None
    forms = [Form((*zeros, 1, -1), ahead)] if ahead < array.shape[-1] - 1 else []
    return forms + ([Form((*zeros, -1, 1), back)] if back < array.shape[-2] - 1 else [])


def _is_number(x: Value | None, least: float, most: float) -> bool:
    """Whether it is a constant between two numbers."""
    return x is not None and x.array is not None and x.array.size > 0 and bool(
        ((x.array >= least) & (x.array <= most)).all())


def _less(a: Extent, b: Extent) -> bool:
    return decided(a - b, lambda low, high: True if high < 0 else False if low >= 0 else None)


def _at_least_zero(form: Form, shape: tuple[Extent, ...]) -> bool | None:
    """Whether it is everywhere; None where it depends on the coordinates."""
    least: Extent = form.constant
    most: Extent = form.constant
    for factor, extent in zip(form.factors, shape):
        end = factor * (extent - 1)
        if factor != 0 and _less(factor, 0):
            least = least + end
        else:
            most = most + end
    try:
        if not _less(least, 0):
            return True
    except Undecided:
        pass
    try:
        return False if _less(most, 0) else None
    except Undecided:
        return None


# ---- truth values ----

def _truth(x: Value | None) -> Truth:
    """Of 0 and 1."""
    if x is None:
        return None
    node = x.node
    if x.array is not None:
        return _of_array(x.array != 0)
    if node is not None and node.op == "expand":
        return _widened(_truth(node.inputs[0]), x.rank)
    if node is not None and node.op == "reshape" and node.inputs[0] is not None:
        return _reshaped(_truth(node.inputs[0]), node.inputs[0], x)
    if node is not None and node.op == "binary":
        return _of_binary(x, node)
    form = form_of(x)
    if form is None or any(factor != 0 for factor in form.factors) or not isinstance(form.constant, int):
        return None
    return form.constant != 0


def _widened(truth: Truth, rank: int) -> Truth:
    """In the coordinates of what it is broadcast to."""
    if not isinstance(truth, list):
        return truth
    return [Form((0,) * (rank - len(form.factors)) + form.factors, form.constant) for form in truth]


def _reshaped(truth: Truth, source: Value, x: Value) -> Truth:
    if not isinstance(truth, list):
        return truth
    forms = [_carried(form, source.shape, x.shape) for form in truth]
    return None if any(form is None for form in forms) else [form for form in forms if form is not None]


def _of_binary(x: Value, node: Node) -> Truth:
    kind = node.fields["kind"]
    if kind in ("bitwise_and", "logical_and"):
        one, other = (_widened(_truth(read), x.rank) for read in node.inputs)
        return _both(one, other)
    reads = node.inputs[::-1] if kind.startswith("greater") else node.inputs
    b = _broadcast(reads[1], x)
    size = reads[0].node if reads[0] is not None and reads[0].node is not None else None
    is_size = size is not None and (size.op, size.fields.get("kind")) == ("unary", "abs")
    a = _broadcast(size.inputs[0] if is_size and size is not None else reads[0], x)
    if a is None or b is None:
        return None
    differences = [b.plus(a, -1), *([b.plus(a)] if is_size else [])]
    if kind in ("less_equal", "greater_equal", "less", "greater"):
        less = 0 if kind.endswith("equal") else 1
        found: Truth = True
        for form in differences:
            found = _both(found, _where(Form(form.factors, form.constant - less), x))
        return found
    if kind in ("equal", "not_equal") and not is_size and all(factor == 0 for factor in differences[0].factors):
        constant = differences[0].constant
        if isinstance(constant, int):
            return (constant == 0) is (kind == "equal")
    return None


def _where(form: Form, x: Value) -> Truth:
    everywhere = _at_least_zero(form, x.shape)
    return [form] if everywhere is None else everywhere


def _both(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    if a is None or b is None:
        return None
    return [*(a if isinstance(a, list) else []), *(b if isinstance(b, list) else [])] or True


# ---- forms of ops ----

def _broadcast(read: Value | None, x: Value) -> Form | None:
    """That of an operand, in the coordinates of the result."""
    form = form_of(read)
    if form is None or read is None:
        return None
    return Form((0,) * (x.rank - read.rank) + form.factors, form.constant)


def _carried(form: Form, source: tuple[Extent, ...], target: tuple[Extent, ...]) -> Form | None:
    """Behind a reshape that keeps the axes of more than one element."""
    if all(factor == 0 for factor in form.factors):
        return Form((0,) * len(target), form.constant)
    kept = [factor for extent, factor in zip(source, form.factors) if extent != 1]
    if [extent for extent in source if extent != 1] != [extent for extent in target if extent != 1]:
        return None
    factors = iter(kept)
    return Form(tuple(0 if extent == 1 else next(factors) for extent in target), form.constant)


def _of_movement(x: Value, node: Node) -> Form | None:
    source = node.inputs[0]
    form = form_of(source)
    if form is None or source is None:
        return None
    if node.op == "expand":
        return Form((0,) * (x.rank - source.rank) + form.factors, form.constant)
    if node.op == "permute":
        return Form(tuple(form.factors[axis] for axis in node.fields["axes"]), form.constant)
    if node.op == "slice":
        axis, factors = node.fields["axis"], list(form.factors)
        constant = form.constant + factors[axis] * node.fields["start"]
        factors[axis] = factors[axis] * node.fields["step"]
        return Form(tuple(factors), constant)
    return _carried(form, source.shape, x.shape)


def _of_concat(x: Value, node: Node) -> Form | None:
    """Parts that go on as one another begin: one of them says how, and the others have one element."""
    axis, at = node.fields["axis"], 0
    parts: list[tuple[Extent, Value, Form]] = []
    start: Extent = 0
    for part in node.inputs:
        form = form_of(part)
        if form is None or part is None:
            return None
        parts.append((start, part, form))
        start = start + part.shape[axis]
    longer = [at for at, (_, part, _) in enumerate(parts) if part.shape[axis] != 1]
    if len(longer) != 1:
        return None
    begin, _, whole = parts[longer[0]]
    found = Form(whole.factors, whole.constant - whole.factors[axis] * begin)
    for at, (offset, _, form) in enumerate(parts):
        if at != longer[0]:
            there = Form(tuple(0 if i == axis else factor for i, factor in enumerate(found.factors)),
                         found.constant + found.factors[axis] * offset)
            if there != form:
                return None
    return found


def _of_arithmetic(x: Value, node: Node) -> Form | None:
    kind = node.fields["kind"]
    if kind in ("add", "subtract", "multiply"):
        a, b = (_broadcast(read, x) for read in node.inputs)
        if a is None or b is None:
            return None
        if kind != "multiply":
            return a.plus(b, 1 if kind == "add" else -1)
        for one, other in ((a, b), (b, a)):
            if all(factor == 0 for factor in one.factors):
                return Form(tuple(factor * one.constant for factor in other.factors), other.constant * one.constant)
        return None
    truth = _truth(x)
    return Form((0,) * x.rank, int(truth)) if isinstance(truth, bool) else None


def _of_where(x: Value, node: Node) -> Form | None:
    condition, a, b = node.inputs
    truth = _truth(condition)
    return _broadcast(a if truth else b, x) if isinstance(truth, bool) else None


def _of_cumsum(x: Value, node: Node) -> Form | None:
    form = form_of(node.inputs[0])
    return form if form is not None and form.constant == 0 and all(factor == 0 for factor in form.factors) else None


def _of_take(x: Value, node: Node) -> Form | None:
    """Of one row, or of several one behind the other, [B · L] of [B, L] at b · L + i."""
    source, indices = node.inputs
    form, index = form_of(source), form_of(indices)
    if source is None or indices is None or index is None or source.rank != 1:
        return None
    if form is not None:
        if _at_least_zero(index, indices.shape) is not True:
            return None
        return Form(tuple(form.factors[0] * factor for factor in index.factors),
                    form.constant + form.factors[0] * index.constant)
    flat = source.node.inputs[0] if source.node is not None and source.node.op == "reshape" else None
    rows = form_of(flat)
    if flat is None or rows is None or flat.rank != 2 or index.constant != 0:
        return None
    used = [axis for axis, factor in enumerate(index.factors) if factor != 0]
    row = [axis for axis in used if index.factors[axis] == flat.shape[1] and indices.shape[axis] == flat.shape[0]]
    column = [axis for axis in used if index.factors[axis] == 1 and indices.shape[axis] == flat.shape[1]]
    if len(row) != 1 or len(column) != 1 or len(used) != 2:
        return None
    factors: list[Extent] = [0] * x.rank
    factors[row[0]], factors[column[0]] = rows.factors
    return Form(tuple(factors), rows.constant)


def _of_arange(x: Value, node: Node) -> Form | None:
    return Form((node.fields["step"],), node.fields["start"])


def _of_full(x: Value, node: Node) -> Form | None:
    return Form((0,) * x.rank, node.fields["value"])


_FORMS = {"arange": _of_arange, "full": _of_full, "expand": _of_movement, "permute": _of_movement, "slice": _of_movement,
          "reshape": _of_movement, "concat": _of_concat, "binary": _of_arithmetic, "where": _of_where, "cumsum": _of_cumsum,
          "take": _of_take}
