/* SPDX-License-Identifier: MIT */
/*
 * Stands between `weft verify` and the library (the linker's --wrap, tests/cmake/floats.cmake): what a plan is made of and
 * what runs it is called in the float state that WEFT_TEST_FLOATS names, and has to leave it as it was.
 */
#include <stdio.h>
#include <stdlib.h>

#include <weft/features.h>
#include <weft/flt.h>
#include <weft/graph.h>

#include "support_floats.h"

static const struct weft_test_floats *enter(void) {
    const char *name = getenv("WEFT_TEST_FLOATS");
    const struct weft_test_floats *floats = name ? weft_test_floats_named(name) : NULL;
    if (!floats) {
        fprintf(stderr, "WEFT_TEST_FLOATS names no float state\n");
        exit(2);
    }
    weft_test_floats_enter(floats);
    return floats;
}

static weft_status leave(const struct weft_test_floats *floats, weft_status status,
                         const char *name) {
    if (!weft_test_floats_leave(floats)) {
        fprintf(stderr, "%s changed the float state \"%s\"\n", name, floats->name);
        exit(2);
    }
    return status;
}

#define WRAP(name, parameters, ...)                              \
    weft_status __real_##name parameters;                        \
    weft_status __wrap_##name parameters;                        \
    weft_status __wrap_##name parameters {                       \
        const struct weft_test_floats *floats = enter();         \
        return leave(floats, __real_##name(__VA_ARGS__), #name); \
    }

WRAP(weft_device_list, (weft_device_info * infos, uint32_t *count, const weft_host *host), infos,
     count, host)
WRAP(weft_device_open, (weft_device * *device, const weft_device_params *params), device, params)
WRAP(weft_plan_compile,
     (weft_plan * *plan, weft_device *device, const weft_graph *graph,
      const weft_plan_params *params),
     plan, device, graph, params)
WRAP(weft_plan_run, (weft_plan * plan, weft_bindings *bindings), plan, bindings)
WRAP(weft_buffer_write, (weft_buffer * buffer, uint64_t offset, const void *data, uint64_t size),
     buffer, offset, data, size)
WRAP(weft_buffer_read, (weft_buffer * buffer, uint64_t offset, void *data, uint64_t size), buffer,
     offset, data, size)
WRAP(weft_weight_create,
     (weft_weight * *weight, const weft_weight_params *params, const weft_host *host), weight,
     params, host)
WRAP(weft_features_fill,
     (float *w, float *weights, const weft_features_params *params, const weft_host *host), w,
     weights, params, host)
WRAP(weft_features_parts,
     (float *diagonals, uint32_t *permutation, const weft_features_params *params,
      const weft_host *host),
     diagonals, permutation, params, host)
WRAP(weft_features_expand,
     (float *w, const float *diagonals, const uint32_t *permutation,
      const weft_features_params *params, const weft_host *host),
     w, diagonals, permutation, params, host)
WRAP(weft_features_square_norms,
     (float *norms, const float *diagonals, const uint32_t *permutation,
      const weft_features_params *params, const weft_host *host),
     norms, diagonals, permutation, params, host)
WRAP(weft_flt_fill,
     (float *frequencies, float *weights, const weft_flt_params *params, const weft_host *host),
     frequencies, weights, params, host)
WRAP(weft_flt_weights,
     (float *weights, const float *frequencies, const weft_flt_params *params,
      const weft_host *host),
     weights, frequencies, params, host)
