/* SPDX-License-Identifier: MIT */
/* The parent has a header of this name, too. */
#error "The parent's header was included"
