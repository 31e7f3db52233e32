# SPDX-License-Identifier: MIT
"""PyTorch, eager, compiled, and its fused attention, on a processor or a CUDA device.

runtime "torch" is the case in plain ops; "torch-compile" the same by torch.compile; "torch-sdpa"
softmax attention by scaled_dot_product_attention (with a band, that is its mask); "torch-flex"
banded attention by flex_attention.
"""

import torch

import host
import measure
import torch_ops

VARIANTS = {"eager": "torch", "compile": "torch-compile", "sdpa": "torch-sdpa",
            "flex": "torch-flex"}


def variants_of(work, wanted):
    """The runtimes that have something to show for the case."""
    fused = work.kind in ("attention", "banded")
    names = {"eager": True, "compile": True, "sdpa": fused, "flex": work.kind == "banded"}
    return [VARIANTS[name] for name in wanted if names[name]]


class Peer:
    def __init__(self, options):
        self.device = torch.device(options["torch_device"])
        self.wanted = options["torch_variants"]
        self.cuda = self.device.type == "cuda"
        torch.set_num_threads(options["threads"])
        torch.set_float32_matmul_precision("highest")
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        # Functions of different cases share their code: past these limits they would run eagerly.
        torch._dynamo.config.recompile_limit = 1000
        torch._dynamo.config.accumulated_recompile_limit = 1000
        torch._dynamo.config.fail_on_recompile_limit_hit = True
        self.version = torch.__version__
        if self.cuda:
            self.device_name = torch.cuda.get_device_name(self.device)
            self.driver = f"CUDA {torch.version.cuda}"
        else:
            self.device_name, self.driver = host.processor_name(), f"{options['threads']} threads"

    def runtimes(self, work):
        return variants_of(work, self.wanted)

    def prepare(self, work, data, runtime):
        function, arguments = torch_ops.prepare(work, data, self.device)
        if runtime == "torch-sdpa":
            function = (torch_ops.fused_attention(work.heads) if work.kind == "attention" else
                        torch_ops.masked_band(work.n, work.causal, self.device))
        elif runtime == "torch-flex":
            function = torch_ops.flex_band(work.n, work.causal, self.device)
        elif runtime == "torch-compile":
            function = torch.compile(function, dynamic=False)
        return Prepared(self, function, arguments)


class Prepared:
    note = ""

    def __init__(self, peer, function, arguments):
        self.peer, self.function, self.arguments = peer, function, arguments
        self.clock = "device" if peer.cuda else "host"
        if peer.cuda:
            self.start = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)

    def output(self):
        with torch.inference_mode():
            return self.function(*self.arguments).cpu().numpy()

    def _run(self):
        with torch.inference_mode():
            self.function(*self.arguments)

    def _run_on_cuda(self):
        torch.cuda.synchronize(self.peer.device)
        self.start.record()
        self._run()
        self.end.record()
        self.end.synchronize()

    def run(self):
        """(ms, host ms, CPU ms or None) of one run, without transfers."""
        if not self.peer.cuda:
            return measure.timed(self._run)
        host = measure.timed(self._run_on_cuda)[0]
        return self.start.elapsed_time(self.end), host, None

    def close(self):
        self.function = self.arguments = None
        if self.peer.cuda:
            torch.cuda.empty_cache()
