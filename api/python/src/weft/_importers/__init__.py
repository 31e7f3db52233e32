# SPDX-License-Identifier: MIT
"""From what others write to programs: PyTorch's modules (torch) and ONNX (onnx), by the same ops (program)."""
