# SPDX-License-Identifier: MIT
"""Reading what torch.export makes of a module: each node of its graph by a row of a table, into a program."""

from __future__ import annotations

import collections
import operator
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import torch
from torch.fx import Node

from ... import _array, errors
from ..program.ops import Builder
from ..program.program import Kind, Program, Value
from ..program.range import check_whole_numbers
from ..program.sizes import Extent, Size, divide, equal, larger, product, smaller, symbol
from .types import INT64_ARITHMETIC, MOVEMENT, Refused, check_random, check_type, number_of, wrapped

ROWS: dict[str, Callable[..., Any]] = {}
"""What an op of PyTorch is in a program: functions of a Reader and the op's arguments."""

SIZE_OPS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.eq, operator.ne,
            operator.lt, operator.le, operator.gt, operator.ge, operator.getitem)

NOTHING = ("aten._assert_tensor_metadata.default", "aten._assert_async.msg", "aten._assert_scalar.default",
           "aten.sym_constrain_range.default", "aten.sym_constrain_range_for_size.default")
"""Checks, which have no result."""

_OF_INPUTS = (torch.float32, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
_MOST = 2**20  # of a symbol that PyTorch knows no limit of


Row = TypeVar("Row", bound=Callable[..., Any])


def row(*targets: str, moves: bool = False) -> Callable[[Row], Row]:
    """Registers a row for ops, such as "aten.add.Tensor"; moves: it computes nothing."""
    def register(function: Row) -> Row:
        for target in targets:
            ROWS[target] = function
        if moves:
            MOVEMENT.update(targets)
        return function
    return register


class Pair:
    """A complex tensor: its parts, which are made when something reads them."""

    def __init__(self, real: Callable[[], Value], imaginary: Callable[[], Value], shape: Sequence[Extent]) -> None:
        self._real, self._imaginary = real, imaginary
        self.shape = tuple(shape)
        self.spectrum: tuple[Any, ...] | None = None
        """Of rfft: ("rfft", x, length); of a product of two: ("product", one, other)."""

    @property
    def real(self) -> Value:
        found = self._real()
        self._real = lambda: found
        return found

    @property
    def imaginary(self) -> Value:
        found = self._imaginary()
        self._imaginary = lambda: found
        return found

    def whole(self, b: Builder) -> Value:
        """One tensor of real numbers, whose last axis are the parts."""
        return b.concat([b.reshape(part, [*part.shape, 1]) for part in (self.real, self.imaginary)], -1)


class WholePair(Pair):
    """A complex tensor of one of real numbers, which is made when something reads it, whose last axis are the parts."""

    def __init__(self, b: Builder, whole: Callable[[], Value], shape: Sequence[Extent]) -> None:
        super().__init__(lambda: b.select(self.whole(b), -1, 0), lambda: b.select(self.whole(b), -1, 1), shape)
        self._whole = whole

    def whole(self, b: Builder) -> Value:
        found = self._whole()
        self._whole = lambda: found
        return found


def pair_of(real: Value, imaginary: Value) -> Pair:
    """A complex tensor of two real ones."""
    return Pair(lambda: real, lambda: imaginary, real.shape)


class Reader:
    """Walks over an exported graph. Nodes that no input and no symbol reaches are computed by PyTorch at once."""

    def __init__(self, exported: Any, symbols: dict[Any, str], examples: dict[str, int],
                 never_one: Collection[str] = ()) -> None:
        self.exported = exported
        self.program = Program()
        self.build = Builder(self.program)
        self.found: dict[Node, Any] = {}
        self.convolutions: dict[int, tuple[Value, Value, Extent]] = {}
        """What irfft gave of a product of spectra: the two, and the length of the transform."""
        self.node: Node
        self._never_one = never_one
        self._symbols = self._declared(symbols, examples)
        self._constants: dict[tuple[int, int], tuple[torch.Tensor, Value]] = {}
        self._writes = any(getattr(getattr(node.target, "_schema", None), "is_mutable", False) for node in exported.graph.nodes)
        """Whether constants are made by ops that write into them, one after the other."""

    # ---- what rows ask ----

    @property
    def dtype(self) -> torch.dtype:
        """Of the result in PyTorch."""
        found: torch.dtype = self.node.meta["val"].dtype
        return found

    @property
    def kind(self) -> Kind:
        """Of the result in a program."""
        return kind_of(self.dtype)

    @property
    def shape(self) -> list[Extent]:
        """Of the result."""
        return [self.extent(extent) for extent in self.node.meta["val"].shape]

    def value(self, given: Any, kind: Kind | None = None) -> Value:
        """A value of whatever an argument is."""
        if isinstance(given, Value):
            found = given
        elif isinstance(given, Size):
            found = self.build.size(given)
        elif isinstance(given, torch.Tensor):
            found = self._constant(given)
        elif isinstance(given, (bool, int, float)):
            found = self.build.constant(given, kind)
        elif isinstance(given, tuple):  # of view_as_real
            found = given[0].whole(self.build)
        elif given is None:
            raise Refused("an argument is a result that a program leaves out")
        else:
            raise Refused(f"an argument is {type(given).__name__}")
        return found if kind is None else self.build.convert(found, kind)

    def operand(self, given: Any) -> Value:
        """A value of the result's type."""
        return self.value(number_of(given, self.dtype) if isinstance(given, (bool, int, float)) else given, self.kind)

    def extent(self, given: Any) -> Extent:
        """A size of PyTorch's as one of a program."""
        if isinstance(given, (Size, int)):
            return given
        if given is None or isinstance(given, Value):
            raise Refused("a size depends on what the inputs hold")
        return self._size(given.node.expr if isinstance(given, torch.SymInt) else given)

    def _constant(self, tensor: torch.Tensor) -> Value:
        key = (id(tensor), tensor._version)
        known = self._constants.get(key)
        if known is not None:
            return known[1]
        value = self.program.constant(_array._plain(tensor.clone() if self._writes else tensor, "a constant"))
        self._constants[key] = (tensor, value)
        return value

    # ---- sizes ----

    def _declared(self, symbols: dict[Any, str], examples: dict[str, int]) -> dict[str, Size]:
        found: dict[str, Size] = {}
        limits: dict[str, tuple[int, int]] = {}
        for expression, name in symbols.items():
            low, high = self._range(expression, 2 if name in self._never_one else 1)
            least, most = limits.get(name, (1, _MOST))
            limits[name] = (max(low, least), min(high, most))
        for expression, name in symbols.items():
            found[str(expression)] = symbol(name, *limits[name])
        for name, (low, high) in limits.items():
            self.program.symbol(name, low, high, min(max(examples.get(name, low), low), high))
        return found

    def _range(self, expression: Any, least: int) -> tuple[int, int]:
        found = self.exported.range_constraints.get(expression)
        if found is None:
            return least, _MOST
        low, high = int(found.lower), found.upper
        # PyTorch never takes 0 and 1 for symbols: whether what it records holds for 1 was tried (check.py).
        return (least if low <= 2 else low), (int(high) if high.is_Integer and int(high) < _MOST else _MOST)

    def _size(self, expression: Any) -> Extent:
        """A size of an expression of sympy's."""
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol:
            if str(expression) not in self._symbols:
                raise Refused(f"a size depends on what the inputs hold ({expression})")
            return self._symbols[str(expression)]
        parts = [self._size(part) for part in expression.args]
        name = type(expression).__name__
        if name == "Add":
            total: Extent = 0
            for part in parts:
                total = total + part
            return total
        if name == "Mul":
            return product(parts)
        if name in ("Pow", "PowByNatural") and isinstance(parts[1], int) and parts[1] >= 0:
            return product([parts[0]] * parts[1])
        if name in ("FloorDiv", "CleanDiv"):
            return divide(parts[0], parts[1])
        if name in ("Mod", "PythonMod", "ModularIndexing"):
            return parts[0] % parts[1] if name != "ModularIndexing" else divide(parts[0], parts[1]) % parts[2]
        if name in ("Max", "Min"):
            found = parts[0]
            for part in parts[1:]:
                found = larger(found, part) if name == "Max" else smaller(found, part)
            return found
        raise Refused(f"a size is {expression}")

    # ---- walking ----

    def read(self) -> Program:
        """The program. Raises Unsupported with all that is missing."""
        self._inputs()
        refusals = Refusals()
        for node in self.exported.graph.nodes:
            if node.op == "get_attr":  # a branch of torch.cond, say
                self.found[node] = getattr(self.exported.graph_module, node.target)
            elif node.op == "call_function":
                try:
                    self.found[node] = self._result(node)
                except (Refused, errors.WeftError) as error:
                    refusals.note(node, f"{target_name(node)}: {error}")
                    self.found[node] = self._stand_in(node)
                except Exception as error:  # whatever a row makes of arguments that it does not know
                    refusals.note(node, f"{target_name(node)}: {type(error).__name__}: {error}")
                    self.found[node] = self._stand_in(node)
            elif node.op == "output":
                refusals.check()
                self._outputs(node)
        check_whole_numbers(self.program)
        return self.program

    def _inputs(self) -> None:
        signature = self.exported.graph_signature
        placeholders = {node.name: node for node in self.exported.graph.nodes if node.op == "placeholder"}
        for spec in signature.input_specs:
            node = placeholders[spec.arg.name]
            if spec.kind.name == "USER_INPUT":
                self.found[node] = self._user_input(node, spec)
            else:
                tensor = self.exported.constants.get(spec.target)
                tensor = self.exported.state_dict[spec.target] if tensor is None else tensor
                self.found[node] = tensor
                if isinstance(tensor, torch.Tensor) and tensor.dtype in (torch.float32, torch.float16, torch.bfloat16):
                    value = self._constant(tensor)
                    value.name = value.name or self.program._unique(spec.target)

    def _user_input(self, node: Node, spec: Any) -> Any:
        example = node.meta.get("val")
        if not isinstance(example, torch.Tensor):
            return example if not hasattr(spec.arg, "value") else spec.arg.value
        if example.dtype not in _OF_INPUTS:
            raise errors.Unsupported(f"{node.name}: expected an input of float32, int64, int32 or bool, found {example.dtype}")
        self.node = node
        value = self.program.input(node.name, self.kind, self.shape)
        if self.dtype in (torch.bool, torch.uint8, torch.int8, torch.int16):
            limits = torch.iinfo(self.dtype) if self.dtype != torch.bool else None
            self.program.bounds[value.name] = (0, 1) if limits is None else (limits.min, limits.max)
        return value

    def _result(self, node: Node) -> Any:
        self.node = node
        name = target_name(node)
        if name in NOTHING:
            return None
        args = torch.fx.node.map_arg(node.args, lambda read: self.found[read])
        kwargs = torch.fx.node.map_arg(node.kwargs, lambda read: self.found[read])
        leaves = list(_leaves((args, kwargs)))
        target: Any = node.target
        if target in SIZE_OPS and target is not operator.getitem and any(one is None or isinstance(one, Value) for one in args):
            return None  # of what a tensor holds: a check reads it, or a row that refuses it
        if target in (operator.eq, operator.ne):
            return equal(*args) is (target is operator.eq)
        if target in SIZE_OPS:
            return target(*args)
        check_random(target, args, kwargs)
        if not any(isinstance(leaf, (Value, Pair, Size)) for leaf in leaves):
            with torch.no_grad():
                return target(*args, **kwargs)
        if name not in ROWS:
            raise Refused("there is no such op")
        check_type(node.meta.get("val"), name)
        self.program.is_int64 = name in INT64_ARITHMETIC and self.dtype == torch.int64
        result = ROWS[name](self, *args, **kwargs)
        self.program.is_int64 = False
        if name not in MOVEMENT:
            result = wrapped(self.build, result, node.meta.get("val"))
        _check_shape(self, node, result)
        return result

    def _stand_in(self, node: Node) -> Any:
        """Something of the result's shape, so that all that is missing is found at once."""
        example = node.meta.get("val")

        def of(one: Any) -> Any:
            self.node = node
            if not isinstance(one, torch.Tensor):
                return one if not isinstance(one, torch.SymInt) else 1
            shape = [(extent.node.hint or 1) if isinstance(extent, torch.SymInt) else extent for extent in one.shape]
            value = Value("f32" if one.is_complex() or one.is_floating_point() else "i32", shape, name="missing")
            try:
                value.shape = tuple(self.extent(extent) for extent in one.shape)
            except Refused:
                pass
            return pair_of(value, value) if one.is_complex() else value

        return [of(one) for one in example] if isinstance(example, (list, tuple)) else of(example)

    def _outputs(self, node: Node) -> None:
        names = output_names(self.exported)
        given = list(node.args[0])  # type: ignore[arg-type]
        kept = len(given) - len(names)
        for name, read in zip(names, given[kept:]):
            found = self.found[read] if isinstance(read, Node) else read
            if found is None and isinstance(read, Node) and isinstance(read.meta.get("val"), torch.Tensor):
                raise errors.Unsupported(f"{name}: expected an output that a program computes, found a result of "
                                         f"{_source_name(read)} that it leaves out")
            if found is not None:  # which stands for nothing
                self.program.output(name, self._output(name, found))

    def _output(self, name: str, found: Any) -> Value:
        if isinstance(found, (Pair, complex)) or (isinstance(found, torch.Tensor) and found.is_complex()):
            raise errors.Unsupported(f"{name}: expected an output of real numbers, found a complex one")
        if isinstance(found, torch.Tensor) and found.dtype == torch.float64:
            raise errors.Unsupported(f"{name}: expected an output of float32 or whole numbers, found {found.dtype}")
        try:
            value = self.value(found)
        except (Refused, errors.WeftError) as error:
            raise errors.Unsupported(f"{name}: expected an output that is a tensor or a number: {error}") from error
        if 0 in value.shape:
            raise errors.Unsupported(f"{name}: expected an output with elements, found shape {list(value.shape)}")
        return value


class Refusals:
    """What is missing, how often and where."""

    def __init__(self) -> None:
        self._places: dict[str, collections.Counter[str]] = {}

    def note(self, node: Any, what: str) -> None:
        """One more."""
        self.add(what, place_of(node))

    def add(self, what: str, place: str) -> None:
        """One more, by its place in words."""
        self._places.setdefault(what, collections.Counter())[place] += 1

    def check(self, one: str = "an op is missing", several: str = "kinds of ops are missing") -> None:
        """Raises Unsupported if there is any."""
        if not self._places:
            return
        lines = [f"{len(self._places)} {several}:" if len(self._places) > 1 else f"{one}:"]
        for what, places in self._places.items():
            shown = "; ".join(place for place, _ in places.most_common(3) if place)
            lines.append(f"  {what}, {_times(sum(places.values()))}{': ' + shown if shown else ''}")
        raise errors.Unsupported("\n".join(lines))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def place_of(node: Any) -> str:
    """The innermost line of a node's stack trace that is not PyTorch's own."""
    trace = node.meta.get("stack_trace") or ""
    found = re.findall(r'File "([^"]+)", line (\d+), in (\S+)\n\s*(.*)', trace)
    found = [frame for frame in found if frame[0][0] != "<"]  # which is made at run time
    own = [frame for frame in found if "/torch/" not in frame[0]] or found
    if not own:
        return ""
    file, line, function, text = own[-1]
    short = "/".join(file.replace("\\", "/").split("/")[-2:])
    return f"{short}:{line} in {function}: {text.strip()}"


def target_name(node: Any) -> str:
    """Of an op with its overload."""
    text = str(node.target)
    return text if isinstance(node.target, torch._ops.OpOverload) else getattr(node.target, "__name__", text)


def _source_name(node: Node) -> str:
    """Of the op that gave several results, of which this is one."""
    given = node.args[0] if node.target is operator.getitem else node
    return target_name(given)


def kind_of(dtype: torch.dtype) -> Kind:
    """What a program has in place of a type."""
    if dtype.is_complex or dtype == torch.float64:
        raise Refused(f"its type is {dtype}")
    return "f32" if dtype.is_floating_point else "i32"


def output_names(exported: Any) -> list[str]:
    """Of a module's results: keys and fields where they have any; "output" alone, or numbered."""
    from torch.utils import _pytree as pytree

    spec = exported.call_spec.out_spec
    numbered = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    paths, _ = pytree.tree_flatten_with_path(numbered)
    names = [_path_name(path) for path, _ in sorted(paths, key=lambda one: one[1])]
    return names if len(names) > 1 or names[:1] != ["0"] else ["output"]


def _path_name(path: Sequence[Any]) -> str:
    parts = [str(getattr(part, "key", getattr(part, "idx", getattr(part, "name", part)))) for part in path]
    return "_".join(parts) if parts else "output"


def _leaves(given: Any) -> Iterable[Any]:
    if isinstance(given, (list, tuple)):
        for one in given:
            yield from _leaves(one)
    elif isinstance(given, dict):
        yield from _leaves(list(given.values()))
    else:
        yield given


def _check_shape(reader: Reader, node: Node, result: Any) -> None:
    """What a row gave must have the shape that PyTorch found; sizes that only look different are taken for PyTorch's."""
    example = node.meta.get("val")
    if not isinstance(result, Value) or not isinstance(example, torch.Tensor):
        return
    expected = reader.shape
    if len(expected) != result.rank or any(isinstance(a, int) and isinstance(b, int) and a != b
                                           for a, b in zip(expected, result.shape)):
        raise errors.ShapeMismatch(f"expected shape {expected}, made {list(result.shape)}")
    if result.array is None:
        result.shape = tuple(expected)
