# SPDX-License-Identifier: MIT
"""Programs of PyTorch's modules."""
