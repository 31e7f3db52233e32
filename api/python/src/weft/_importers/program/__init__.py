# SPDX-License-Identifier: MIT
"""A program while it is made: its nodes, their ops with the shapes that they give, and the patterns that become one op."""
