/* SPDX-License-Identifier: MIT */
/*
 * FFTs through VkFFT, used as a compiler: VkFFT plans and generates kernels against a recording
 * stand-in for Vulkan (vkfft_unit.c) that answers every question about the device with constants.
 * What comes out is a program - SPIR-V modules, tables and a list of dispatches - that depends on
 * the transform alone, so it is the same for every driver, can be cached on disk, and is placed,
 * recorded, split and timed like any other dispatches of a plan.
 */
#ifndef WEFT_MIXERS_VKFFT_FFT_PROGRAM_H
#define WEFT_MIXERS_VKFFT_FFT_PROGRAM_H

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
};

/** What a dispatch binds. */
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
    uint32_t push_size; /* 0 in every program so far: VkFFT pushes only for split dispatches, which
                           are refused */
    uint8_t push[128];
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

/** Dispatches run in order, each depending on the one before. Owned by whoever made it. */
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

/**
 * Makes the program for a transform. Kernels use at most 128 invocations and 16 KiB of shared
 * memory, and no arithmetic but + − × and fma. cache_dir may be null; *compiled is the number of
 * kernels that had to be compiled (0 when the program came from the cache). Thread safe: VkFFT and
 * glslang keep process-wide state, so planning is serialised with weft_glslang_lock.
 * Errors, all logged:
 *   WEFT_INVALID_ARGUMENT: a desc outside of what weft_fft_desc says;
 *   WEFT_UNSUPPORTED: a complex transform whose transformed axes all have length 1, which is a copy
 *     (real ones of length 1 are made); a buffer over 4 GiB; more than 65535 work groups along one
 *     dimension of a dispatch (which takes over 65535 arrays of rank 2, or of rank 1 and over 1024
 *     elements; more of shorter ones); a length that VkFFT cannot plan within the limits;
 *   WEFT_COMPILE_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_fft_program_create(struct weft_fft_program **program,
                                    const struct weft_fft_desc *desc, const char *cache_dir,
                                    uint32_t *compiled, const weft_host *host);
void weft_fft_program_destroy(struct weft_fft_program **program, const weft_host *host);

#endif
