/* SPDX-License-Identifier: MIT */
#include "native/kernel.h"

#include <string.h>

#include "core/try.h"
#include "interpret/interpret.h"
#include "native/interpreted.h"
#include "native/link.h"
#include "native/memory.h"
#include "native/object.h"
#include "native/target.h"

/* From here on nothing is written any more: never are pages writable and executable at once. */
static weft_status protect(void *code, const struct weft_native_layout *layout,
                           const weft_host *host) {
    bool out_of_memory = false;
    const int error =
        weft_native_pages_seal(code, layout->text_size, layout->size, false, &out_of_memory);
    if (error == 0) {
        __builtin___clear_cache((char *)code, (char *)code + layout->text_size);
        return WEFT_OK;
    }
    if (out_of_memory) {
        return weft_fail_memory(host, "native code");
    }
    return weft_fail(
        host, WEFT_UNSUPPORTED,
        "native code: the system lets this process make no memory executable (error %d)", error);
}

bool weft_native_can_execute(bool in_place) {
    const size_t page = weft_native_page_size();
    void *code = weft_native_pages_map(page);
    bool out_of_memory = !code; /* which says nothing about what is allowed */
    const int error = code ? weft_native_pages_seal(code, page, page, in_place, &out_of_memory) : 0;
    if (code) {
        weft_native_pages_unmap(code, page);
    }
    return error == 0 || out_of_memory;
}

static weft_status link_kernel(struct weft_native_kernel *kernel,
                               const struct weft_native_layout *layout, const weft_host *host) {
    kernel->code = weft_native_pages_map(layout->size);
    if (!kernel->code) {
        return weft_fail_memory(host, "native code");
    }
    kernel->code_size = layout->size;
    WEFT_TRY(weft_native_link(kernel->code, layout, host));
    WEFT_TRY(protect(kernel->code, layout, host));
    /* ISO C knows no way from an object's address to a function. */
    void *entry = (char *)kernel->code + layout->entry;
    memcpy(&kernel->entry, &entry, sizeof entry);
    return WEFT_OK;
}

static weft_status load(struct weft_native_kernel *kernel, const uint8_t *bytes, size_t size,
                        const weft_host *host) {
    const uint8_t *object = NULL;
    size_t object_size = 0;
    struct weft_elf elf;
    struct weft_native_layout layout;
    WEFT_TRY(weft_native_object_open(&kernel->interface, &object, &object_size, bytes, size, host));
    if (weft_native_is_interpreted(object, object_size)) {
        return weft_native_interpreted_load(kernel, object, object_size, host);
    }
    WEFT_TRY(weft_elf_open(&elf, object, object_size, host));
    if (elf.machine != weft_native_machine()->elf) {
        return weft_fail(host, WEFT_BAD_FILE, "native code: ELF machine %u, expected %u",
                         elf.machine, weft_native_machine()->elf);
    }
    WEFT_TRY(weft_native_layout_make(&layout, &elf, weft_native_page_size(), host));
    const weft_status status = link_kernel(kernel, &layout, host);
    weft_native_layout_free(&layout, host);
    return status;
}

weft_status weft_native_kernel_load(struct weft_native_kernel **kernel, const uint8_t *bytes,
                                    size_t size, const weft_host *host) {
    *kernel = weft_alloc_zero(host, 1, sizeof **kernel);
    if (!*kernel) {
        return weft_fail_memory(host, "native code");
    }
    const weft_status status = load(*kernel, bytes, size, host);
    if (status != WEFT_OK) {
        weft_native_kernel_unload(kernel, host);
    }
    return status;
}

void weft_native_kernel_unload(struct weft_native_kernel **kernel, const weft_host *host) {
    if (*kernel && (*kernel)->code) {
        weft_native_pages_unmap((*kernel)->code, (*kernel)->code_size);
    }
    if (*kernel) {
        weft_interpreted_free(&(*kernel)->interpreted);
    }
    weft_free(host, *kernel);
    *kernel = NULL;
}
