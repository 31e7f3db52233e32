/* SPDX-License-Identifier: MIT */
#include "generate_report.h"

#include <stdio.h>
#include <string.h>

#include "console.h"
#include "core/json.h"
#include "core/try.h"
#include "stop.h"

/* ---- times ---- */

static weft_status find_median(double *median, const double *times, uint32_t count,
                               const weft_host *host) {
    double *sorted = weft_alloc(host, count * sizeof *sorted);
    if (!sorted) {
        return weft_fail_memory(host, "times");
    }
    memcpy(sorted, times, count * sizeof *sorted);
    *median = weft_cli_median(sorted, count);
    weft_free(host, sorted);
    return WEFT_OK;
}

/* Medians of the first and the last quarter of the times, all of them where there are fewer than four. */
static weft_status find_quarters(double *first_ms, double *last_ms,
                                 const weft_cli_generation *result, const weft_host *host) {
    const uint32_t quarter = result->count < 4 ? result->count : result->count / 4;
    WEFT_TRY(find_median(first_ms, result->times, quarter, host));
    return find_median(last_ms, result->times + result->count - quarter, quarter, host);
}

/* ---- JSON ---- */

size_t weft_cli_generation_begin(const weft_cli_generation *result) {
    return result->prompt_size < result->text_size ? result->prompt_size : result->text_size;
}

static json_t *tokens_json(const weft_cli_generation *result) {
    json_t *tokens = json_array();
    for (uint32_t i = 0; i < result->count; i++) {
        tokens = weft_cli_json_append(tokens, json_integer((json_int_t)result->tokens[i]));
    }
    return tokens;
}

/* What the tokens add. */
static json_t *text_json(const weft_cli_generation *result, const weft_host *host) {
    const size_t begin = weft_cli_generation_begin(result);
    return weft_json_string_of(result->text + begin, result->text_size - begin, host);
}

static json_t *times_json(const weft_cli_generation *result, double first_ms, double last_ms) {
    json_t *times = json_array();
    for (uint32_t i = 0; i < result->count; i++) {
        json_array_append_new(times, weft_cli_json_real(result->times[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "prompt", weft_cli_json_real(result->prompt_ms),
                     "first_quarter", weft_cli_json_real(first_ms), "last_quarter",
                     weft_cli_json_real(last_ms), "tokens", times);
}

static json_t *sampling_json(const weft_sampling *sampling) {
    if (sampling->temperature <= 0.0) {
        return json_pack("{s:b}", "greedy", 1);
    }
    char seed[24]; /* as text: a JSON number may lose digits */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)sampling->seed);
    return json_pack("{s:b, s:s, s:o, s:I}", "greedy", 0, "seed", seed, "temperature",
                     weft_cli_json_real(sampling->temperature), "top_k",
                     (json_int_t)sampling->top_k);
}

int weft_cli_generation_json(const weft_cli_generation *result, const weft_cli_session *session) {
    const weft_decoder_info *info = &result->info;
    double first_ms = 0.0;
    double last_ms = 0.0;
    weft_device_stats stats;
    WEFT_CLI_TRY(weft_cli_exit_code(find_quarters(&first_ms, &last_ms, result, &session->host)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_device_get_stats(session->device, &stats)));
    return weft_cli_print_json(
        json_pack("{s:o, s:s, s:o, s:s, s:s, s:o, s:I, s:o, s:b, s:b, s:o, s:o, s:I, s:I, s:I, "
                  "s:I, s:I, s:I, "
                  "s:I}",
                  "model", weft_cli_json_text(session->folder), "architecture",
                  session->info.architecture, "device", weft_cli_device_json(&session->device_info),
                  "math", weft_math_name(weft_device_get_math(session->device)), "decoding",
                  weft_decoding_name(info->decoding), "sampling", sampling_json(&result->sampling),
                  "prompt_tokens", (json_int_t)result->prompt_length, "tokens", tokens_json(result),
                  "ended", result->ended, "stopped", (int)weft_cli_stopped(), "text",
                  text_json(result, &session->host), "ms", times_json(result, first_ms, last_ms),
                  "state_bytes", (json_int_t)info->state_bytes, "plan_length",
                  (json_int_t)info->plan_length, "arena_bytes", (json_int_t)info->plan.arena_bytes,
                  "weight_bytes", (json_int_t)info->plan.weight_bytes, "dispatches",
                  (json_int_t)info->plan.dispatches, "peak_bytes", (json_int_t)stats.peak_bytes,
                  "validation_messages", (json_int_t)stats.validation_messages));
}

/* ---- text ---- */

int weft_cli_generation_text(const weft_cli_generation *result, const weft_cli_session *session) {
    const weft_decoder_info *info = &result->info;
    char bytes[WEFT_CLI_BYTES_SIZE];
    double first_ms = 0.0;
    double last_ms = 0.0;
    WEFT_CLI_TRY(weft_cli_exit_code(find_quarters(&first_ms, &last_ms, result, &session->host)));
    if (weft_cli_is_terminal(stdout)) {
        weft_cli_print(stdout, "\n");
    }
    weft_cli_print(
        stderr,
        "weft: %u + %u tokens, %s: %.2f ms for a token in the first quarter, %.2f ms in the "
        "last; ",
        result->prompt_length, result->count, weft_decoding_name(info->decoding), first_ms,
        last_ms);
    if (info->decoding == WEFT_DECODING_RECURRENT) {
        weft_cli_print(stderr, "state of %s", weft_cli_bytes(info->state_bytes, bytes));
    } else {
        weft_cli_print(stderr, "plan of %u tokens", info->plan_length);
    }
    weft_cli_print(stderr, "; %s (%s)\n", session->device_info.name,
                   weft_device_type_name(session->device_info.type));
    return WEFT_CLI_FINE;
}
