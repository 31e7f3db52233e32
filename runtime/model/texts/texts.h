/* SPDX-License-Identifier: MIT */
/* What functions beside texts.c need of a weft_texts. */
#ifndef WEFT_MODEL_TEXTS_TEXTS_H
#define WEFT_MODEL_TEXTS_TEXTS_H

#include <weft/texts.h>

weft_model *weft_texts_model(const weft_texts *texts);

#endif
