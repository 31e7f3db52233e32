/* SPDX-License-Identifier: MIT */
#include "shader/embedded.h"

#include <string.h>

const struct weft_shader *weft_shader_find(const char *name) {
    size_t low = 0;
    size_t high = weft_shader_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, weft_shaders[middle]->name);
        if (order == 0) {
            return weft_shaders[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
