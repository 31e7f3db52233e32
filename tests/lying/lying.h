/* SPDX-License-Identifier: MIT */
/*
 * A driver that lies: the processor device as a Vulkan driver (tests/driver), between whose kernels and commands faults are put that public reports
 * describe. For tests of what Weft's checks find.
 *
 *   WEFT_LIE        the kind, by its name in `weft_lie_names`; "honest" or nothing: none
 *   WEFT_LIE_SEED   of what is left to chance (1)
 *   WEFT_LIE_EVERY  of "workgroup": one of so many workgroups is left out (2000)
 *   WEFT_LIE_AFTER  of "warm": milliseconds until it begins (1500)
 */
#ifndef WEFT_TESTS_LYING_LYING_H
#define WEFT_TESTS_LYING_LYING_H

#include "softvk/backend.h"

enum weft_lie {
    WEFT_LIE_NONE,
    WEFT_LIE_PRODUCT,     /* a product is wrong in 23 of 100 runs: pytorch/executorch #22327 */
    WEFT_LIE_WORKGROUP,   /* one workgroup of thousands does not run */
    WEFT_LIE_CONTRACTION, /* one kernel's products and sums become fused multiply-adds */
    WEFT_LIE_STALE,       /* a line of 64 bytes that a kernel wrote keeps what it had before */
    WEFT_LIE_BARRIER,     /* the last barrier of each kernel is lost */
    WEFT_LIE_SHARED,      /* shared memory is smaller than was asked for, and wraps around */
    WEFT_LIE_WARM,        /* some results are wrong once the device has run for a while */
    WEFT_LIE_ORDER,       /* sums of three are added in another order */
    WEFT_LIE_DOT, /* sums of products of four bytes take one factor for unsigned: 0xShug0/audio.cpp #193, ollama/ollama #13108 */
    WEFT_LIE_NARROW, /* products of few results are wrong: ggml-org/llama.cpp #25906 */
    WEFT_LIE_COUNT
};

extern const char *const weft_lie_names[WEFT_LIE_COUNT];

/** The kind that the environment names; WEFT_LIE_COUNT: none has that name. */
enum weft_lie weft_lie_kind(void);
/** A number of the environment, or another. */
uint64_t weft_lie_number(const char *name, uint64_t otherwise);

/** True for kernels that keep tiles in shared memory and multiply: products, most of all. */
bool weft_lie_is_product(const uint32_t *words, size_t size);

/**
 * A changed module in place of a kernel's, in host memory, to be freed; *words stays as it is where this kind of lie has
 * nothing to change. Errors: those of the editor.
 */
weft_status weft_lie_about(uint32_t **words, size_t *size, enum weft_lie kind,
                           const weft_host *host);

/** Runs a stream by `honest`, and lies about its dispatches. `is_product`: whether a dispatch's kernel is one. */
void weft_lie_run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state,
                  const struct weft_soft_backend *honest, enum weft_lie kind,
                  bool (*is_product)(const struct weft_soft_kernel *kernel));

#endif
