/* SPDX-License-Identifier: MIT */
#include "model/network/position_grid.h"

#include <stdio.h>

#define MAX_CELLS 16777216 /* 2^24: indices are whole numbers of float32 */

weft_status weft_read_position_grid(void *value, const weft_json_fields *json, const char *name) {
    struct weft_position_grid *grid = value;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    const json_t *found = json_object_get(json->object, name);
    size_t axes = json_array_size(found); /* 0 when it is none */
    bool fits = axes >= 1 && axes <= WEFT_GRID_MAX_AXES;
    json_int_t cells = 1;
    for (size_t i = 0; fits && i < axes; i++) {
        json_int_t size = json_integer_value(json_array_get(found, i)); /* 0 when it is none */
        fits = size >= 1 && size <= MAX_CELLS / cells;
        cells *= fits ? size : 1;
        grid->size[i] = fits ? (uint32_t)size : 0;
    }
    if (!fits) {
        return weft_json_fail(json, WEFT_BAD_FILE, name,
                              "1 to 4 integers from 1, their product at most 16777216", found);
    }
    grid->axes = (uint32_t)axes;
    return WEFT_OK;
}

uint32_t weft_position_grid_cells(const struct weft_position_grid *grid) {
    uint32_t cells = grid->axes > 0 ? 1 : 0;
    for (uint32_t i = 0; i < grid->axes; i++) {
        cells *= grid->size[i];
    }
    return cells;
}

weft_status weft_position_grid_check(const struct weft_position_grid *grid,
                                     const weft_network_config *network,
                                     const weft_json_fields *json) {
    const uint32_t cells = weft_position_grid_cells(grid);
    if (cells <= network->max_positions) {
        return WEFT_OK;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "at least the %u positions of position_grid",
             (unsigned)cells);
    return weft_fields_refuse(json, "max_position_embeddings", expected);
}
