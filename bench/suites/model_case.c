/* SPDX-License-Identifier: MIT */
#include "bench/suites/model_case.h"

#include <string.h>

#include <weft/model.h>

#include "bench/graph.h"
#include "core/host.h"

static weft_status create(weft_model **model, const char *config, const weft_host *host) {
    char *json = weft_strdup(host, config);
    if (!json) {
        return weft_fail_memory(host, "a model's config");
    }
    for (char *at = strchr(json, '\''); at; at = strchr(at, '\'')) {
        *at = '"';
    }
    weft_status status = weft_model_create_random(model, json, WEFT_BENCH_SEED, host);
    weft_free(host, json);
    return status;
}

weft_status weft_bench_compile_model(weft_plan **plan, weft_device *device,
                                     const weft_bench_model *model, const weft_host *host) {
    weft_model *made = NULL;
    weft_status status = create(&made, model->config, host);
    if (status == WEFT_OK) {
        status = weft_model_compile(plan, made, device, model->batch, model->length, false,
                                    weft_plan_params(.implementation = model->implementation,
                                                     .timestamps = model->timestamps));
    }
    weft_model_destroy(&made);
    return status;
}
