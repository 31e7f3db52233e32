/* SPDX-License-Identifier: MIT */
/* Logging and allocation through the caller's weft_host. */
#ifndef WEFT_CORE_HOST_H
#define WEFT_CORE_HOST_H

#include <weft/weft.h>

#include "core/math/float_state.h" /* WEFT_ENTER, for whoever has a weft_host from outside */

#if defined(__MINGW32__) && \
    !defined(__clang__) /* there "printf" is that of Microsoft's old library */
#define WEFT_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define WEFT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEFT_PRINTF(text, first)
#endif

/** Formats one line (at most 1023 bytes, harmless: core/harmless.h) and hands it to the log callback, if there is one. */
void weft_log(const weft_host *host, weft_log_level level, const char *format, ...)
    WEFT_PRINTF(3, 4);

/** Logs an error and returns `status`: `return weft_fail(host, WEFT_BAD_FILE, "%s: …", path);` */
weft_status weft_fail(const weft_host *host, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);

/** WEFT_CANCELLED, with a line in the log, where the host wants this thread's call to end; else WEFT_OK. */
weft_status weft_interrupted(const weft_host *host);

/** Null when the allocator has nothing left; never logs. Size 0 gives null. */
void *weft_alloc(const weft_host *host, size_t size);
/** Like weft_alloc, zeroed, for `count` elements of `size` bytes; null also when the product overflows. */
void *weft_alloc_zero(const weft_host *host, size_t count, size_t size);
void *weft_realloc(const weft_host *host, void *pointer, size_t size);
void weft_free(const weft_host *host, void *pointer);
/** A copy of `text` in host memory, or null. A null text gives null. */
char *weft_strdup(const weft_host *host, const char *text);
/** A printf into fresh host memory, or null. */
char *weft_format(const weft_host *host, const char *format, ...) WEFT_PRINTF(2, 3);

/** Logs "out of memory" for `what` and returns WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_fail_memory(const weft_host *host, const char *what);

/**
 * Makes room for one more element in a growing array: doubles *capacity when count == *capacity.
 * Returns false when memory is out; the array is then unchanged.
 */
bool weft_grow(const weft_host *host, void *array_address, uint32_t count, uint32_t *capacity,
               size_t element_size);

/* The static analyzer cannot see that these never return WEFT_OK; as macros they say so. */
#ifdef __clang_analyzer__
#define weft_fail(host, status, ...) (weft_log(host, WEFT_LOG_ERROR, __VA_ARGS__), (status))
#define weft_fail_memory(host, what) \
    (weft_log(host, WEFT_LOG_ERROR, "out of memory for %s", what), WEFT_OUT_OF_HOST_MEMORY)
#endif

#endif
