/* SPDX-License-Identifier: MIT */
/* Transforms and what they become. */
#ifndef WEFT_MIXERS_VKFFT_PROGRAM_H
#define WEFT_MIXERS_VKFFT_PROGRAM_H

#include "core/host.h"

enum weft_fft_kind {
    WEFT_FFT_C2C_FORWARD = 0,
    WEFT_FFT_C2C_INVERSE, /* unnormalised */
    WEFT_FFT_R2C,         /* real to half spectrum along the innermost axis, C2C along the others */
    WEFT_FFT_C2R          /* the inverse of R2C, unnormalised */
};

/** A transform: `batch` contiguous arrays [size[rank-1] … size[0]], size[0] innermost. Complex is
 * (re, im) pairs. */
struct weft_fft_desc {
    enum weft_fft_kind kind;
    uint32_t rank; /* 1 … 2 */
    uint32_t size[2];
    uint32_t batch;
    bool transform_axis[2]; /* false: that axis is left alone (size[0] of R2C and C2R must be true)
                             */
    /*
     * Strided axes on processors: columns of a workgroup, and its invocations and shared memory as a multiple of
     * those of the plan with the same order of operations. 0: values for every device.
     */
    uint32_t columns, share;
};

/** Buffers that a dispatch binds. */
enum weft_fft_buffer {
    WEFT_FFT_INPUT = 0, /* only read */
    WEFT_FFT_OUTPUT,    /* read and written */
    WEFT_FFT_TEMP,      /* read and written; temp_bytes long */
    WEFT_FFT_TABLE      /* index says which of the tables */
};

struct weft_fft_binding {
    enum weft_fft_buffer buffer;
    uint32_t table;  /* for WEFT_FFT_TABLE */
    uint64_t offset; /* bytes */
    uint64_t range;  /* bytes */
};

#define WEFT_FFT_MAX_BINDINGS 8

struct weft_fft_dispatch {
    uint32_t module;
    uint32_t groups[3];
    uint32_t binding_count;
    struct weft_fft_binding binding[WEFT_FFT_MAX_BINDINGS];
};

struct weft_fft_module {
    uint32_t *words;
    size_t size; /* bytes */
};

struct weft_fft_table {
    uint8_t *data;
    size_t size; /* bytes */
};

/** Dispatches run in order, each depending on the one before. Owned by its maker. */
struct weft_fft_program {
    uint64_t input_bytes;
    uint64_t output_bytes;
    uint64_t temp_bytes; /* 0: no temporary buffer */
    uint32_t module_count;
    struct weft_fft_module *modules;
    uint32_t table_count;
    struct weft_fft_table *tables;
    uint32_t dispatch_count;
    struct weft_fft_dispatch *dispatches;
};

#endif
