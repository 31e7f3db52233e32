# SPDX-License-Identifier: MIT
"""What weft.serve is made of. All but the module sockets works without an HTTP library."""
