/* SPDX-License-Identifier: MIT */
#include "bench/decoders.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/harmless.h"
#include "core/math/philox.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "eval/names.h"
#include "stop.h"

#define SEED 20261130U

/* A model while it is timed. */
typedef struct timing {
    const weft_bench_decoders_settings *settings;
    weft_cli_session session;
    weft_decoder *decoder;
    int32_t *tokens; /* as many as the longer test has */
    float *logits;
    weft_cli_progress progress;
    uint64_t done; /* runs */
} timing;

/* ---- the model ---- */

static uint32_t longest_of(const weft_bench_decoders_settings *settings) {
    return settings->prompt > settings->made ? settings->prompt : settings->made;
}

static int check_model(const timing *self) {
    const weft_cli_session *session = &self->session;
    const weft_model_info *info = &session->info;
    const uint32_t longest = longest_of(self->settings);
    if (info->task != WEFT_TASK_CAUSAL_LM || info->vocabulary == 0) {
        return weft_cli_bad_file(&session->host,
                                 "%s: expected a language model (task causal_lm) over tokens, "
                                 "found task %s",
                                 session->folder, weft_task_name(info->task));
    }
    if (longest > info->max_length) {
        return weft_cli_bad_file(&session->host,
                                 "%s: --prompt-tokens and --new-tokens: expected at most %u, the "
                                 "model's positions, found %u",
                                 session->folder, info->max_length, longest);
    }
    return WEFT_CLI_FINE;
}

static weft_status make_buffers(timing *self) {
    const weft_host *host = &self->session.host;
    const uint32_t longest = longest_of(self->settings);
    const uint32_t vocabulary = self->session.info.vocabulary;
    self->tokens = weft_alloc_zero(host, longest, sizeof *self->tokens);
    self->logits = weft_alloc_zero(host, vocabulary, sizeof *self->logits);
    if (!self->tokens || !self->logits) {
        return weft_fail_memory(host, "tokens and logits");
    }
    for (uint32_t i = 0; i < longest; i++) {
        self->tokens[i] = (int32_t)(weft_philox_u32(SEED, 0, i) % vocabulary);
    }
    return WEFT_OK;
}

static const char *kept_as(const weft_plan_info *plan) {
    return 2 * plan->int8_weight_bytes > plan->weight_bytes     ? "int8"
           : 2 * plan->block_weight_bytes > plan->weight_bytes  ? "blocks"
           : 2 * plan->f16_weight_bytes > plan->weight_bytes    ? "f16"
           : 2 * plan->narrow_weight_bytes > plan->weight_bytes ? "16 bits"
                                                                : "f32";
}

static void name_model(char *name, size_t size, const char *path) {
    int length;
    const char *last = weft_cli_last_part(path, &length);
    weft_harmless(name, size, last, (size_t)length, false);
}

static weft_status describe(weft_bench_decoder *found, const timing *self) {
    weft_decoder_info info;
    WEFT_TRY(weft_decoder_get_info(self->decoder, &info));
    found->decoding = info.decoding;
    found->weight_bytes = info.plan.weight_bytes;
    found->weights = kept_as(&info.plan);
    return WEFT_OK;
}

/* ---- the tests ---- */

static weft_status run_once(timing *self, const weft_bench_speed *speed) {
    weft_decoder_reset(self->decoder);
    if (speed->is_prompt) {
        return weft_decoder_prompt(self->decoder, self->tokens, speed->tokens, self->logits);
    }
    for (uint32_t i = 0; i < speed->tokens; i++) {
        if (weft_cli_stopped()) {
            return WEFT_CANCELLED;
        }
        WEFT_TRY(weft_decoder_step(self->decoder, &self->tokens[i], self->logits));
    }
    return WEFT_OK;
}

/* Mean and deviation of the rounds' rates. */
static void sum_up(weft_bench_speed *speed) {
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < speed->rounds; i++) {
        sum += 1e3 * speed->tokens / speed->ms[i];
    }
    speed->mean = speed->rounds > 0 ? sum / speed->rounds : (double)NAN;
    for (uint32_t i = 0; i < speed->rounds; i++) {
        const double apart = 1e3 * speed->tokens / speed->ms[i] - speed->mean;
        squares += apart * apart;
    }
    speed->deviation = speed->rounds > 1 ? sqrt(squares / (speed->rounds - 1)) : (double)NAN;
}

/* Once to warm up, and the rounds. What was finished before a signal stays. */
static weft_status time_test(timing *self, weft_bench_speed *speed) {
    weft_status status = run_once(self, speed);
    for (uint32_t round = 0; round < self->settings->rounds && status == WEFT_OK; round++) {
        weft_cli_progress_set(&self->progress, ++self->done);
        const double begin = weft_clock_ms();
        status = run_once(self, speed);
        if (status == WEFT_OK) {
            speed->ms[speed->rounds++] = fmax(weft_clock_ms() - begin, 1e-6);
        }
    }
    weft_cli_progress_set(&self->progress, ++self->done);
    sum_up(speed);
    return status == WEFT_CANCELLED && weft_cli_stopped() ? WEFT_OK : status;
}

static weft_status time_tests(weft_bench_decoder *found, timing *self) {
    const weft_decoder_params params = {.max_length = longest_of(self->settings)};
    WEFT_TRY(make_buffers(self));
    WEFT_TRY(
        weft_decoder_create(&self->decoder, self->session.model, self->session.device, &params));
    for (int i = 0; i < 2 && !weft_cli_stopped(); i++) {
        WEFT_TRY(time_test(self, &found->speeds[i]));
    }
    return describe(found, self);
}

static int time_opened(weft_bench_decoder *found, timing *self, const char *path) {
    const weft_bench_decoders_settings *settings = self->settings;
    WEFT_CLI_TRY(weft_cli_session_load(&self->session, &settings->common, path));
    WEFT_CLI_TRY(check_model(self));
    WEFT_CLI_TRY(weft_cli_session_open(&self->session, &settings->common));
    *found = (weft_bench_decoder){
        .parameters = self->session.info.parameters,
        .weights = "f32",
        .device = self->session.device_info,
        .math = weft_device_get_math(self->session.device),
        .speeds = {{.is_prompt = true, .tokens = settings->prompt, .mean = NAN, .deviation = NAN},
                   {.tokens = settings->made, .mean = NAN, .deviation = NAN}}};
    name_model(found->model, sizeof found->model, path);
    snprintf(found->architecture, sizeof found->architecture, "%s",
             self->session.info.architecture);
    weft_cli_progress_begin(&self->progress, found->model, 2 * ((uint64_t)settings->rounds + 1));
    const weft_status status = time_tests(found, self);
    weft_cli_progress_end(&self->progress);
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(status));
    return weft_cli_validation_code(self->session.device);
}

int weft_bench_decoder_time(weft_bench_decoder *found, const weft_bench_decoders_settings *settings,
                            const char *path) {
    timing self = {.settings = settings};
    const int code = time_opened(found, &self, path);
    const weft_host host = self.session.host;
    weft_decoder_destroy(&self.decoder);
    weft_free(&host, self.tokens);
    weft_free(&host, self.logits);
    weft_cli_session_close(&self.session);
    return code;
}
