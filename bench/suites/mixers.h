/* SPDX-License-Identifier: MIT */
/* Every mixer as a series of cases over the length, one head of WEFT_BENCH_WIDTH channels. */
#ifndef WEFT_BENCH_MIXERS_H
#define WEFT_BENCH_MIXERS_H

#include "bench/suites/builders.h"

/** How many series there are. */
uint32_t weft_bench_mixer_count(void);

/** The case of series `index` at one length. */
weft_bench_case weft_bench_mixer_case(uint32_t index, uint32_t length);

/** Fourier mixing and attention at the width of FNet-base. */
void weft_bench_add_wide_mixers(weft_bench_list *list, const weft_bench_scope *scope);

#endif
