/* SPDX-License-Identifier: MIT */
#include "bench/decoders_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/file.h"
#include "bench/markdown.h"
#include "core/text.h"
#include "stop.h"

/* ---- the table ---- */

#define COLUMNS 8

static const char *const headings[COLUMNS] = {"model",   "size", "params", "device",
                                              "threads", "math", "test",   "t/s"};

static bool is_right(uint32_t column) {
    return column != 0 && column != 3 && column != 5;
}

/* "1.24 B", "7.30 M" or "812". */
static void count_text(char *text, size_t size, double number) {
    if (number >= 1e9) {
        snprintf(text, size, "%.2f B", 1e-9 * number);
    } else if (number >= 1e6) {
        snprintf(text, size, "%.2f M", 1e-6 * number);
    } else {
        snprintf(text, size, "%.0f", number);
    }
}

static void speed_text(char *text, size_t size, const weft_bench_speed *speed) {
    if (speed->rounds == 0) {
        snprintf(text, size, "–");
    } else if (speed->rounds == 1) {
        snprintf(text, size, "%.2f", speed->mean);
    } else {
        snprintf(text, size, "%.2f ± %.2f", speed->mean, speed->deviation);
    }
}

/* A cell in host memory, harmless in Markdown; null when memory is out. */
static char *cell_of(const weft_bench_decoder *decoder, int test, uint32_t column,
                     const weft_host *host) {
    const weft_bench_speed *speed = &decoder->speeds[test];
    struct weft_text cell = {.host = *host};
    char text[2 * WEFT_BENCH_TEXT_SIZE] = "";
    switch (column) {
    case 0:
        snprintf(text, sizeof text, "%s, %s", decoder->model, decoder->weights);
        break;
    case 1:
        weft_cli_bytes(decoder->weight_bytes, text);
        break;
    case 2:
        count_text(text, sizeof text, (double)decoder->parameters);
        break;
    case 3:
        weft_harmless(text, sizeof text, decoder->device.name, strlen(decoder->device.name), false);
        break;
    case 4:
        snprintf(text, sizeof text, decoder->device.threads > 0 ? "%u" : "–",
                 decoder->device.threads);
        break;
    case 5:
        snprintf(text, sizeof text, "%s", weft_math_name(decoder->math));
        break;
    case 6:
        snprintf(text, sizeof text, "%s%u", speed->is_prompt ? "pp" : "tg", speed->tokens);
        break;
    default:
        speed_text(text, sizeof text, speed);
    }
    weft_bench_add_markdown(&cell, text);
    return weft_text_take(&cell);
}

/* Cells of all lines, the first of which has the headings. */
struct grid {
    char **cells;
    uint32_t lines;
    size_t widths[COLUMNS];
    bool failed;
};

static void set_cell(struct grid *grid, uint32_t line, uint32_t column, char *cell) {
    const size_t width = cell ? weft_utf8_count(cell, strlen(cell)) : 0;
    grid->cells[line * COLUMNS + column] = cell;
    grid->widths[column] = width > grid->widths[column] ? width : grid->widths[column];
    grid->failed = grid->failed || !cell;
}

static void fill(struct grid *grid, const weft_bench_decoder *decoders, const weft_host *host) {
    for (uint32_t line = 0; line < grid->lines; line++) {
        for (uint32_t i = 0; i < COLUMNS; i++) {
            set_cell(grid, line, i,
                     line == 0 ? weft_strdup(host, headings[i])
                               : cell_of(&decoders[(line - 1) / 2], (line - 1) % 2, i, host));
        }
    }
}

static void add_line(struct weft_text *text, const struct grid *grid, uint32_t line) {
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const char *cell = grid->cells[line * COLUMNS + i];
        const int room = (int)(grid->widths[i] - weft_utf8_count(cell, strlen(cell)));
        weft_text_add(text, "| %*s%s%*s ", is_right(i) ? room : 0, "", cell, is_right(i) ? 0 : room,
                      "");
    }
    weft_text_add(text, "|\n");
}

static void add_rule(struct weft_text *text, const struct grid *grid) {
    for (uint32_t i = 0; i < COLUMNS; i++) {
        weft_text_add(text, "| ");
        for (size_t k = 1; k < grid->widths[i]; k++) {
            weft_text_add(text, "-");
        }
        weft_text_add(text, is_right(i) ? ": " : "- ");
    }
    weft_text_add(text, "|\n");
}

char *weft_bench_decoders_table(const weft_bench_decoder *decoders, uint32_t count,
                                const weft_host *host) {
    struct weft_text text = {.host = *host};
    struct grid grid = {.lines = 1 + 2 * count};
    grid.cells = weft_alloc_zero(host, (size_t)grid.lines * COLUMNS, sizeof *grid.cells);
    if (!grid.cells) {
        return NULL;
    }
    fill(&grid, decoders, host);
    for (uint32_t line = 0; line < grid.lines && !grid.failed; line++) {
        add_line(&text, &grid, line);
        if (line == 0) {
            add_rule(&text, &grid);
        }
    }
    for (uint32_t i = 0; i < grid.lines * COLUMNS; i++) {
        weft_free(host, grid.cells[i]);
    }
    weft_free(host, (void *)grid.cells);
    if (grid.failed) {
        weft_text_fail(&text);
    }
    return weft_text_take(&text);
}

/* ---- JSON ---- */

static json_t *test_json(const weft_bench_speed *speed) {
    json_t *rounds = json_array();
    char name[24];
    for (uint32_t i = 0; i < speed->rounds; i++) {
        rounds = weft_cli_json_append(rounds, weft_cli_json_real(speed->ms[i]));
    }
    snprintf(name, sizeof name, "%s%u", speed->is_prompt ? "pp" : "tg", speed->tokens);
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "test", name, "tokens", (json_int_t)speed->tokens,
                     "rounds_ms", rounds, "tokens_per_s", weft_cli_json_real(speed->mean),
                     "deviation", weft_cli_json_real(speed->deviation));
}

static json_t *decoder_json(const weft_bench_decoder *decoder) {
    const weft_device_info *device = &decoder->device;
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:[o, o]}", "model",
        decoder->model, "architecture", decoder->architecture, "parameters",
        (json_int_t)decoder->parameters, "weight_bytes", (json_int_t)decoder->weight_bytes,
        "weights", decoder->weights, "decoding", weft_decoding_name(decoder->decoding), "math",
        weft_math_name(decoder->math), "device", weft_cli_json_text(device->name), "device_type",
        weft_device_type_name(device->type), "driver", weft_cli_json_text(device->driver_version),
        "threads", device->threads > 0 ? json_integer((json_int_t)device->threads) : json_null(),
        "tests", test_json(&decoder->speeds[0]), test_json(&decoder->speeds[1]));
}

static json_t *report_json(const weft_bench_decoder *decoders, uint32_t count,
                           const weft_bench_environment *environment) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        list = weft_cli_json_append(list, decoder_json(&decoders[i]));
    }
    json_t *made = json_pack("{s:s, s:s}", "weft", weft_version(), "started", environment->started);
    return json_pack("{s:i, s:o, s:o, s:b}", "decoders_schema", 1, "environment",
                     weft_cli_json_merge(weft_bench_environment_json(environment), made),
                     "decoders", list, "stopped", weft_cli_stopped());
}

/* ---- both ---- */

static int publish(const weft_bench_decoder *decoders, uint32_t count,
                   const weft_bench_decoders_settings *settings,
                   const weft_bench_environment *environment, const weft_host *host) {
    json_t *report = report_json(decoders, count, environment);
    weft_status status = report ? WEFT_OK : weft_fail_memory(host, "the report");
    if (status == WEFT_OK && settings->json_file) {
        status = weft_bench_file_write(settings->json_file, report, host);
    }
    if (status != WEFT_OK || settings->common.json) {
        const int code = weft_cli_exit_code_of_file(status);
        if (code != WEFT_CLI_FINE) {
            json_decref(report);
            return code;
        }
        return weft_cli_print_json(report);
    }
    json_decref(report);
    char *table = weft_bench_decoders_table(decoders, count, host);
    if (!table) {
        return weft_cli_exit_code(weft_fail_memory(host, "the table"));
    }
    weft_cli_print_lines(stdout, table);
    weft_free(host, table);
    return WEFT_CLI_FINE;
}

static int run(weft_bench_decoder *decoders, const weft_bench_decoders_settings *settings,
               const weft_cli_list *models, const weft_host *host) {
    weft_bench_environment environment = weft_bench_environment_now();
    environment.label = settings->label;
    uint32_t count = 0;
    while (count < models->count && !weft_cli_stopped()) {
        const int code = weft_bench_decoder_time(&decoders[count], settings, models->at[count]);
        if (weft_cli_stopped() && decoders[count].speeds[0].rounds == 0) {
            break; /* while it was loaded: the models before stay */
        }
        WEFT_CLI_TRY(code);
        count++;
    }
    const bool whole = count == models->count && !weft_cli_stopped();
    weft_cli_stop_settle(whole);
    if (count == 0) {
        return WEFT_CLI_FAILED; /* there is nothing to deliver */
    }
    WEFT_CLI_TRY(publish(decoders, count, settings, &environment, host));
    return whole ? WEFT_CLI_FINE : WEFT_CLI_FAILED;
}

int weft_bench_decoders_run(const weft_bench_decoders_settings *settings,
                            const weft_cli_list *models) {
    const weft_host host = weft_cli_host(&settings->common);
    weft_bench_decoder *decoders = weft_alloc_zero(&host, models->count, sizeof *decoders);
    const int code = decoders ? run(decoders, settings, models, &host)
                              : weft_cli_exit_code(weft_fail_memory(&host, "the models' speeds"));
    weft_free(&host, decoders);
    return code;
}
