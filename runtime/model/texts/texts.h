/* SPDX-License-Identifier: MIT */
/* What functions beside texts.c need of a weft_texts. */
#ifndef WEFT_MODEL_TEXTS_TEXTS_H
#define WEFT_MODEL_TEXTS_TEXTS_H

#include <weft/texts.h>

weft_model *weft_texts_model(const weft_texts *texts);

/** For qsort: below 0 where the first weft_ranked stands before the second, as weft_rank sorts. */
int weft_ranked_compare(const void *left, const void *right);

#endif
