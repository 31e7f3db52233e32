/* SPDX-License-Identifier: MIT */
/* Text for one cell of a spreadsheet: of somebody else's text no formula is made. */
#ifndef WEFT_CORE_CELL_H
#define WEFT_CORE_CELL_H

#include "core/text.h"

/**
 * Adds text as weft_text_add_harmless does for people, with an apostrophe in front of what would begin a formula: = + - @, also in their
 * full width, at the start and behind what separates cells elsewhere, where commas are in numbers: ; and |. Spaces and quotes between are
 * skipped, as spreadsheets do. Quotes that a format needs are the caller's to add: they do not keep a formula from being one.
 */
void weft_text_add_cell(struct weft_text *text, const char *bytes, size_t size);

#endif
