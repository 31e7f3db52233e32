/* SPDX-License-Identifier: MIT */
#include "taken.h"

#include <float.h>
#include <string.h>

#include "graph/op.h"
#include "lower/choose.h"

#define ROW_OF_SETS(name) &weft_##name##_variants,
static const struct weft_variant_set *const sets[] = {WEFT_VARIANT_SETS(ROW_OF_SETS)};

static bool has_tiles(const struct weft_variant *row, const uint32_t *constants, uint32_t count) {
    const struct weft_shader_interface *interface = &row->shader->interface;
    const struct weft_shader_field *tiles = weft_shader_tiles(interface);
    for (uint32_t i = 0; i < interface->tile_count; i++) {
        if (tiles[i].place >= count || constants[tiles[i].place] != weft_variant_tile(row, i)) {
            return false;
        }
    }
    return true;
}

static bool is_left_out(const struct weft_variant *row, const weft_device *device) {
    return weft_variant_missing(row, device, false) != NULL;
}

static double least_cost(const struct weft_variant_set *set, const weft_device *device) {
    double least = DBL_MAX;
    for (uint32_t i = 0; i < set->count; i++) {
        const double cost = weft_cost_on(&set->rows[i].cost, device);
        if (!is_left_out(&set->rows[i], device) && cost < least) {
            least = cost;
        }
    }
    return least;
}

bool weft_kernel_is_taken(const weft_device_info *info, weft_math math, const char *kernel,
                          const uint32_t *constants, uint32_t count) {
    const weft_device device = {.info = *info, .math = math}; /* all that needs look at */
    bool is_row = false;
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        const double most = WEFT_HOPELESS_COST * least_cost(sets[s], &device);
        for (uint32_t i = 0; i < sets[s]->count; i++) {
            const struct weft_variant *row = &sets[s]->rows[i];
            if (strcmp(row->shader->name, kernel) != 0 || !has_tiles(row, constants, count)) {
                continue;
            }
            is_row = true;
            if (!is_left_out(row, &device) && weft_cost_on(&row->cost, &device) <= most) {
                return true;
            }
        }
    }
    return !is_row;
}
