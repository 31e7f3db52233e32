# SPDX-License-Identifier: MIT
"""Ops that write into what they read, such as relu_, as those that make new tensors, where nothing else sees a difference.

PyTorch's own pass over an exported graph does that for any op, and takes several times as long as the export."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.fx import Node

from .types import writes_statistics

_FRESH = {f"aten.{name}" for name in (
    "conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding", "conv3d.padding",
    "conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input", "linear.default", "matmul.default",
    "batch_norm.default", "instance_norm.default", "layer_norm.default", "group_norm.default", "max_pool2d.default")}
"""Of ops that PyTorch has made of others, those whose results are never what they were given."""

_MADE_OF_OTHERS = "CompositeImplicitAutograd"
_PLACES = ("index", "indices", "mask")  # arguments that say where
_DROPOUT = {f"aten.{name}.default" for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")}


def has_writes(exported: Any) -> bool:
    """Whether an op of the graph is left that writes into what it reads, after others were replaced.

    What no input reaches is computed by PyTorch itself, which may write into all but what the module holds."""
    graph = exported.graph_module.graph
    _pass_dropout(graph)
    places = {node: at for at, node in enumerate(graph.nodes)}
    reached, left = reached_by_inputs(exported), False
    for node in list(graph.nodes):
        if node.op == "call_function" and _writes(node) and not _replace(node, places):
            left = left or node in reached or not _is_of_itself(node)
    exported.graph_module.recompile()
    return left


def reached_by_inputs(exported: Any) -> set[Node]:
    """The nodes whose results depend on the inputs, or their sizes."""
    inputs = {spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"}
    found: set[Node] = set()
    for node in exported.graph_module.graph.nodes:
        if node.name in inputs if node.op == "placeholder" else any(one in found for one in node.all_input_nodes):
            found.add(node)
    return found


def _is_of_itself(node: Node) -> bool:
    """Whether what it writes into was made in the graph, and is a view of nothing else."""
    written = node
    while isinstance(written.target, torch._ops.OpOverload) and written.op == "call_function" and not _is_fresh(written):
        if not written.args or not isinstance(written.args[0], Node):
            return False
        written = written.args[0]
    return written.op == "call_function" and _is_fresh(written)


def _pass_dropout(graph: Any) -> None:
    """What dropout hands on in eval is read in its place: a tensor of two names, which PyTorch takes for two."""
    for node in list(graph.nodes):
        if str(node.target) in _DROPOUT and node.args[2] is False and all(user.op != "output" for user in node.users):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


def _writes(node: Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return isinstance(target, torch._ops.HigherOrderOperator)
    return bool(target._schema.is_mutable) or writes_statistics(node)


def _replace(node: Node, places: dict[Node, int]) -> bool:
    """Makes it an op that gives a new tensor, which is read in place of the old one from there on. Whether it could."""
    pure = _pure(node.target)
    written = node.args[0] if node.args else None
    if pure is None or not isinstance(written, Node) or not _is_fresh(written) or not _has_one_type(node):
        return False
    users = [user for user in written.users if user is not node]
    if any(places[user] < places[node] and not _is_fresh(user) for user in users):  # which may be a view of it
        return False
    node.target = pure
    for user in users:
        if places[user] > places[node]:
            user.replace_input_with(written, node)
    return True


@functools.cache
def _pure(target: Any) -> Any:
    """The op without the last _ of its name, of which the first argument alone is written."""
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    writes = [bool(one.alias_info and one.alias_info.is_write) for one in target._schema.arguments]
    name = target._schema.name.split("::")[1]
    packet = getattr(torch.ops.aten, name[:-1], None) if name.endswith("_") and not name.startswith("_") else None
    if packet is None or not writes[0] or any(writes[1:]) or target._overloadname not in packet.overloads():
        return None
    found = getattr(packet, target._overloadname)
    return found if len(found._schema.arguments) == len(writes) and not found._schema.is_mutable else None


def _has_one_type(node: Node) -> bool:
    """Whether all tensors are of the type of the first, which is kept."""
    names = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
    types = {one.meta["val"].dtype for name, one in zip(names, node.args)
             if isinstance(one, Node) and isinstance(one.meta.get("val"), torch.Tensor) and name not in _PLACES}
    return len(types) == 1


def _is_fresh(node: Node) -> bool:
    """Whether its result shares no memory with anything else."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        return False
    if any(one.alias_info is not None for one in (*target._schema.returns, *target._schema.arguments)):
        return False
    made = torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), _MADE_OF_OTHERS)  # type: ignore[no-untyped-call]
    return len(target._schema.returns) == 1 and (not made or str(target) in _FRESH)
