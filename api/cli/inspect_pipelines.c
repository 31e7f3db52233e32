/* SPDX-License-Identifier: MIT */
#include "inspect_pipelines.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/system/file.h"
#include "core/try.h"
#include "pipelines.h"

#define CONSTANTS_SIZE 96

struct pipeline {
    char name[WEFT_CLI_PIPELINE_NAME_SIZE];
    uint32_t first;      /* dispatch that has it */
    uint32_t dispatches; /* that have it */
    weft_executable *executable;
};

struct weft_cli_pipelines {
    const weft_plan *plan;
    const weft_host *host;
    struct pipeline *list;
    uint32_t count;
};

/* ---- reading ---- */

static weft_status add_dispatch(weft_cli_pipelines *pipelines, uint32_t dispatch) {
    char name[WEFT_CLI_PIPELINE_NAME_SIZE];
    WEFT_TRY(weft_cli_pipeline_name(name, pipelines->plan, dispatch, WEFT_MODULE_OF_DEVICE,
                                    pipelines->host));
    for (uint32_t i = 0; i < pipelines->count; i++) {
        if (strcmp(pipelines->list[i].name, name) == 0) {
            pipelines->list[i].dispatches++;
            return WEFT_OK;
        }
    }
    struct pipeline *added = &pipelines->list[pipelines->count];
    WEFT_TRY(weft_plan_get_executable(&added->executable, pipelines->plan, dispatch));
    memcpy(added->name, name, sizeof name);
    added->first = dispatch;
    added->dispatches = 1;
    pipelines->count++;
    return WEFT_OK;
}

static weft_status read_all(weft_cli_pipelines *pipelines) {
    weft_plan_info info;
    WEFT_TRY(weft_plan_get_info(pipelines->plan, &info));
    pipelines->list =
        weft_alloc_zero(pipelines->host, (size_t)info.dispatches + 1, sizeof *pipelines->list);
    if (!pipelines->list) {
        return weft_fail_memory(pipelines->host, "a plan's pipelines");
    }
    for (uint32_t i = 0; i < info.dispatches; i++) {
        WEFT_TRY(add_dispatch(pipelines, i));
    }
    return WEFT_OK;
}

weft_status weft_cli_pipelines_read(weft_cli_pipelines **out, const weft_plan *plan,
                                    const weft_host *host) {
    weft_cli_pipelines *pipelines = weft_alloc_zero(host, 1, sizeof *pipelines);
    if (!pipelines) {
        return weft_fail_memory(host, "a plan's pipelines");
    }
    pipelines->plan = plan;
    pipelines->host = host;
    const weft_status status = read_all(pipelines);
    if (status != WEFT_OK) {
        weft_cli_pipelines_free(&pipelines);
        return status;
    }
    *out = pipelines;
    return WEFT_OK;
}

void weft_cli_pipelines_free(weft_cli_pipelines **pipelines) {
    weft_cli_pipelines *old = *pipelines;
    if (!old) {
        return;
    }
    const weft_host *host = old->host;
    for (uint32_t i = 0; i < old->count; i++) {
        weft_executable_destroy(&old->list[i].executable);
    }
    weft_free(host, old->list);
    weft_free(host, old);
    *pipelines = NULL;
}

/* ---- as files ---- */

weft_status weft_cli_pipelines_write(const weft_cli_pipelines *pipelines, const char *folder) {
    WEFT_TRY(weft_make_folders(folder, pipelines->host));
    for (uint32_t i = 0; i < pipelines->count; i++) {
        const struct pipeline *pipeline = &pipelines->list[i];
        WEFT_TRY(
            weft_cli_write_listings(pipeline->executable, folder, pipeline->name, pipelines->host));
    }
    return WEFT_OK;
}

/* ---- as JSON ---- */

static json_t *constants_json(const weft_kernel_info *info) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < info->specialization_count; i++) {
        list = weft_cli_json_append(list, json_integer((json_int_t)info->specialization[i]));
    }
    return list;
}

static json_t *pipeline_json(const weft_cli_pipelines *pipelines, const struct pipeline *pipeline) {
    weft_dispatch_info dispatch;
    weft_kernel_info info;
    if (weft_plan_get_dispatch(pipelines->plan, pipeline->first, &dispatch) != WEFT_OK ||
        weft_plan_get_kernel(pipelines->plan, pipeline->first, &info) != WEFT_OK) {
        return NULL;
    }
    json_t *object = json_pack("{s:s, s:s, s:o, s:I}", "name", pipeline->name, "kernel",
                               dispatch.kernel, "constants", constants_json(&info), "dispatches",
                               (json_int_t)pipeline->dispatches);
    return weft_cli_json_merge(object, weft_cli_executable_json(pipeline->executable));
}

json_t *weft_cli_pipelines_json(const weft_cli_pipelines *pipelines) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < pipelines->count; i++) {
        list = weft_cli_json_append(list, pipeline_json(pipelines, &pipelines->list[i]));
    }
    return list;
}

/* ---- as a table ---- */

/*
 * What drivers call the numbers that one looks at first: those of Mesa for AMD, Intel, NVIDIA, Qualcomm and Broadcom, and NVIDIA's
 * own. Names of one column that a driver has both of are summed up.
 */
#define MOST_NAMES 6
static const struct column {
    const char *title;
    const char *names[MOST_NAMES];
} columns[] = {
    {">registers",
     {"VGPRs", "Max live registers", "Number of GPRs", "Registers used", "Max Temps",
      "Register Count"}},
    {">spills",
     {"Spilled VGPRs", "Spilled SGPRs", "Spills", "Spills to memory", "STP Count", "Spill Size"}},
    {">shared bytes", {"LDS size", "Workgroup Memory Size"}},
    {">occupancy", {"Subgroups per SIMD", "Max warps/SM", "Max Waves Per Core", "Thread Count"}},
    {">instructions", {"Instructions", "Instruction count", "Instruction Count"}},
    {">cycles", {"Inverse Throughput", "Cycles", "Static cycle count", "Inst and stalls"}},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static bool is_named(const struct column *column, const char *name) {
    for (size_t i = 0; i < MOST_NAMES && column->names[i]; i++) {
        if (strcmp(column->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_statistic(weft_cli_table *table, const weft_executable *executable,
                          const struct column *column) {
    bool found = false;
    double sum = 0.0;
    for (uint32_t i = 0; i < executable->statistic_count; i++) {
        if (is_named(column, executable->statistics[i].name)) {
            found = true;
            sum += executable->statistics[i].value;
        }
    }
    if (found) {
        weft_cli_table_cell(table, "%.0f", sum);
    } else {
        weft_cli_table_cell(table, "-");
    }
}

/* "12 5 1", cut where it does not fit. */
static void write_constants(char text[CONSTANTS_SIZE], const weft_kernel_info *info) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < info->specialization_count && used < CONSTANTS_SIZE; i++) {
        const int length = snprintf(text + used, CONSTANTS_SIZE - used, "%s%u", i > 0 ? " " : "",
                                    info->specialization[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
}

static weft_status add_row(weft_cli_table *table, const weft_cli_pipelines *pipelines,
                           const struct pipeline *pipeline) {
    weft_dispatch_info dispatch;
    weft_kernel_info info;
    char constants[CONSTANTS_SIZE];
    WEFT_TRY(weft_plan_get_dispatch(pipelines->plan, pipeline->first, &dispatch));
    WEFT_TRY(weft_plan_get_kernel(pipelines->plan, pipeline->first, &info));
    write_constants(constants, &info);
    weft_cli_table_cell(table, "%s", dispatch.kernel);
    weft_cli_table_cell(table, "%s", constants);
    weft_cli_table_cell(table, "%u", pipeline->dispatches);
    weft_cli_table_cell(table, "%u", pipeline->executable->subgroup_size);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        add_statistic(table, pipeline->executable, &columns[i]);
    }
    return WEFT_OK;
}

int weft_cli_pipelines_print(const weft_cli_pipelines *pipelines) {
    const char *titles[4 + COLUMN_COUNT + 1] = {"kernel", "constants", ">dispatches", ">subgroup"};
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        titles[4 + i] = columns[i].title;
    }
    weft_cli_table *table = weft_cli_table_begin(titles);
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < pipelines->count && status == WEFT_OK; i++) {
        status = add_row(table, pipelines, &pipelines->list[i]);
    }
    const int exit_code = weft_cli_table_print(&table);
    WEFT_CLI_TRY(exit_code);
    weft_cli_print(stdout, "\nOccupancy and cycles are in the driver's own units; it does not "
                           "report '-'. --json has its whole report.\n");
    return weft_cli_exit_code(status);
}
