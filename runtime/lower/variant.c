/* SPDX-License-Identifier: MIT */
#include "lower/variant.h"

#include <string.h>

#include "core/vendor.h"

uint32_t weft_variant_tile(const struct weft_variant *variant, uint32_t at) {
    const uint32_t own = variant->tiles[at];
    return own ? own : weft_shader_tiles(&variant->shader->interface)[at].value;
}

const char *weft_needs_missing(const struct weft_needs *needs, const weft_device *device,
                               bool named) {
    const weft_device_info *info = &device->info;
    if (!named && needs->kind == WEFT_SOFTWARE_DEVICE && !device->on_processor) {
        return "for software drivers";
    }
    if (!named && needs->kind == WEFT_HARDWARE_DEVICE && device->on_processor) {
        return "for hardware";
    }
    if (!named && needs->vendor_id && needs->vendor_id != info->vendor_id) {
        return "for another vendor's devices";
    }
    const bool any_subgroup = named && !needs->subgroup_arithmetic;
    if (!any_subgroup && info->subgroup_size < needs->least_subgroup) {
        return "wants larger subgroups";
    }
    if (!any_subgroup && needs->most_subgroup && info->subgroup_size > needs->most_subgroup) {
        return "wants smaller subgroups";
    }
    if (info->max_workgroup_invocations < needs->invocations) {
        return "wants larger workgroups";
    }
    if (info->max_shared_memory < needs->shared_memory) {
        return "wants more shared memory";
    }
    if (device->math != WEFT_MATH_FAST && (needs->subgroup_arithmetic || needs->f16_arithmetic)) {
        return "for fast mode";
    }
    if (needs->subgroup_arithmetic && !info->has_subgroup_arithmetic) {
        return "wants arithmetic over subgroups";
    }
    if (needs->f16_arithmetic && !info->has_f16_arithmetic) {
        return "wants f16 arithmetic";
    }
    if (needs->also && !needs->also(info)) {
        return needs->also_text ? needs->also_text : "not for this device";
    }
    return NULL;
}

/* Why a device cannot run a shader: its workgroup is too large; null when it can. */
static const char *shader_misfit(const struct weft_shader *shader, const weft_device *device) {
    const uint32_t *size = shader->interface.local_size;
    const uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];
    return invocations > device->info.max_workgroup_invocations ? "wants larger workgroups" : NULL;
}

/* True if the shape is on a device's list, or none is asked for. */
static bool has_matrices(const weft_matrix_shape list[WEFT_MAX_MATRIX_SHAPES],
                         const weft_matrix_shape *shape) {
    bool has = shape->m == 0;
    for (uint32_t i = 0; i < WEFT_MAX_MATRIX_SHAPES && !has; i++) {
        has = memcmp(&list[i], shape, sizeof *shape) == 0;
    }
    return has;
}

const char *weft_variant_misfit(const struct weft_variant *variant, const weft_device_info *info) {
    const uint32_t subgroup = variant->subgroup;
    if (subgroup != 0 && (subgroup < info->least_subgroup || subgroup > info->most_subgroup)) {
        return "wants subgroups of another size";
    }
    if (!has_matrices(info->matrix_shapes, &variant->matrix) ||
        !has_matrices(info->integer_matrix_shapes, &variant->integer_matrix)) {
        return "wants cooperative matrices of another shape";
    }
    return NULL;
}

const char *weft_variant_missing(const struct weft_variant *variant, const weft_device *device,
                                 bool named) {
    const bool fast =
        variant->matrix.m != 0 || (variant->subgroup != 0 && variant->integer_matrix.m == 0);
    const char *missing = weft_needs_missing(&variant->needs, device, named);
    if (!missing && fast && device->math != WEFT_MATH_FAST) {
        return "for fast mode";
    }
    missing = missing ? missing : weft_variant_misfit(variant, &device->info);
    return missing ? missing : shader_misfit(variant->shader, device);
}

double weft_cost_on(const struct weft_cost *cost, const weft_device *device) {
    const float columns[] = {[WEFT_COST_HARDWARE] = cost->hardware,
                             [WEFT_COST_SOFTWARE] = cost->software,
                             [WEFT_COST_PROCESSOR] = cost->processor};
    const float given = columns[device->cost_column];
    return given > 0.0F ? (double)given : 1.0;
}

/* ---- registers ---- */

bool weft_has_over_64_registers(const weft_device_info *info) {
    return weft_vendor_has_over_64_registers(info->vendor_id);
}

bool weft_has_registers_for_tiles(const weft_device_info *info) {
    return info->vendor_id != WEFT_VENDOR_INTEL && weft_has_over_64_registers(info);
}

bool weft_has_many_registers(const weft_device_info *info) {
    return info->vendor_id != WEFT_VENDOR_QUALCOMM && weft_has_registers_for_tiles(info);
}
