/* SPDX-License-Identifier: MIT */
/* The command's log, its exit codes, and opening devices. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "core/harmless.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "stop.h"
#include "trial.h"

int weft_cli_exit_code(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return WEFT_CLI_FINE;
    case WEFT_INVALID_ARGUMENT:
        return WEFT_CLI_USAGE;
    case WEFT_SHAPE_MISMATCH:
    case WEFT_NOT_FOUND:
    case WEFT_BAD_FILE:
    case WEFT_IO_ERROR:
        return WEFT_CLI_BAD_FILE;
    case WEFT_NO_DEVICE:
    case WEFT_UNSUPPORTED:
    case WEFT_OUT_OF_DEVICE_MEMORY:
    case WEFT_DEVICE_LOST:
    case WEFT_COMPILE_ERROR:
    case WEFT_DRIVER_ERROR:
        return WEFT_CLI_NO_DEVICE;
    default:
        return WEFT_CLI_FAILED;
    }
}

int weft_cli_exit_code_of_file(weft_status status) {
    if (status == WEFT_INVALID_ARGUMENT || status == WEFT_UNSUPPORTED) {
        return WEFT_CLI_BAD_FILE;
    }
    return weft_cli_exit_code(status);
}

int weft_cli_open_exit_code(weft_status status) {
    return status == WEFT_NOT_FOUND ? WEFT_CLI_NO_DEVICE : weft_cli_exit_code(status);
}

static double last_ms; /* 0: none */

void weft_cli_cancel_at(double clock_ms) {
    last_ms = clock_ms;
}

static bool is_late(void) {
    return last_ms > 0.0 && weft_clock_ms() >= last_ms;
}

static bool ends_calls(void *user) {
    (void)user;
    return weft_cli_stops_calls() || is_late();
}

static void print_log(void *user, weft_log_level level, const char *message) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const weft_cli_common *common = user;
    if ((weft_cli_stopped() || is_late()) && strncmp(message, "cancelled:", 10) == 0) {
        return; /* the command's end says so */
    }
    if (level == WEFT_LOG_ERROR && common->error) {
        weft_harmless(common->error, WEFT_CLI_ERROR_SIZE, message, strlen(message), false);
        return;
    }
    if (level > (common->verbose ? WEFT_LOG_INFO : WEFT_LOG_WARNING)) {
        return;
    }
    weft_cli_print(stderr, "weft: %s: %s\n", names[level], message);
}

weft_host weft_cli_host(const weft_cli_common *common) {
    /* The callback reads through the pointer; only its type is not const. */
    return (weft_host){
        .log = print_log, .log_user = (void *)(uintptr_t)common, .interrupted = ends_calls};
}

weft_status weft_cli_open_selected(weft_device **device, const weft_cli_common *common,
                                   const char *select) {
    weft_device_params params = {.host = weft_cli_host(common),
                                 .math = common->math,
                                 .weights = common->weights,
                                 .select = select,
                                 .validation = common->validation,
                                 .cache_dir = common->no_cache ? "" : NULL,
                                 .compile_only = common->compile_only,
                                 .executables = common->executables};
    return weft_device_open(device, &params);
}

weft_status weft_cli_open(weft_device **device, const weft_cli_common *common) {
    return weft_cli_open_selected(device, common, common->device);
}

weft_status weft_cli_list_devices(weft_device_info **infos, uint32_t *count,
                                  const weft_host *host) {
    uint32_t capacity = 0;
    weft_status status = weft_device_list(NULL, &capacity, host);
    if (status != WEFT_OK || capacity == 0) {
        *infos = NULL;
        *count = 0;
        return status;
    }
    weft_device_info *list = weft_alloc_zero(host, capacity, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "the list of devices");
    }
    uint32_t found = capacity;
    status = weft_device_list(list, &found, host);
    if (status != WEFT_OK) {
        weft_free(host, list);
        return status;
    }
    /* A device may have appeared in between: it is left out. */
    *infos = list;
    *count = found < capacity ? found : capacity;
    return WEFT_OK;
}

weft_status weft_cli_list_usable(weft_device_info **infos, uint32_t *count, const weft_host *host) {
    uint32_t all = 0;
    WEFT_TRY(weft_cli_list_tried(infos, &all, host));
    *count = 0;
    for (uint32_t index = 0; index < all; index++) {
        if ((*infos)[index].usable && !(*infos)[index].by_name_only) {
            (*infos)[(*count)++] = (*infos)[index];
        }
    }
    if (*count > 0) {
        return WEFT_OK;
    }
    weft_free(host, *infos);
    *infos = NULL;
    return weft_fail(host, WEFT_NO_DEVICE, "there is no usable Vulkan device");
}

bool weft_cli_validation_failed(const weft_device *device) {
    weft_device_stats stats;
    if (weft_device_get_stats(device, &stats) != WEFT_OK || stats.validation_messages == 0) {
        return false;
    }
    weft_cli_print(stderr, "weft: error: the validation layer had %u complaints (see above)\n",
                   stats.validation_messages);
    return true;
}

int weft_cli_validation_code(const weft_device *device) {
    return weft_cli_validation_failed(device) ? WEFT_CLI_FAILED : WEFT_CLI_FINE;
}

/* "16x16x16", as many as there are. */
static json_t *matrices_json(const weft_matrix_shape shapes[WEFT_MAX_MATRIX_SHAPES]) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < WEFT_MAX_MATRIX_SHAPES && shapes[i].m != 0; i++) {
        const weft_matrix_shape *shape = &shapes[i];
        list = weft_cli_json_append(list, json_sprintf("%ux%ux%u", shape->m, shape->n, shape->k));
    }
    return list;
}

static json_t *subgroup_sizes_json(const weft_device_info *info) {
    return info->most_subgroup == 0 ? json_null()
                                    : json_pack("[I, I]", (json_int_t)info->least_subgroup,
                                                (json_int_t)info->most_subgroup);
}

json_t *weft_cli_device_json(const weft_device_info *info) {
    char vulkan[40];
    snprintf(vulkan, sizeof vulkan, "%u.%u.%u", info->api_version[0], info->api_version[1],
             info->api_version[2]);
    char uuid[2 * sizeof info->uuid + 1];
    for (size_t index = 0; index < sizeof info->uuid; index++) {
        snprintf(&uuid[2 * index], 3, "%02x", info->uuid[index]);
    }
    return json_pack(
        "{s:I, s:o, s:s, s:o, s:o, s:I, s:I, s:s, s:I, s:o, s:o, s:b, s:b, s:o, s:o, s:I, s:I, "
        "s:I, "
        "s:I, "
        "s:o, s:I, "
        "s:b, s:b, s:b, s:b, s:b, s:s, s:o, s:s, s:b, s:o}",
        "index", (json_int_t)info->index, "name", weft_cli_json_text(info->name), "type",
        weft_device_type_name(info->type), "driver", weft_cli_json_text(info->driver),
        "driver_version", weft_cli_json_text(info->driver_version), "vendor_id",
        (json_int_t)info->vendor_id, "device_id", (json_int_t)info->device_id, "vulkan", vulkan,
        "subgroup_size", (json_int_t)info->subgroup_size, "subgroup_sizes",
        subgroup_sizes_json(info), "threads",
        info->threads > 0 ? json_integer((json_int_t)info->threads) : json_null(),
        "subgroup_arithmetic", (int)info->has_subgroup_arithmetic, "integer_dot_product",
        (int)info->has_integer_dot_product, "matrices", matrices_json(info->matrix_shapes),
        "integer_matrices", matrices_json(info->integer_matrix_shapes), "max_workgroup_invocations",
        (json_int_t)info->max_workgroup_invocations, "max_shared_memory",
        (json_int_t)info->max_shared_memory, "max_storage_buffer_size",
        (json_int_t)info->max_storage_buffer_size, "device_memory", (json_int_t)info->device_memory,
        "timestamp_period_ns", weft_cli_json_real(info->timestamp_period_ns),
        "host_memory_alignment", (json_int_t)info->host_memory_alignment, "pipeline_feedback",
        (int)info->has_pipeline_feedback, "executables", (int)info->has_executables, "usable",
        (int)info->usable, "compiles", (int)info->compiles, "by_name_only", (int)info->by_name_only,
        "fma", weft_fma_name(info->fma), "reason",
        info->usable ? json_null() : weft_cli_json_text(info->reason), "uuid", uuid, "interpreted",
        (int)info->interpreted, "slow",
        info->slow[0] == '\0' ? json_null() : weft_cli_json_text(info->slow));
}
