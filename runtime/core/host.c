/* SPDX-License-Identifier: MIT */
#include "core/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/harmless.h"

#define LOG_LINE_SIZE 1024

static void log_line(const weft_host *host, weft_log_level level, const char *format,
                     va_list arguments) {
    if (!host || !host->log) {
        return;
    }
    WEFT_ENTER; /* a device is opened in the state of kernels, which is none to print numbers in */
    char line[LOG_LINE_SIZE];
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): every caller has begun it */
    const int written = vsnprintf(line, sizeof line, format, arguments);
    const bool is_cut = written >= (int)sizeof line;
    const char *found = written < 0 ? format : line;
    /* One line stays one line, and names out of a hostile file cannot steer a terminal. */
    char harmless[LOG_LINE_SIZE];
    host->log(host->log_user, level,
              weft_harmless(harmless, sizeof harmless, found, strlen(found), is_cut));
}

void weft_log(const weft_host *host, weft_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(host, level, format, arguments);
    va_end(arguments);
}

#undef weft_fail
#undef weft_fail_memory

weft_status weft_fail(const weft_host *host, weft_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(host, WEFT_LOG_ERROR, format, arguments);
    va_end(arguments);
    return status;
}

weft_status weft_fail_memory(const weft_host *host, const char *what) {
    return weft_fail(host, WEFT_OUT_OF_HOST_MEMORY, "out of memory: %s", what);
}

void *weft_realloc(const weft_host *host, void *pointer, size_t size) {
    if (size == 0) {
        weft_free(host, pointer);
        return NULL;
    }
    if (host && host->reallocate) {
        WEFT_ENTER; /* for the same reason */
        return host->reallocate(host->allocator_user, pointer, size);
    }
    return realloc(pointer, size);
}

weft_status weft_interrupted(const weft_host *host) {
    if (!host || !host->interrupted || !host->interrupted(host->interrupted_user)) {
        return WEFT_OK;
    }
    return weft_fail(host, WEFT_CANCELLED, "cancelled: weft_host.interrupted returned true");
}

void *weft_alloc(const weft_host *host, size_t size) {
    return size == 0 ? NULL : weft_realloc(host, NULL, size);
}

void *weft_alloc_zero(const weft_host *host, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    void *pointer = weft_alloc(host, count * size);
    if (pointer) {
        memset(pointer, 0, count * size);
    }
    return pointer;
}

void weft_free(const weft_host *host, void *pointer) {
    if (!pointer) {
        return;
    }
    if (host && host->reallocate) {
        WEFT_ENTER;
        (void)host->reallocate(host->allocator_user, pointer, 0);
    } else {
        free(pointer);
    }
}

char *weft_strdup(const weft_host *host, const char *text) {
    if (!text) {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = weft_alloc(host, size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

char *weft_format(const weft_host *host, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): begun above */
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : weft_alloc(host, (size_t)length + 1);
    if (text) {
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

bool weft_grow(const weft_host *host, void *array_address, uint32_t count, uint32_t *capacity,
               size_t element_size) {
    if (count < *capacity) {
        return true;
    }
    if (*capacity > UINT32_MAX / 2) {
        return false;
    }
    uint32_t grown = *capacity == 0 ? 8 : *capacity * 2;
    if (element_size == 0 || grown > SIZE_MAX / element_size) {
        return false;
    }
    /* The array's pointer has the caller's type; copying its bytes keeps to the aliasing rules. */
    void *array;
    memcpy(&array, array_address, sizeof array);
    array = weft_realloc(host, array, grown * element_size);
    if (!array) {
        return false;
    }
    memcpy(array_address, &array, sizeof array);
    *capacity = grown;
    return true;
}
