/* SPDX-License-Identifier: MIT */
/* Buffers for the inputs and outputs of the plan of a case, and what is in them. */
#ifndef WEFT_BENCH_PORTS_H
#define WEFT_BENCH_PORTS_H

#include "bench/case.h"

typedef struct weft_bench_port {
    weft_port_info info;
    weft_buffer *buffer;
} weft_bench_port;

typedef struct weft_bench_ports {
    weft_bindings *bindings;
    weft_bench_port *list; /* inputs first, as weft_plan_get_port has them */
    uint32_t count;
} weft_bench_ports;

/**
 * Makes, fills and binds a buffer for each input and output of the plan. Inputs get what weft_bench_fill_input writes;
 * every element of an output is NaN (-1 for int32), so that a check sees what was not written. After a failure, too,
 * weft_bench_unbind frees all.
 */
weft_status weft_bench_bind(weft_bench_ports *ports, weft_plan *plan, weft_device *device,
                            const weft_bench_case *bench_case, const weft_host *host);

/** Call before the plan is destroyed. */
void weft_bench_unbind(weft_bench_ports *ports, const weft_host *host);

/**
 * The numbers of input `index`, info->bytes of them: f32 as Philox numbers in [-1, 1), or from 0 to 1 where its name is
 * WEFT_BENCH_UNIT_INPUT; int32 as tokens below case->vocabulary. WEFT_INVALID_ARGUMENT for int32 without a vocabulary.
 */
weft_status weft_bench_fill_input(void *data, const weft_port_info *info, uint32_t index,
                                  const weft_bench_case *bench_case, const weft_host *host);

/** What is in a port's buffer now, in fresh memory (weft_free). */
weft_status weft_bench_read_port(void **data, const weft_bench_port *port, const weft_host *host);

#endif
