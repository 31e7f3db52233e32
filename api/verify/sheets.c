/* SPDX-License-Identifier: MIT */
/* All sheets, in a file of its own: a program that takes some of them is not linked to the rest. */
#include "verify/sheet.h"

#define WEFT_SHEET_ADDRESS(name) &weft_sheet_##name,
static const weft_sheet *const sheets[] = {WEFT_SHEETS(WEFT_SHEET_ADDRESS)};
#undef WEFT_SHEET_ADDRESS

const weft_sheet *weft_sheet_at(uint32_t index) {
    return index < WEFT_COUNT(sheets) ? sheets[index] : NULL;
}
