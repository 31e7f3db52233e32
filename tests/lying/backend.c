/* SPDX-License-Identifier: MIT */
/* The processor's back end with another compiler and another queue. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/philox.h"
#include "core/try.h"
#include "driver/driver.h"
#include "lying/lying.h"
#include "processor/processor.h"

const char *const weft_lie_names[WEFT_LIE_COUNT] = {
    [WEFT_LIE_NONE] = "honest",         [WEFT_LIE_PRODUCT] = "product",
    [WEFT_LIE_WORKGROUP] = "workgroup", [WEFT_LIE_CONTRACTION] = "contraction",
    [WEFT_LIE_STALE] = "stale",         [WEFT_LIE_BARRIER] = "barrier",
    [WEFT_LIE_SHARED] = "shared",       [WEFT_LIE_WARM] = "warm",
    [WEFT_LIE_ORDER] = "order",         [WEFT_LIE_DOT] = "dot",
    [WEFT_LIE_NARROW] = "narrow"};

enum weft_lie weft_lie_kind(void) {
    const char *name = getenv("WEFT_LIE");
    enum weft_lie kind = WEFT_LIE_NONE;
    while (name && kind < WEFT_LIE_COUNT && strcmp(weft_lie_names[kind], name) != 0) {
        kind++;
    }
    return kind;
}

uint64_t weft_lie_number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

/* Objects of one kind of lie are no other's, nor the honest device's: caches keep them apart by this. */
static void describe(struct weft_soft_properties *properties, void *user) {
    const enum weft_lie kind = weft_lie_kind();
    weft_processor_backend.describe(properties, user);
    properties->uuid[VK_UUID_SIZE - 1] ^= (uint8_t)(0x80 + kind);
    properties->accelerates_dots |= kind == WEFT_LIE_DOT; /* as the reported driver does */
    snprintf(properties->name, sizeof properties->name, "a device that lies");
    if (kind == WEFT_LIE_COUNT) {
        properties->fault = "WEFT_LIE names no lie";
    }
}

/* ---- which kernels are products ---- */

/* Behind each object. */
struct trailer {
    char mark[8];
    uint64_t is_product;
};

#define MOST_PRODUCTS 4096

static struct {
    pthread_mutex_t lock;
    const void *own[MOST_PRODUCTS];
    size_t count;
} products = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(const void *own) {
    pthread_mutex_lock(&products.lock);
    if (products.count < MOST_PRODUCTS) {
        products.own[products.count++] = own;
    }
    pthread_mutex_unlock(&products.lock);
}

static bool is_product(const struct weft_soft_kernel *kernel) {
    bool found = false;
    pthread_mutex_lock(&products.lock);
    for (size_t i = 0; i < products.count && !found; i++) {
        found = products.own[i] == kernel->own;
    }
    pthread_mutex_unlock(&products.lock);
    return found;
}

static void forget(const void *own) {
    pthread_mutex_lock(&products.lock);
    for (size_t i = 0; i < products.count; i++) {
        if (products.own[i] == own) {
            products.own[i--] = products.own[--products.count];
        }
    }
    pthread_mutex_unlock(&products.lock);
}

/* ---- the functions ---- */

static weft_status append(struct weft_soft_object *object, bool product, const weft_host *host) {
    const struct trailer trailer = {.mark = "a lie?!", .is_product = product};
    uint8_t *grown = weft_realloc(host, object->bytes, object->size + sizeof trailer);
    if (!grown) {
        weft_free(host, object->bytes);
        *object = (struct weft_soft_object){0};
        return weft_fail_memory(host, "an object");
    }
    memcpy(grown + object->size, &trailer, sizeof trailer);
    *object = (struct weft_soft_object){.bytes = grown, .size = object->size + sizeof trailer};
    return WEFT_OK;
}

static weft_status compile(struct weft_soft_object *object, const struct weft_soft_source *source,
                           void *state, const weft_host *host) {
    uint32_t *words = (uint32_t *)(uintptr_t)source->words;
    struct weft_soft_source other = *source;
    WEFT_TRY(weft_lie_about(&words, &other.size, weft_lie_kind(), host));
    other.words = words;
    const weft_status status = weft_processor_backend.compile(object, &other, state, host);
    if (words != source->words) {
        weft_free(host, words);
    }
    return status == WEFT_OK
               ? append(object, weft_lie_is_product(source->words, source->size), host)
               : status;
}

static weft_status load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                        void *state, const weft_host *host) {
    struct trailer trailer = {.is_product = 0};
    if (size < sizeof trailer) {
        return WEFT_BAD_FILE;
    }
    memcpy(&trailer, bytes + size - sizeof trailer, sizeof trailer);
    WEFT_TRY(weft_processor_backend.load(kernel, bytes, size - sizeof trailer, state, host));
    if (trailer.is_product) {
        note(kernel->own);
    }
    return WEFT_OK;
}

static void unload(struct weft_soft_kernel *kernel, void *state) {
    forget(kernel->own);
    weft_processor_backend.unload(kernel, state);
}

static void run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state) {
    weft_lie_run(stream, watch, state, &weft_processor_backend, weft_lie_kind(), is_product);
}

const struct weft_soft_backend *weft_driver_backend(void) {
    static struct weft_soft_backend lying;
    lying = weft_processor_backend;
    lying.describe = describe;
    lying.compile = compile;
    lying.load = load;
    lying.unload = unload;
    lying.run = run;
    return &lying;
}
