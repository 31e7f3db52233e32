/* SPDX-License-Identifier: MIT */
#include "generate_report.h"

#include <stdio.h>
#include <string.h>

#include "console.h"
#include "core/formats/json.h"
#include "core/try.h"
#include "stop.h"

void weft_cli_generation_clear(weft_cli_generation *result, const weft_host *host) {
    for (uint32_t i = 0; i < result->count; i++) {
        weft_free(host, result->made[i].tokens);
        weft_free(host, result->made[i].text);
    }
    weft_free(host, result->made);
    weft_free(host, result->times);
    *result = (weft_cli_generation){0};
}

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
    const uint32_t quarter = result->steps < 4 ? result->steps : result->steps / 4;
    if (quarter == 0) {
        *first_ms = *last_ms = 0.0;
        return WEFT_OK;
    }
    WEFT_TRY(find_median(first_ms, result->times, quarter, host));
    return find_median(last_ms, result->times + result->steps - quarter, quarter, host);
}

/* ---- JSON ---- */

static json_t *tokens_json(const weft_cli_made *made) {
    json_t *tokens = json_array();
    for (uint32_t i = 0; i < made->count; i++) {
        tokens = weft_cli_json_append(tokens, json_integer((json_int_t)made->tokens[i]));
    }
    return tokens;
}

static json_t *made_json(const weft_cli_made *made, const weft_host *host) {
    return json_pack("{s:I, s:o, s:b, s:s, s:o}", "prompt_tokens", (json_int_t)made->prompt_length,
                     "tokens", tokens_json(made), "ended", made->ending == WEFT_ENDING_END_TOKEN,
                     "ending", weft_ending_name(made->ending), "text",
                     weft_json_string_of(made->text, made->text_size, host));
}

/* The fields of a single text, or the list of several. */
static json_t *texts_json(const weft_cli_generation *result, const weft_host *host) {
    if (result->is_single && result->count == 1) {
        return made_json(&result->made[0], host);
    }
    json_t *texts = json_array();
    for (uint32_t i = 0; i < result->count; i++) {
        texts = weft_cli_json_append(texts, made_json(&result->made[i], host));
    }
    return json_pack("{s:o}", "texts", texts);
}

static json_t *times_json(const weft_cli_generation *result, double first_ms, double last_ms) {
    json_t *times = json_array();
    for (uint32_t i = 0; i < result->steps; i++) {
        json_array_append_new(times, weft_cli_json_real(result->times[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "prompt", weft_cli_json_real(result->prompt_ms),
                     "first_quarter", weft_cli_json_real(first_ms), "last_quarter",
                     weft_cli_json_real(last_ms), "tokens", times);
}

static json_t *sampling_json(const weft_generator_params *params) {
    const weft_sampling *sampling = &params->sampling;
    const double penalty = params->repetition_penalty > 0.0 ? params->repetition_penalty : 1.0;
    if (sampling->temperature <= 0.0) {
        return json_pack("{s:b, s:o}", "greedy", 1, "repetition_penalty",
                         weft_cli_json_real(penalty));
    }
    char seed[24]; /* as text: a JSON number may lose digits */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)sampling->seed);
    return json_pack("{s:b, s:s, s:o, s:I, s:o, s:o}", "greedy", 0, "seed", seed, "temperature",
                     weft_cli_json_real(sampling->temperature), "top_k",
                     (json_int_t)sampling->top_k, "top_p",
                     weft_cli_json_real(sampling->top_p > 0.0 ? sampling->top_p : 1.0),
                     "repetition_penalty", weft_cli_json_real(penalty));
}

static json_t *report_json(const weft_cli_generation *result, const weft_cli_session *session,
                           const weft_device_stats *stats) {
    const weft_decoder_info *info = &result->info;
    return json_pack(
        "{s:o, s:s, s:o, s:s, s:s, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "model",
        weft_cli_json_text(session->folder), "architecture", session->info.architecture, "device",
        weft_cli_device_json(&session->device_info), "math",
        weft_math_name(weft_device_get_math(session->device)), "decoding",
        weft_decoding_name(info->decoding), "sampling", sampling_json(result->params), "stopped",
        (int)weft_cli_stopped(), "state_bytes", (json_int_t)info->state_bytes, "plan_length",
        (json_int_t)info->plan_length, "arena_bytes", (json_int_t)info->plan.arena_bytes,
        "weight_bytes", (json_int_t)info->plan.weight_bytes, "dispatches",
        (json_int_t)info->plan.dispatches, "peak_bytes", (json_int_t)stats->peak_bytes,
        "validation_messages", (json_int_t)stats->validation_messages);
}

int weft_cli_generation_json(const weft_cli_generation *result, const weft_cli_session *session) {
    double first_ms = 0.0;
    double last_ms = 0.0;
    weft_device_stats stats;
    WEFT_CLI_TRY(weft_cli_exit_code(find_quarters(&first_ms, &last_ms, result, &session->host)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_device_get_stats(session->device, &stats)));
    json_t *report = report_json(result, session, &stats);
    json_t *texts = texts_json(result, &session->host);
    const bool whole =
        report && texts && json_object_update(report, texts) == 0 &&
        json_object_set_new(report, "ms", times_json(result, first_ms, last_ms)) == 0;
    json_decref(texts);
    if (!whole) {
        json_decref(report);
        report = NULL;
    }
    return weft_cli_print_json(report);
}

/* ---- text ---- */

int weft_cli_generation_text(const weft_cli_generation *result, const weft_cli_session *session) {
    const weft_decoder_info *info = &result->info;
    char bytes[WEFT_CLI_BYTES_SIZE];
    double first_ms = 0.0;
    double last_ms = 0.0;
    uint64_t read = 0;
    uint64_t made = 0;
    WEFT_CLI_TRY(weft_cli_exit_code(find_quarters(&first_ms, &last_ms, result, &session->host)));
    for (uint32_t i = 0; i < result->count; i++) {
        read += result->made[i].prompt_length;
        made += result->made[i].count;
    }
    if (result->is_single && weft_cli_is_terminal(stdout)) {
        weft_cli_print(stdout, "\n");
    }
    weft_cli_print(stderr, "weft: ");
    if (!result->is_single) {
        weft_cli_print(stderr, "%u texts, ", result->count);
    }
    weft_cli_print(stderr,
                   "%llu + %llu tokens, %s: %.2f ms for a token%s in the first quarter, %.2f ms in "
                   "the last; ",
                   (unsigned long long)read, (unsigned long long)made,
                   weft_decoding_name(info->decoding), first_ms,
                   result->is_single ? "" : " of each", last_ms);
    if (info->decoding == WEFT_DECODING_RECURRENT) {
        weft_cli_print(stderr, "state of %s", weft_cli_bytes(info->state_bytes, bytes));
    } else {
        weft_cli_print(stderr, "plan of %u tokens", info->plan_length);
    }
    weft_cli_print(stderr, "; %s (%s)\n", session->device_info.name,
                   weft_device_type_name(session->device_info.type));
    return WEFT_CLI_FINE;
}
