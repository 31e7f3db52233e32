/* SPDX-License-Identifier: MIT */
/* The field "position_grid": tokens are the cells of a grid, row-major. */
#ifndef WEFT_MODEL_POSITION_GRID_H
#define WEFT_MODEL_POSITION_GRID_H

#include "model/network/network_config.h"

#define WEFT_GRID_MAX_AXES 4

struct weft_position_grid {
    uint32_t axes; /* 0: none */
    uint32_t size[WEFT_GRID_MAX_AXES];
};

/** A reader for WEFT_CUSTOM: 1 to 4 sizes, whose product is a whole number of float32. */
weft_status weft_read_position_grid(void *value, const weft_json_fields *json, const char *name);

/** The tokens of a sequence; 0 without a grid. */
uint32_t weft_position_grid_cells(const struct weft_position_grid *grid);

/** WEFT_BAD_FILE for fewer positions than cells. */
weft_status weft_position_grid_check(const struct weft_position_grid *grid,
                                     const weft_network_config *network,
                                     const weft_json_fields *json);

#endif
