# SPDX-License-Identifier: MIT
# weft-test: long
"""Programs of ONNX's models: the standard's own tests of its ops, and transformers that PyTorch has exported."""

import functools
import warnings

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import torch_models
import weft

TYPES = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL)

BYTES = (TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16)
QUANTIZED = ("ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul",
             "QuantizeLinear")
"""Ops that take bytes."""

CLAIMED = (
    "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh", "Attention", "AveragePool",
    "BatchNormalization", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "BlackmanWindow", "CausalConvWithState",
    "Ceil", "Celu", "CenterCropPad", "Clip", "Col2Im", "Compress", "Concat", "Constant", "ConstantOfShape", "Conv",
    "ConvInteger", "ConvTranspose", "Cos", "Cosh", "CumProd", "CumSum", "DFT", "DepthToSpace", "DequantizeLinear", "Div",
    "Dropout", "DynamicQuantizeLinear", "Elu", "Equal", "Erf", "Exp", "Expand", "EyeLike", "Flatten", "Floor", "GRU", "Gather",
    "GatherElements", "GatherND", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater", "GreaterOrEqual",
    "GridSample", "GroupNormalization", "HammingWindow", "HannWindow", "HardSigmoid", "HardSwish", "Hardmax", "Identity", "If",
    "InstanceNormalization", "IsInf", "IsNaN", "LRN", "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual",
    "LinearAttention", "Log", "LogSoftmax", "Loop", "LpNormalization", "LpPool", "MatMul", "MatMulInteger", "Max", "MaxPool",
    "MaxUnpool", "Mean", "MeanVarianceNormalization", "MelWeightMatrix", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "OneHot",
    "OptionalHasElement", "Or", "PRelu", "Pad", "Pow", "QLinearConv", "QLinearMatMul", "QuantizeLinear", "RMSNormalization",
    "RNN", "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Resize", "ReverseSequence", "RotaryEmbedding", "Round", "STFT", "Scan",
    "Scatter", "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Slice",
    "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "SwiGLU", "Swish", "Tan",
    "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Upsample", "Where", "Xor")
"""Op types of which all other cases pass."""

REASONS = {
    "it gives scores, or has lengths of a cache": (
        "test_attention_4d_with_qk_matmul", "test_attention_4d_with_qk_matmul_bias",
        "test_attention_4d_with_qk_matmul_softcap", "test_attention_4d_with_qk_matmul_softmax",
        "test_attention_4d_with_past_and_present_qk_matmul_bias",
        "test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask",
        "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask",
        "test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal",
        "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal",
        "test_attention_4d_with_past_and_present_qk_matmul", "test_attention_3d_with_past_and_present_qk_matmul",
        "test_attention_3d_with_past_and_present_qk_matmul_bias",
        "test_attention_3d_with_past_and_present_qk_matmul_softcap",
        "test_attention_3d_with_past_and_present_qk_matmul_softmax", "test_attention_4d_diff_heads_mask4d_padded_kv",
        "test_attention_4d_gqa_causal_nonpad_decode", "test_attention_4d_causal_nonpad_continued_prefill",
        "test_attention_4d_causal_nonpad_negative_offset_structural_empty",
        "test_attention_23_fullymasked_qk_matmul_output_mode3_zero",
        "test_attention_24_fullymasked_qk_matmul_output_mode3_zero", "test_attention_4d_causal_nonpad_attn_mask_composition",
        "test_attention_4d_causal_nonpad_batch_prefill", "test_attention_local_window_ext_cache_rank3_head_mask",
        "test_attention_local_window_ext_cache_rank4_batch_mask", "test_attention_local_window_ext_cache_rank2_mask",
        "test_attention_local_window_gqa_rank4_mask",),
    "it is causal and has a cache": (
        "test_attention_4d_causal_with_past_and_present", "test_attention_local_window_with_past",),
    "it has a window": (
        "test_attention_local_window", "test_attention_bidirectional_window", "test_attention_local_window_default",
        "test_attention_local_window_rank1_boolean_mask", "test_attention_3d_local_window",),
    "it is in training": (
        "test_training_dropout_default", "test_training_dropout_default_mask", "test_training_dropout",
        "test_training_dropout_mask", "test_training_dropout_zero_ratio", "test_training_dropout_zero_ratio_mask",),
    "it has an axis without elements": (
        "test_causal_conv_with_state_kernel_size_one", "test_constantofshape_int_shape_zero", "test_reduce_l1_empty_set",
        "test_reduce_l2_empty_set", "test_reduce_log_sum_empty_set", "test_reduce_max_empty_set",
        "test_reduce_max_empty_set_bool", "test_reduce_min_empty_set", "test_reduce_prod_empty_set",
        "test_reduce_sum_empty_set", "test_reduce_sum_empty_set_non_reduced_axis_zero", "test_reduce_sum_square_empty_set",
        "test_reshape_allowzero_reordered", "test_shape_start_greater_than_end", "test_slice_start_out_of_bounds",
        "test_split_zero_size_splits_opset13", "test_split_zero_size_splits_opset18", "test_triu_zero", "test_tril_zero",),
    "it has peepholes": (
        "test_lstm_with_peepholes",),
    "it has blocks, and is of no constant": (
        "test_dequantizelinear_blocked", "test_quantizelinear_blocked_asymmetric", "test_quantizelinear_blocked_symmetric",),
    "it has batches, as before opset 9": (
        "test_scan_sum",),
    "it gives indices in the order of columns": (
        "test_maxpool_with_argmax_2d_precomputed_strides",),
}
"""Cases of claimed types that are refused or differ, by the reason."""

EXCLUDED = {name for names in REASONS.values() for name in names}


@functools.cache
def cases():
    """The standard's tests of single ops, by type; not those whose types no program has: float64, float16, strings,
    sequences …"""
    from onnx.backend.test.case.node import collect_testcases

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for case in collected:
        graph = case.model.graph
        kinds = [port.type.tensor_type.elem_type for port in (*graph.input, *graph.output)]
        known = TYPES + BYTES if graph.node[0].op_type in QUANTIZED else TYPES
        if len(graph.node) == 1 and all(kind in known for kind in kinds):
            found.setdefault(graph.node[0].op_type, []).append(case)
    return found


def fixed_inputs(case, device):
    """The program, and the inputs that had to be constants: such as shapes, axes and numbers of repeats."""
    names, (inputs, _) = [port.name for port in case.model.graph.input], case.data_sets[0]
    given, fixed = dict(zip(names, inputs)), {}
    for _ in names:
        try:
            return weft.from_onnx(case.model, device, fixed=fixed), fixed, given
        except weft.Unsupported as refusal:
            name = next((name for name in given if f"its input {name} must be a constant" in str(refusal)
                         or f"depends on the input {name}: give it in `fixed`" in str(refusal)), None)
            if name is None or name in fixed:
                raise
            fixed[name] = given[name]
    return weft.from_onnx(case.model, device, fixed=fixed), fixed, given


def check(case, device):
    program, fixed, given = fixed_inputs(case, device)
    with program:
        arrays = {name: np.asarray(array, np.float32 if np.asarray(array).dtype.kind == "f" else np.int32)
                  for name, array in given.items() if name in program.inputs}
        found = program.run(arrays)
    for port, expected in zip(case.model.graph.output, case.data_sets[0][1]):
        expected = np.asarray(expected)
        assert found[port.name].shape == expected.shape
        np.testing.assert_allclose(found[port.name], expected.astype(found[port.name].dtype), rtol=case.rtol,
                                   atol=max(case.atol, 1e-6))


@pytest.mark.parametrize("op_type", CLAIMED)
def test_ops_by_the_standards_own_tests(device, op_type):
    tried = [case for case in cases()[op_type] if case.name not in EXCLUDED]
    assert tried
    for case in tried:
        try:
            check(case, device)
        except Exception as error:
            raise AssertionError(f"{case.name}: {error}") from error


def test_how_much_is_claimed():
    assert len(CLAIMED) >= 150 and len(set(CLAIMED)) == len(CLAIMED)
    names = {case.name for op_type in CLAIMED for case in cases()[op_type]}
    assert names >= EXCLUDED


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_excluded_is_refused_or_not_a_number(device, reason):
    """No case is excluded that would pass."""
    for case in [case for op_type in CLAIMED for case in cases()[op_type] if case.name in REASONS[reason]]:
        with pytest.raises((weft.WeftError, AssertionError)):
            check(case, device)


@pytest.mark.parametrize("name", ["bert", "distilbert", "roberta", "modernbert", "llama", "gpt2", "vit"])
def test_transformers_by_torch_onnx_export(device, name):
    make, inputs = torch_models.MODELS[name]
    module, fixed = make(), name in torch_models.FIXED
    axes = {axis: torch.export.Dim.DYNAMIC for axis in ((0,) if fixed else (0, 1))}
    exported = torch.onnx.export(module, (inputs(2, 16),), dynamo=True, optimize=True, dynamic_shapes=(axes,), verbose=False)
    with weft.from_onnx(exported.model_proto, device) as program:
        for batch, length in ((1, 16), (3, 23), (3, 5)):
            x = inputs(batch, 16 if fixed else length)
            with torch.no_grad():
                expected = module(x).numpy()
            assert np.linalg.norm(program(x) - expected) <= 1e-5 * np.linalg.norm(expected)


# ---- files, sizes and what is refused ----

def model_of(nodes, inputs, outputs, opset=18):
    ports = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in given] for given in (inputs, outputs)]
    return helper.make_model(helper.make_graph(nodes, "graph", *ports), opset_imports=[helper.make_opsetid("", opset)])


def test_files_and_sizes(device, tmp_path):
    model = model_of([helper.make_node("Add", ["x", "x"], ["y"])], [("x", TensorProto.FLOAT, ["batch", "width"])],
                     [("y", TensorProto.FLOAT, ["batch", "width"])])
    onnx.save(model, tmp_path / "model.onnx")
    with weft.from_onnx(tmp_path / "model.onnx", device, sizes={"batch": (1, 4), "width": 3}) as program:
        assert list(program.symbols) == ["batch"] and program.symbols["batch"].maximum == 4
        assert program(np.ones((4, 3), np.float32)).tolist() == [[2.0] * 3] * 4
        with pytest.raises(weft.WeftError):
            program(np.ones((5, 3), np.float32))
    with pytest.raises(weft.NotFound):
        weft.from_onnx(tmp_path / "none.onnx")
    (tmp_path / "other.onnx").write_text("this is none")
    with pytest.raises(weft.BadFile, match="expected a model of ONNX"):
        weft.from_onnx(tmp_path / "other.onnx")


def test_all_that_is_missing_is_named():
    nodes = [helper.make_node("Det", ["x"], ["a"], name="first"), helper.make_node("Det", ["x"], ["b"], name="second"),
             helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("NonZero", ["c"], ["y"], name="third")]
    model = model_of(nodes, [("x", TensorProto.FLOAT, [3, 3])], [("y", TensorProto.INT64, [1, None])])
    with pytest.raises(weft.Unsupported) as refused:
        weft.from_onnx(model)
    assert str(refused.value).splitlines() == [
        "2 kinds of ops are missing:", "  Det: there is no such op, 2 times: first, second",
        "  NonZero: how much it gives depends on numbers, and shapes of programs do not, once: third"]


@pytest.mark.parametrize("node, kind, message", [
    (helper.make_node("Add", ["x", "x"], ["y"]), TensorProto.DOUBLE,
     "input x: expected float, int32, int64 or bool, found double"),
    (helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16), TensorProto.FLOAT, "Cast: its type is bfloat16"),
    (helper.make_node("Relu", ["x"], ["y"], domain="mine"), TensorProto.FLOAT, "mine.Relu: there is no such op"),
    (helper.make_node("Elu", ["x"], ["y"], gamma=2.0), TensorProto.FLOAT, "Elu: it has the attribute gamma"),
    (helper.make_node("Reshape", ["x", "x"], ["y"]), TensorProto.INT64, "its input x must be a constant: give it in `fixed`"),
])
def test_models_that_are_none(node, kind, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_onnx(model_of([node], [("x", kind, [2, 2])], [("y", kind, [2, 2])]))
