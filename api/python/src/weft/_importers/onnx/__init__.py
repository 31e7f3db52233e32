# SPDX-License-Identifier: MIT
"""Programs of ONNX files."""
