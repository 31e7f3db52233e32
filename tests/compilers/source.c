/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <dirent.h>
#include <string.h>

#include "core/system/file.h"
#include "core/try.h"

static int is_interface(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int weft_source_list(struct dirent ***files, const char *folder) {
    return scandir(folder, files, is_interface, alphasort);
}

weft_math weft_source_math(const json_t *interface) {
    const char *math = json_string_value(json_object_get(interface, "math"));
    return math && strcmp(math, "reproducible") == 0 ? WEFT_MATH_REPRODUCIBLE
           : math && strcmp(math, "fused") == 0      ? WEFT_MATH_FUSED
                                                     : WEFT_MATH_FAST;
}

uint32_t weft_source_constants(uint32_t constants[WEFT_SOURCE_CONSTANTS], const json_t *interface) {
    const json_t *list = json_object_get(interface, "constants");
    uint32_t count = 0;
    for (; count < json_array_size(list) && count < WEFT_SOURCE_CONSTANTS; count++) {
        constants[count] = (uint32_t)json_integer_value(json_array_get(list, count));
    }
    return count;
}

weft_status weft_source_read(struct weft_source *source, const char *folder, const char *name,
                             const json_t *interface, const weft_host *host) {
    char *path = weft_format(host, "%s/%s.spv", folder, name);
    uint8_t *bytes = NULL;
    WEFT_TRY(path ? WEFT_OK : weft_fail_memory(host, "a path"));
    const weft_status status = weft_file_read(&bytes, &source->size, (size_t)1 << 26, path, host);
    weft_free(host, path);
    WEFT_TRY(status);
    source->words = (uint32_t *)(void *)bytes;
    source->bindings = (uint32_t)json_integer_value(json_object_get(interface, "bindings"));
    source->push_bytes = (uint32_t)json_integer_value(json_object_get(interface, "push_bytes"));
    source->subgroup = (uint32_t)json_integer_value(json_object_get(interface, "subgroup"));
    source->constant_count = weft_source_constants(source->constants, interface);
    if (source->bindings > WEFT_SOURCE_BINDINGS ||
        json_array_size(json_object_get(interface, "constants")) > WEFT_SOURCE_CONSTANTS) {
        weft_free(host, bytes);
        source->words = NULL;
        return weft_fail(host, WEFT_BAD_FILE, "%s: too many bindings or constants", name);
    }
    return WEFT_OK;
}
