/* SPDX-License-Identifier: MIT */
/* What can be told of outputs without a reference. */
#ifndef WEFT_BENCH_OUTPUTS_H
#define WEFT_BENCH_OUTPUTS_H

#include "bench/ports.h"
#include "core/hash.h"

/** The digest of all outputs' bits as text, one after the other, and whether each f32 element is finite. */
weft_status weft_bench_digest_outputs(char text[WEFT_DIGEST_TEXT_SIZE], bool *finite,
                                      const weft_bench_ports *ports, const weft_host *host);

#endif
