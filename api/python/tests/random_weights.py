# SPDX-License-Identifier: MIT
"""Weights for modules of transformers that tests compare."""

from __future__ import annotations

import torch


def fill(module):
    """The module with weights that make every part visible: no bias is 0, no norm's weight 1."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for label, parameter in module.named_parameters():
            value = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                value *= 1.3 / parameter.shape[-1] ** 0.5
            else:
                value = 1 + 0.2 * value if label.endswith("weight") else 0.2 * value
            parameter.copy_(value)
        for label, buffer in module.named_buffers():
            if label.endswith("expert_bias"):
                buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))
    return module
