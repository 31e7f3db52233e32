/* SPDX-License-Identifier: MIT */
/* The pipelines that weft-pipelines wrote, of which each is a module and its interface. */
#ifndef WEFT_TESTS_COMPILERS_SOURCE_H
#define WEFT_TESTS_COMPILERS_SOURCE_H

#include <weft/device.h>

#include "core/formats/json.h"

struct dirent;

#define WEFT_SOURCE_CONSTANTS 64
#define WEFT_SOURCE_BINDINGS  16

struct weft_source {
    uint32_t *words; /* weft_free with the host */
    size_t size;     /* bytes */
    uint32_t bindings, push_bytes, constant_count;
    uint32_t subgroup; /* invocations that it is made for; 0: any number */
    uint32_t constants[WEFT_SOURCE_CONSTANTS];
};

/** The interfaces in a folder, by name, as scandir gives them; below 0 where there is no folder. */
int weft_source_list(struct dirent ***files, const char *folder);

weft_math weft_source_math(const json_t *interface);

/** How many there are, of at most WEFT_SOURCE_CONSTANTS. */
uint32_t weft_source_constants(uint32_t constants[WEFT_SOURCE_CONSTANTS], const json_t *interface);

/** `name` is that of its files, without their ends. Errors: those of weft_file_read; WEFT_BAD_FILE. */
weft_status weft_source_read(struct weft_source *source, const char *folder, const char *name,
                             const json_t *interface, const weft_host *host);

#endif
