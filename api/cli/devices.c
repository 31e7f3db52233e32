/* SPDX-License-Identifier: MIT */
/* weft devices: what devices there are. */
#include <stdio.h>

#include "cli.h"
#include "commands.h"
#include "core/system/library.h"
#include "trial.h"

/*
 * The device that weft_device_open takes when nothing is asked for, by the rule of device.h: the
 * first usable one of the kind that comes first in weft_device_type. Null when none is usable.
 */
static const weft_device_info *find_default(const weft_device_info *infos, uint32_t count) {
    const weft_device_info *found = NULL;
    for (uint32_t index = 0; index < count; index++) {
        if (infos[index].usable && !infos[index].by_name_only &&
            (!found || infos[index].type < found->type)) {
            found = &infos[index];
        }
    }
    return found;
}

static void write_bytes(char *text, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        snprintf(&text[2 * i], 3, "%02x", bytes[i]);
    }
}

/* What `--device uuid:…`, `luid:…` and `pci:…` take. */
static void add_identity(json_t *device, const weft_device_info *info) {
    char uuid[33], driver[33], luid[17], pci[40];
    const uint32_t *place = info->pci_place;
    write_bytes(uuid, info->device_uuid, sizeof info->device_uuid);
    write_bytes(driver, info->driver_uuid, sizeof info->driver_uuid);
    write_bytes(luid, info->luid, sizeof info->luid);
    snprintf(pci, sizeof pci, "%04x:%02x:%02x.%x", place[0], place[1], place[2], place[3]);
    json_object_set_new(device, "device_uuid", json_string(uuid));
    json_object_set_new(device, "driver_uuid", json_string(driver));
    json_object_set_new(device, "luid", info->has_luid ? json_string(luid) : json_null());
    json_object_set_new(device, "pci", info->has_pci ? json_string(pci) : json_null());
    json_object_set_new(device, "memory_budget", json_boolean(info->has_memory_budget));
}

static int print_as_json(const weft_device_info *infos, uint32_t count,
                         const weft_device_info *taken) {
    json_t *list = json_array();
    for (uint32_t index = 0; index < count; index++) {
        json_t *device = weft_cli_device_json(&infos[index]);
        add_identity(device, &infos[index]);
        list = weft_cli_json_append(list, device);
    }
    json_t *taken_index = !taken ? json_null() : json_integer((json_int_t)taken->index);
    return weft_cli_print_json(json_pack("{s:o, s:o}", "devices", list, "default", taken_index));
}

static void write_matrices(weft_cli_table *table,
                           const weft_matrix_shape shapes[WEFT_MAX_MATRIX_SHAPES]) {
    const weft_matrix_shape *shape = &shapes[0];
    if (shape->m == 0) {
        weft_cli_table_cell(table, "no");
    } else {
        weft_cli_table_cell(table, "%ux%ux%u%s", shape->m, shape->n, shape->k,
                            shapes[1].m != 0 ? ", …" : "");
    }
}

static int print_as_table(const weft_device_info *infos, uint32_t count,
                          const weft_device_info *taken, bool with_fma) {
    const char *const columns[] = {">index",
                                   "name",
                                   "type",
                                   "driver",
                                   "Vulkan",
                                   ">subgroup",
                                   "subgroup sums",
                                   "dots of bytes",
                                   "matrices",
                                   "matrices of bytes",
                                   ">memory",
                                   "usable",
                                   with_fma ? "fma by" : NULL,
                                   NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t index = 0; index < count; index++) {
        const weft_device_info *info = &infos[index];
        char memory[WEFT_CLI_BYTES_SIZE];
        weft_cli_table_cell(table, "%u", info->index);
        weft_cli_table_cell(table, "%s", info->name);
        weft_cli_table_cell(table, "%s", weft_device_type_name(info->type));
        if (info->threads > 0) {
            weft_cli_table_cell(table, "%s %s, %u thread%s", info->driver, info->driver_version,
                                info->threads, info->threads == 1 ? "" : "s");
        } else {
            weft_cli_table_cell(table, "%s %s", info->driver, info->driver_version);
        }
        weft_cli_table_cell(table, "%u.%u.%u", info->api_version[0], info->api_version[1],
                            info->api_version[2]);
        weft_cli_table_cell(table, "%u", info->subgroup_size);
        weft_cli_table_cell(table, "%s", info->has_subgroup_arithmetic ? "yes" : "no");
        weft_cli_table_cell(table, "%s", info->has_integer_dot_product ? "yes" : "no");
        write_matrices(table, info->matrix_shapes);
        write_matrices(table, info->integer_matrix_shapes);
        weft_cli_table_cell(table, "%s", weft_cli_bytes(info->device_memory, memory));
        if (info->usable) {
            weft_cli_table_cell(table, "%s",
                                info == taken        ? "yes, the default"
                                : info->by_name_only ? "yes, by name"
                                                     : "yes");
        } else {
            weft_cli_table_cell(table, "no: %s", info->reason);
        }
        if (with_fma) {
            weft_cli_table_cell(table, "%s",
                                info->fma == WEFT_FMA_NONE ? "-" : weft_fma_name(info->fma));
        }
    }
    return weft_cli_table_print(&table);
}

/* Below the table, where there is room for a reason and the way out. */
static void print_slow(const weft_device_info *infos, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        const weft_device_info *info = &infos[index];
        if (info->usable && info->slow[0] != '\0') {
            weft_cli_print(stdout, "%u is slow: %s.\n", info->index, info->slow);
        }
    }
}

/* Leaves out those that are opened only by name; how many. */
static uint32_t drop_others(weft_device_info *infos, uint32_t *count) {
    const uint32_t all = *count;
    uint32_t kept = 0;
    for (uint32_t index = 0; index < *count; index++) {
        if (!infos[index].by_name_only) {
            infos[kept++] = infos[index];
        }
    }
    *count = kept;
    return all - kept;
}

/* Opens each with fused math to learn how it rounds a multiply-add once. One that fails stays WEFT_FMA_NONE; the log says why. */
static void find_fma(weft_device_info *infos, uint32_t count, const weft_cli_common *common) {
    for (uint32_t index = 0; index < count; index++) {
        char select[16];
        weft_device *device = NULL;
        snprintf(select, sizeof select, "%u", infos[index].index);
        if (infos[index].usable && weft_cli_open_selected(&device, common, select) == WEFT_OK) {
            weft_device_info info;
            infos[index].fma =
                weft_device_get_info(device, &info) == WEFT_OK ? info.fma : WEFT_FMA_NONE;
            weft_device_destroy(&device);
        }
    }
}

/* Why none is taken. */
static const char *explain(uint32_t count, uint32_t dropped) {
    return count > 0 ? "none of the devices is usable"
           : dropped > 0
               ? "no device but by name: weft devices --all lists them"
               : "no device: there is no Vulkan loader, no driver, or no driver offers a device, "
                 "and the processor is disabled";
}

int weft_cli_devices(int argc, char **argv) {
    weft_cli_common common = {.math = WEFT_MATH_FUSED};
    bool all = false, fma = false;
    const weft_cli_option options[] = {
        {"all", WEFT_CLI_FLAG, &all, NULL,
         "also list devices that are used only by name, as --device opencl:TEXT: OpenCL on the "
         "processor, and OpenCL devices that a Vulkan driver serves"},
        {"fma", WEFT_CLI_FLAG, &fma, NULL,
         "also open each with fused math, and say how it rounds a multiply-add once: by an "
         "instruction, an extension of Vulkan, float64 or integers"},
        WEFT_CLI_OUTPUT_OPTIONS(&common),
        {.name = NULL}};
    const weft_cli_syntax syntax = {
        .command = "devices",
        .summary =
            "Lists the Vulkan devices, the processor and OpenCL devices, whether Weft can use "
            "each, and which one is taken by default. Exit code 3 when no device is usable.",
        .options = options,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, NULL, &exit_code)) {
        return exit_code;
    }
    weft_host host = weft_cli_host(&common);
    weft_device_info *infos = NULL;
    uint32_t count = 0, dropped = 0;
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_list_tried(&infos, &count, &host)));
    if (!all) {
        dropped = drop_others(infos, &count);
    }
    if (fma) {
        find_fma(infos, count, &common);
    }
    const weft_device_info *taken = find_default(infos, count);
    if (common.json) {
        exit_code = print_as_json(infos, count, taken);
    } else if (count > 0) {
        exit_code = print_as_table(infos, count, taken, fma);
        print_slow(infos, count);
    }
    if (weft_library_refusal() && !common.json) {
        weft_cli_print(stdout, "No other devices: %s.\n", weft_library_refusal());
    }
    if (!taken) {
        weft_cli_print(stderr, "weft: error: %s\n", explain(count, dropped));
        exit_code = exit_code == WEFT_CLI_FINE ? WEFT_CLI_NO_DEVICE : exit_code;
    }
    weft_free(&host, infos);
    return exit_code;
}
