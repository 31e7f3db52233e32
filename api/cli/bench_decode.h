/* SPDX-License-Identifier: MIT */
/*
 * The steps of weft/decode.h as series of cases over the length: the n-th token of a sequence, 8 heads of 64 channels. With
 * n a multiple of 64 it is the last token of a chunk, which reads most.
 */
#ifndef WEFT_CLI_BENCH_DECODE_H
#define WEFT_CLI_BENCH_DECODE_H

#include "bench_cases.h"

/** How many series there are. */
uint32_t weft_bench_decode_count(void);

/** The case of series `index` at one length. */
weft_bench_case weft_bench_decode_case(uint32_t index, uint32_t length);

#endif
