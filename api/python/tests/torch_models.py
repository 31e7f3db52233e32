# SPDX-License-Identifier: MIT
"""Small random models of other people's architectures, as they write them in PyTorch: what importers are tested on."""

import math

import torch
import transformers
from torch import nn
from torch.nn import functional


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)

VOCABULARY = 96


def _seeded(make):
    torch.manual_seed(5)
    return make().eval()


def _of_transformers(name, config, **fields):
    fields = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
              "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": 0, **fields}
    return _seeded(lambda: getattr(transformers, name)(getattr(transformers, config)(**fields)))


class Outputs(nn.Module):
    """A model of transformers without its cache, by keywords."""

    def __init__(self, module, **always):
        super().__init__()
        self.module, self.always = module, always

    def forward(self, x):
        return self.module(x, **self.always)[0]


def _decoder(name, config, **fields):
    return Outputs(_of_transformers(name, config, **fields), use_cache=False)


def fft_convolution(x, kernel):
    """Causal, of [B, d, n] and [d, n]."""
    length = x.shape[-1]
    spectrum = torch.fft.rfft(x, n=2 * length) * torch.fft.rfft(kernel, n=2 * length)
    return torch.fft.irfft(spectrum, n=2 * length)[..., :length]


class Hyena(nn.Module):
    """Order 2, with a filter made by a network of positions."""

    def __init__(self, width=16, longest=64):
        super().__init__()
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.short = nn.Conv1d(3 * width, 3 * width, 3, padding=2, groups=3 * width)
        self.filter = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, width))
        self.decay = nn.Parameter(torch.linspace(0.5, 3.0, width))
        self.bias = nn.Parameter(torch.randn(width))
        time = torch.linspace(0, 1, longest)[:, None]
        self.register_buffer("positions", torch.cat([time, torch.sin(6 * time), torch.cos(6 * time)], -1))

    def forward(self, x):
        length = x.shape[1]
        mixed = self.short(self.inward(x).transpose(1, 2))[..., :length]
        first, second, value = mixed.split(mixed.shape[1] // 3, dim=1)
        kernel = self.filter(self.positions[:length]).T * torch.exp(-self.decay[:, None] * self.positions[:length, 0])
        value = value * second
        value = fft_convolution(value, kernel) + value * self.bias[:, None]
        return self.outward((value * first).transpose(1, 2))


class S4D(nn.Module):
    """Diagonal state spaces with complex poles, by their kernel."""

    def __init__(self, width=16, states=8):
        super().__init__()
        self.log_step = nn.Parameter(torch.rand(width) * 2 - 4)
        self.c = nn.Parameter(torch.randn(width, states, 2))
        self.log_real = nn.Parameter(torch.log(0.5 * torch.ones(width, states)))
        self.imaginary = nn.Parameter(math.pi * torch.arange(states).repeat(width, 1).float())
        self.skip = nn.Parameter(torch.randn(width))
        self.outward = nn.Conv1d(width, 2 * width, 1)

    def kernel(self, length):
        step = torch.exp(self.log_step)
        a = -torch.exp(self.log_real) + 1j * self.imaginary
        step_a = a * step[:, None]
        c = torch.view_as_complex(self.c) * (torch.exp(step_a) - 1.0) / a
        powers = step_a[..., None] * torch.arange(length, device=step_a.device)
        return 2 * torch.einsum("hn,hnl->hl", c, torch.exp(powers)).real

    def forward(self, x):
        u = x.transpose(1, 2)
        y = fft_convolution(u, self.kernel(u.shape[-1])) + u * self.skip[:, None]
        return functional.glu(self.outward(functional.gelu(y)), dim=1).transpose(1, 2)


class H3(nn.Module):
    """Shift and diagonal state spaces with products between them."""

    def __init__(self, width=16, longest=64):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.shift = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.decay = nn.Parameter(torch.rand(width, longest))
        self.skip = nn.Parameter(torch.randn(width))
        self.outward = nn.Linear(width, width)

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (linear(x).transpose(1, 2) for linear in (self.query, self.key, self.value))
        product = self.shift(k)[..., :length] * v
        mixed = fft_convolution(product, self.decay[:, :length]) + self.skip[:, None] * product
        return self.outward((q * mixed).transpose(1, 2))


class GMLP(nn.Module):
    """Gated MLPs with a spatial gating unit."""

    def __init__(self, length=12, width=16, inner=32):
        super().__init__()
        self.norm, self.gate_norm = nn.LayerNorm(width), nn.LayerNorm(inner // 2)
        self.inward, self.outward = nn.Linear(width, inner), nn.Linear(inner // 2, width)
        self.spatial = nn.Conv1d(length, length, 1)

    def forward(self, x):
        u, v = functional.gelu(self.inward(self.norm(x))).chunk(2, dim=-1)
        return x + self.outward(u * self.spatial(self.gate_norm(v)))


class MLPMixer(nn.Module):
    """Patches, and MLPs over tokens and channels by turns."""

    def __init__(self, size=16, patch=4, width=16):
        super().__init__()
        tokens = (size // patch) ** 2
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.tokens = nn.Sequential(nn.Linear(tokens, 24), nn.GELU(), nn.Linear(24, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 24), nn.GELU(), nn.Linear(24, width))
        self.head = nn.Linear(width, 5)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norms[1](x))
        return self.head(self.norms[2](x).mean(dim=1))


class GFNet(nn.Module):
    """A global filter in the frequencies of two axes."""

    def __init__(self, size=8, width=12):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.filter = nn.Parameter(torch.randn(size, size // 2 + 1, width, 2) * 0.2)
        self.mlp = nn.Sequential(nn.Linear(width, 24), nn.GELU(), nn.Linear(24, width))

    def forward(self, x):
        spectrum = torch.fft.rfft2(self.norm(x), dim=(1, 2), norm="ortho") * torch.view_as_complex(self.filter)
        mixed = torch.fft.irfft2(spectrum, s=x.shape[1:3], dim=(1, 2), norm="ortho")
        return x + self.mlp(mixed)


class M2Block(nn.Module):
    """Monarch Mixer's BERT block: gated long convolution, then a block-diagonal MLP."""

    def __init__(self, width=16, blocks=4, longest=64):
        super().__init__()
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.short = nn.Conv1d(3 * width, 3 * width, 3, padding=2, groups=3 * width)
        self.kernel = nn.Parameter(torch.randn(width, longest) * 0.1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.first = nn.Parameter(torch.randn(blocks, 2 * width // blocks, width // blocks) * 0.3)
        self.second = nn.Parameter(torch.randn(blocks, width // blocks, 2 * width // blocks) * 0.3)
        self.blocks = blocks

    def diagonal(self, x, weights):
        parts = x.reshape(*x.shape[:-1], self.blocks, -1)
        return torch.einsum("bnkp,kqp->bnkq", parts, weights).reshape(*x.shape[:-1], -1)

    def forward(self, x):
        length = x.shape[1]
        mixed = self.short(self.inward(x).transpose(1, 2))[..., :length]
        first, second, value = mixed.chunk(3, dim=1)
        value = fft_convolution(value * second, self.kernel[:, :length]) * first
        x = self.norms[0](x + self.outward(value.transpose(1, 2)))
        return self.norms[1](x + self.diagonal(functional.gelu(self.diagonal(x, self.first)), self.second))


class RetNet(nn.Module):
    """Retention in its parallel form, with rotations of pairs and a decay per head."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.gate, self.outward = (nn.Linear(width, width, bias=False) for _ in range(5))
        self.register_buffer("decay", torch.log(1 - 2 ** (-5 - torch.arange(heads).float())))
        self.register_buffer("angle", 1.0 / 10000 ** torch.linspace(0, 1, width // heads // 2).repeat_interleave(2))

    def rotated(self, x, sine, cosine):
        turned = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)
        return x * cosine + turned * sine

    def forward(self, x):
        batch, length, width = x.shape
        index = torch.arange(length, device=x.device)
        sine, cosine = (f(index[:, None] * self.angle[None]) for f in (torch.sin, torch.cos))
        q, k, v = (linear(x).view(batch, length, self.heads, -1).transpose(1, 2)
                   for linear in (self.query, self.key, self.value))
        q, k = self.rotated(q, sine, cosine), self.rotated(k * (width // self.heads) ** -0.5, sine, cosine)
        lower = torch.tril(torch.ones(length, length, device=x.device))
        mask = torch.masked_fill((index[:, None] - index[None, :]).float(), ~lower.bool(), float("inf"))
        mask = torch.nan_to_num(torch.exp(mask * self.decay[:, None, None]))
        mask = mask / mask.sum(dim=-1, keepdim=True).sqrt()
        scores = q @ k.transpose(-1, -2) * mask
        scores = scores / scores.detach().abs().sum(dim=-1, keepdim=True).clamp(min=1)
        y = (scores @ v).transpose(1, 2)
        y = functional.rms_norm(y, y.shape[-1:], eps=1e-6).reshape(batch, length, width)
        return self.outward(functional.silu(self.gate(x)) * y)


class OwnHead(nn.Module):
    """FNet of transformers with a head of one's own: the maximum over the tokens, and two layers."""

    def __init__(self):
        super().__init__()
        self.encoder = _of_transformers("FNetModel", "FNetConfig", tpu_short_seq_length=64)
        self.head = nn.Sequential(nn.Linear(32, 16), nn.LeakyReLU(), nn.Linear(16, 3))

    def forward(self, tokens):
        return self.head(self.encoder(tokens).last_hidden_state.amax(dim=1))


def tokens(batch, length):
    return torch.randint(1, VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(batch * 1000 + length))


def vectors(width):
    return lambda batch, length: torch.randn(batch, length, width,
                                             generator=torch.Generator().manual_seed(batch * 1000 + length))


def images(size):
    """The length is that of the batch only: these take one size."""
    return lambda batch, length: torch.randn(batch, 3, size, size, generator=torch.Generator().manual_seed(batch + length))


def grid(size, width):
    return lambda batch, length: torch.randn(batch, size, size, width, generator=torch.Generator().manual_seed(batch + length))


_LLAMA = {"num_key_value_heads": 2, "head_dim": 8, "rms_norm_eps": 1e-6}
_AUDIO = {"conv_dim": (16, 16), "conv_stride": (2, 2), "conv_kernel": (4, 3), "num_feat_extract_layers": 2,
          "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}

MODELS = {
    "bert": (lambda: Outputs(_of_transformers("BertModel", "BertConfig")), tokens),
    "distilbert": (lambda: Outputs(_seeded(lambda: transformers.DistilBertForSequenceClassification(
        transformers.DistilBertConfig(vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=48,
                                      max_position_embeddings=64)))), tokens),
    "albert": (lambda: Outputs(_of_transformers("AlbertModel", "AlbertConfig", embedding_size=16)), tokens),
    "roberta": (lambda: Outputs(_of_transformers("RobertaModel", "RobertaConfig", pad_token_id=0)), tokens),
    "modernbert": (lambda: Outputs(_of_transformers("ModernBertModel", "ModernBertConfig", global_attn_every_n_layers=2,
                                                    local_attention=8)), tokens),
    "t5": (lambda: Outputs(_seeded(lambda: transformers.T5EncoderModel(transformers.T5Config(
        vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu",
        relative_attention_num_buckets=8, relative_attention_max_distance=16)))), tokens),
    "fnet": (lambda: Outputs(_of_transformers("FNetModel", "FNetConfig", tpu_short_seq_length=64)), tokens),
    "gpt2": (lambda: _decoder("GPT2LMHeadModel", "GPT2Config", n_positions=64, n_embd=32, n_layer=2, n_head=4), tokens),
    "gpt-neox": (lambda: _decoder("GPTNeoXModel", "GPTNeoXConfig", rotary_pct=0.5), tokens),
    "llama": (lambda: _decoder("LlamaForCausalLM", "LlamaConfig", **_LLAMA), tokens),
    "qwen2": (lambda: _decoder("Qwen2Model", "Qwen2Config", **_LLAMA), tokens),
    "gemma3": (lambda: _decoder("Gemma3TextModel", "Gemma3TextConfig", sliding_window=8, layer_types=[
        "sliding_attention", "full_attention"], **_LLAMA), tokens),
    "vit": (lambda: Outputs(_of_transformers("ViTModel", "ViTConfig", image_size=16, patch_size=4)), images(16)),
    "wav2vec2": (lambda: Outputs(_of_transformers("Wav2Vec2Model", "Wav2Vec2Config", apply_spec_augment=False, **_AUDIO)),
                 lambda batch, length: vectors(1)(batch, 8 * length + 5)[..., 0]),
    "whisper": (lambda: Outputs(_seeded(lambda: transformers.models.whisper.modeling_whisper.WhisperEncoder(
        transformers.WhisperConfig(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=48, num_mel_bins=8,
                                   max_source_positions=12)))), lambda batch, length: vectors(8)(batch, 24).transpose(1, 2)),
    "lfm2": (lambda: _decoder("Lfm2Model", "Lfm2Config", num_key_value_heads=2, layer_types=["conv", "full_attention"],
                              block_auto_adjust_ff_dim=False), tokens),
    "clip": (lambda: Outputs(_of_transformers("CLIPTextModel", "CLIPTextConfig", eos_token_id=2)), tokens),
    "hyena": (lambda: _seeded(Hyena), vectors(16)),
    "h3": (lambda: _seeded(H3), vectors(16)),
    "s4d": (lambda: _seeded(S4D), vectors(16)),
    "gmlp": (lambda: _seeded(GMLP), lambda batch, length: vectors(16)(batch, 12)),
    "mlp-mixer": (lambda: _seeded(MLPMixer), images(16)),
    "gfnet": (lambda: _seeded(GFNet), grid(8, 12)),
    "m2-bert": (lambda: _seeded(M2Block), vectors(16)),
    "retnet": (lambda: _seeded(RetNet), vectors(32)),
    "fnet-own-head": (lambda: _seeded(OwnHead), tokens),
}
"""Each: what makes the module, and its input of a batch and a length."""

FIXED = {"vit", "whisper", "gmlp", "mlp-mixer", "gfnet"}
"""Those whose architecture has one length."""
