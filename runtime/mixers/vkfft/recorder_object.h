/* SPDX-License-Identifier: MIT */
/* The recorder's objects, shared by recording.c and recorder_vulkan.c. */
#ifndef WEFT_MIXERS_VKFFT_RECORDER_OBJECT_H
#define WEFT_MIXERS_VKFFT_RECORDER_OBJECT_H

#include "mixers/vkfft/recorder.h"

enum weft_fft_object_kind {
    WEFT_FFT_OBJECT_PLAIN = 0, /* layouts and pools: nothing to remember */
    WEFT_FFT_OBJECT_MEMORY,
    WEFT_FFT_OBJECT_BUFFER,
    WEFT_FFT_OBJECT_MODULE,
    WEFT_FFT_OBJECT_PIPELINE,
    WEFT_FFT_OBJECT_SET
};

struct weft_fft_set_binding {
    struct weft_fft_object *buffer;
    uint64_t offset;
    uint64_t range;
};

struct weft_fft_object {
    enum weft_fft_object_kind kind;
    struct weft_fft_object *next, *previous;
    uint64_t size;                  /* memory, buffer: bytes */
    uint8_t *data;                  /* memory: null until first mapped or copied to */
    struct weft_fft_object *memory; /* buffer: bound memory */
    uint64_t memory_offset;         /* buffer */
    enum weft_fft_role role;        /* buffer */
    uint32_t module;                /* module, pipeline: index in recorder->modules */
    struct weft_fft_set_binding bindings[WEFT_FFT_MAX_BINDINGS]; /* set */
};

/* Non-dispatchable handles are pointers on 64-bit hosts and 64-bit integers on others. */
#define WEFT_FFT_OBJECT(handle)       ((struct weft_fft_object *)(uintptr_t)(handle))
#define WEFT_FFT_HANDLE(type, object) ((type)(uintptr_t)(object))

/** Null, and recorder->out_of_memory set, when memory is out. */
struct weft_fft_object *weft_fft_object_new(struct weft_fft_recorder *recorder,
                                            enum weft_fft_object_kind kind);
/** A null object is fine. */
void weft_fft_object_delete(struct weft_fft_recorder *recorder, struct weft_fft_object *object);

/** Remembers the first thing that VkFFT asked for in vain. */
void weft_fft_recorder_fail(struct weft_fft_recorder *recorder, const char *reason);

#endif
