# SPDX-License-Identifier: MIT
"""Writes one MLIR function on float32 tensors: linalg.generic from subscripts as einsum has them.

Subscripts are letters apart by spaces, "n m, m d -> n d"; an input's may be a sum, "n+w d", for a
window. What an element becomes is a Python function of Scalars, which writes its arithmetic.
"""

import math

import numpy as np


def number(value):
    """A float32 as MLIR reads it; infinities by their bits."""
    value = np.float32(value)
    if not np.isfinite(value):
        return f"0x{value.view(np.uint32):08X}"
    return f"{value:.9e}"


class Scalar:
    """A number, or a truth, inside of an op's body."""

    def __init__(self, body, name, kind="f32"):
        self.body, self.name, self.kind = body, name, kind

    def _with(self, op, other):
        other = self.body.scalar(other)
        return self.body.write(f"{op} {self.name}, {other.name} : f32")

    def __add__(self, other):
        return self._with("arith.addf", other)

    def __radd__(self, other):
        return self.body.scalar(other) + self

    def __sub__(self, other):
        return self._with("arith.subf", other)

    def __mul__(self, other):
        return self._with("arith.mulf", other)

    def __rmul__(self, other):
        return self.body.scalar(other) * self

    def __truediv__(self, other):
        return self._with("arith.divf", other)

    def __neg__(self):
        return self.body.write(f"arith.negf {self.name} : f32")

    def maximum(self, other):
        return self._with("arith.maximumf", other)

    def call(self, function):
        """Of the math dialect: exp, tanh, erf, cos, ..."""
        return self.body.write(f"math.{function} {self.name} : f32")

    def less(self, other):
        """Of two numbers, or of two indices."""
        other = self.body.scalar(other, self.kind)
        compare = "arith.cmpf olt" if self.kind == "f32" else "arith.cmpi slt"
        return self.body.write(f"{compare}, {self.name}, {other.name} : {self.kind}", "i1")

    def choose(self, yes, no):
        yes, no = self.body.scalar(yes), self.body.scalar(no)
        return self.body.write(f"arith.select {self.name}, {yes.name}, {no.name} : f32")


class Body:
    """The lines of an op's region."""

    def __init__(self, function, letters):
        self.function, self.letters, self.lines = function, letters, []

    def write(self, text, kind="f32"):
        name = self.function.new_name()
        self.lines.append(f"      {name} = {text}")
        return Scalar(self, name, kind)

    def scalar(self, value, kind="f32"):
        if isinstance(value, Scalar):
            return value
        text = number(value) if kind == "f32" else str(value)
        return self.write(f"arith.constant {text} : {kind}", kind)

    def index(self, *letters):
        """The sum of these positions."""
        total = None
        for letter in letters:
            place = self.write(f"linalg.index {self.letters.index(letter)} : index", "index")
            total = place if total is None else self.write(
                f"arith.addi {total.name}, {place.name} : index", "index")
        return total


class Tensor:
    def __init__(self, name, shape):
        self.name, self.shape = name, tuple(shape)

    @property
    def type(self):
        return f"tensor<{'x'.join([*map(str, self.shape), 'f32'])}>"


def _parse(subscripts):
    inputs, output = subscripts.split("->")
    return [part.split() for part in inputs.split(",")], output.split()


def _sizes(inputs, tensors, sizes):
    """How far each letter runs: where it stands alone, or as the caller says."""
    found = dict(sizes)
    for letters, tensor in zip(inputs, tensors, strict=True):
        for letter, size in zip(letters, tensor.shape, strict=True):
            if "+" not in letter and found.setdefault(letter, size) != size:
                raise ValueError(f"{letter}: expected {found[letter]}, found {size}")
    return found


class Function:
    """`run` with inputs of these shapes by name; text() has what was written."""

    def __init__(self, shapes):
        self.inputs = [Tensor(f"%{name}", shape) for name, shape in shapes.items()]
        self.lines, self.count = [], 0

    def new_name(self):
        self.count += 1
        return f"%v{self.count}"

    def _write(self, text, shape):
        tensor = Tensor(self.new_name(), shape)
        self.lines.append(f"    {tensor.name} = {text}")
        return tensor

    def constant(self, array):
        array = np.ascontiguousarray(array, np.float32)
        tensor = Tensor("", array.shape)
        return self._write(f'arith.constant dense<"0x{array.tobytes().hex().upper()}"> : '
                           f"{tensor.type}", array.shape)

    def scalar(self, value):
        return self._write(f"arith.constant {number(value)} : f32", ()).name

    def empty(self, shape):
        return self._write(f"tensor.empty() : {Tensor('', shape).type}", shape)

    def filled(self, value, shape):
        start, empty = self.scalar(value), self.empty(shape)
        return self._write(f"linalg.fill ins({start} : f32) outs({empty.name} : {empty.type}) -> "
                           f"{empty.type}", shape)

    def _generic(self, inputs, output, tensors, target, sizes, function):
        """function: Body and the elements, the output's last -> what the output's becomes."""
        letters = [*output, *(letter for letter in sizes if letter not in output)]
        body = Body(self, letters)
        elements = [Scalar(body, self.new_name()) for _ in range(len(tensors) + 1)]
        result = body.scalar(function(body, *elements))
        domain = ", ".join(letters)
        maps = ", ".join(f"affine_map<({domain}) -> ({', '.join(part).replace('+', ' + ')})>"
                         for part in [*inputs, output])
        kinds = ", ".join('"parallel"' if letter in output else '"reduction"' for letter in letters)
        ins = (f"ins({', '.join(tensor.name for tensor in tensors)} : "
               f"{', '.join(tensor.type for tensor in tensors)}) " if tensors else "")
        arguments = ", ".join(f"{element.name}: f32" for element in elements)
        lines = [f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}"
                 f"outs({target.name} : {target.type}) {{", f"    ^bb0({arguments}):", *body.lines,
                 f"      linalg.yield {result.name} : f32", f"    }} -> {target.type}"]
        return self._write("\n".join(lines), target.shape)

    def map(self, subscripts, function, *tensors, **sizes):
        """Each element by function(body, *elements)."""
        inputs, output = _parse(subscripts)
        sizes = _sizes(inputs, tensors, sizes)
        target = self.empty([sizes[letter] for letter in output])
        return self._generic(inputs, output, tensors, target, sizes,
                             lambda body, *elements: function(body, *elements[:-1]))

    def reduce(self, subscripts, start, function, *tensors, **sizes):
        """From start, by function(what is there, *elements) over what the output lacks."""
        inputs, output = _parse(subscripts)
        sizes = _sizes(inputs, tensors, sizes)
        target = self.filled(start, [sizes[letter] for letter in output])
        return self._generic(inputs, output, tensors, target, sizes,
                             lambda _body, *elements: function(elements[-1], *elements[:-1]))

    def sum(self, subscripts, *tensors, **sizes):
        """Of the products of the elements: einsum."""
        return self.reduce(subscripts, 0.0, lambda total, *elements: total + math.prod(
            elements[1:], start=elements[0]), *tensors, **sizes)

    def softmax(self, x):
        """Along the last axis."""
        empty = self.empty(x.shape)
        return self._write(f"linalg.softmax dimension({len(x.shape) - 1}) ins({x.name} : {x.type}) "
                           f"outs({empty.name} : {empty.type}) -> {empty.type}", x.shape)

    def pad_rows(self, x, before, after):
        """With zeros along the first axis."""
        shape = (x.shape[0] + before + after, *x.shape[1:])
        zeros = ", 0" * (len(shape) - 1)
        zero = self.scalar(0.0)
        places = ", ".join(f"%i{self.count}_{axis}: index" for axis in range(len(shape)))
        return self._write(f"tensor.pad {x.name} low[{before}{zeros}] high[{after}{zeros}] {{\n"
                           f"    ^bb0({places}):\n      tensor.yield {zero} : f32\n"
                           f"    }} : {x.type} to {Tensor('', shape).type}", shape)

    def _reshape(self, op, x, shape, groups, sizes=""):
        return self._write(f"tensor.{op} {x.name} [{groups}]{sizes} : {x.type} into "
                           f"{Tensor('', shape).type}", shape)

    def split_rows(self, x, size):
        """[rows, columns] -> [rows / size, size, columns]."""
        shape = (x.shape[0] // size, size, x.shape[1])
        return self._reshape("expand_shape", x, shape, "[0, 1], [2]",
                             f" output_shape [{', '.join(map(str, shape))}]")

    def join_rows(self, x):
        return self._reshape("collapse_shape", x, (x.shape[0] * x.shape[1], x.shape[2]),
                             "[0, 1], [2]")

    def beside(self, x, y):
        """Their columns one after another."""
        shape = (x.shape[0], x.shape[1] + y.shape[1])
        return self._write(f"tensor.concat dim(1) {x.name}, {y.name} : ({x.type}, {y.type}) -> "
                           f"{Tensor('', shape).type}", shape)

    def sums_before(self, x):
        """Along the first axis, the sum of what is before each place."""
        total, out = self.filled(0.0, x.shape[1:]), self.empty(x.shape)
        name = self.new_name()
        self.lines.append(
            f"    {name}:2 = iree_linalg_ext.scan dimension(0) inclusive(false) "
            f"ins({x.name} : {x.type}) "
            f"outs({out.name}, {total.name} : {out.type}, {total.type}) {{\n"
            f"    ^bb0(%a: f32, %b: f32):\n      %sum = arith.addf %a, %b : f32\n"
            f"      iree_linalg_ext.yield %sum : f32\n    }} -> {out.type}, {total.type}")
        return Tensor(f"{name}#0", x.shape)

    def text(self, result):
        arguments = ", ".join(f"{tensor.name}: {tensor.type}" for tensor in self.inputs)
        return "\n".join([f"func.func @run({arguments}) -> {result.type} {{", *self.lines,
                          f"    return {result.name} : {result.type}", "}", ""])
