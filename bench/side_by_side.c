/* SPDX-License-Identifier: MIT */
#include "bench/side_by_side.h"

#include <string.h>

#include "bench/file.h"
#include "bench/index.h"
#include "bench/page.h"
#include "bench/ratios.h"
#include "bench/side.h"

#define MOST_COLUMNS 64 /* on a terminal */

static weft_status read_files(json_t **index, const weft_bench_machines *machines,
                              const weft_host *host) {
    const uint32_t count = 1 + machines->more_count;
    const char **paths = weft_alloc(host, count * sizeof *paths);
    if (!paths) {
        return weft_fail_memory(host, "the names of files");
    }
    paths[0] = machines->first;
    memcpy(paths + 1, machines->more, machines->more_count * sizeof *paths);
    weft_status status = weft_bench_index_read_files(index, paths, count, host);
    weft_free(host, (void *)paths);
    const size_t columns = json_array_size(json_object_get(*index, "columns"));
    if (status == WEFT_OK && columns > MOST_COLUMNS) {
        status = weft_fail(host, WEFT_BAD_FILE, "--from: expected at most %d devices, found %zu",
                           MOST_COLUMNS, columns);
    }
    return status;
}

/* Ratios to the machine that was chosen, to the first file's, or to the one that shares most. */
static int add_ratios(json_t *index, const weft_bench_machines *machines,
                      const weft_cli_syntax *syntax, const weft_host *host) {
    size_t baseline = machines->folder ? weft_bench_usual_baseline(index) : 0;
    if (machines->baseline && !weft_bench_find_baseline(&baseline, index, machines->baseline)) {
        return weft_cli_usage_error(syntax,
                                    "--baseline: no machine and no device has '%s' in its name",
                                    machines->baseline);
    }
    return weft_cli_exit_code(weft_bench_ratios_add(index, baseline, host));
}

static weft_status write_files(const json_t *index, const weft_bench_outputs *outputs,
                               const weft_host *host) {
    weft_status status = WEFT_OK;
    if (outputs->json_file) {
        status = weft_bench_file_write(outputs->json_file, index, host);
    }
    if (status == WEFT_OK && outputs->csv_file) {
        status = weft_bench_side_csv_write(outputs->csv_file, index, host);
    }
    if (status == WEFT_OK && outputs->html_file) {
        status = weft_bench_index_page_write(outputs->html_file, index, host);
    }
    return status;
}

static int run(json_t **index, const weft_bench_machines *machines, const weft_cli_syntax *syntax,
               const weft_host *host) {
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(
        machines->folder ? weft_bench_index_read(index, machines->folder, host)
                         : read_files(index, machines, host)));
    WEFT_CLI_TRY(add_ratios(*index, machines, syntax, host));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(write_files(*index, machines->outputs, host)));
    return machines->outputs->json ? weft_cli_print_json(json_incref(*index))
           : machines->folder      ? weft_bench_index_print(*index)
                                   : weft_bench_side_print(*index);
}

int weft_bench_machines_run(const weft_bench_machines *machines, const weft_cli_syntax *syntax,
                            const weft_host *host) {
    json_t *index = NULL;
    const int code = run(&index, machines, syntax, host);
    json_decref(index);
    return code;
}
