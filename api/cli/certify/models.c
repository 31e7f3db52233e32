/* SPDX-License-Identifier: MIT */
#include "certify/models.h"

#include <stdio.h>
#include <string.h>

#include <weft/model.h>

#include "certify/files.h"
#include "core/formats/npz.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "logits.h"
#include "members.h"
#include "session.h"

#define DATA  "data/langid1024.npz"
#define BATCH 4 /* examples in a run */

static const char *const names[] = {"langid1024-fnet", "langid1024-tnn", "langid1024-fmmformer"};

const char *weft_certify_model_name(uint32_t index) {
    return index < WEFT_CERTIFY_MODELS ? names[index] : NULL;
}

static const weft_certify_file *find_file(const char *folder, const char *model, const char *file) {
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", folder, model, file);
    for (size_t i = 0; i < weft_certify_file_count; i++) {
        if (strcmp(weft_certify_files[i].name, name) == 0) {
            return &weft_certify_files[i];
        }
    }
    return NULL;
}

bool weft_certify_model_known(char text[WEFT_DIGEST_TEXT_SIZE], const char *name, weft_math math) {
    const weft_certify_file *file = find_file(
        "models/", name, math == WEFT_MATH_FUSED ? "/logits-fused.sha256" : "/logits-12.sha256");
    if (!file || file->size < WEFT_DIGEST_TEXT_SIZE ||
        !weft_is_digest_text(file->data, WEFT_DIGEST_TEXT_SIZE - 1)) {
        return false;
    }
    memcpy(text, file->data, WEFT_DIGEST_TEXT_SIZE - 1);
    text[WEFT_DIGEST_TEXT_SIZE - 1] = '\0';
    return true;
}

/* ---- the test set ---- */

typedef struct tokens {
    int32_t *ids; /* of all examples, one after the other */
    uint32_t examples, length;
} tokens;

static weft_status read_tokens(tokens *read, const weft_certify_job *job) {
    const weft_certify_file *file = find_file(DATA, "", "");
    weft_host host = job->host;
    host.interrupted = NULL; /* it is small; what ends when its time is over are runs */
    weft_cli_archive archive = {.path = DATA, .host = &host, .left = UINT64_MAX};
    WEFT_TRY(weft_npz_open_memory(&archive.npz, file->data, file->size, DATA, &host));
    const weft_cli_member wanted = {.name = "tokens", .values = WEFT_CLI_INTEGERS, .axes = "Nn"};
    uint32_t shape[WEFT_CLI_MEMBER_RANK];
    const int code = weft_cli_member_integers(&read->ids, shape, &archive, &wanted);
    weft_cli_archive_close(&archive);
    read->examples = shape[0];
    read->length = shape[1];
    return code == WEFT_CLI_FINE ? WEFT_OK : WEFT_BAD_FILE;
}

/* ---- a model ---- */

typedef struct trial {
    weft_model *model;
    weft_plan *plan;
    int32_t *ids;   /* of a batch */
    float *logits;  /* of a batch */
    uint64_t count; /* of them */
    double timed_ms;
    uint32_t timed; /* examples, without those of the first run */
    bool cut;       /* the time was over before the end */
    char digest[WEFT_DIGEST_TEXT_SIZE];
} trial;

static weft_status prepare(trial *made, const char *name, const tokens *data, weft_device *device,
                           const weft_host *host) {
    const weft_certify_file *weights = find_file("models/", name, "/model.safetensors");
    WEFT_TRY(weft_model_load_memory(
        &made->model,
        weft_model_memory(.config_json = find_file("models/", name, "/config.json")->data,
                          .weights = weights->data, .weights_size = weights->size),
        host));
    WEFT_TRY(weft_model_compile_shape(&made->plan, made->model, device,
                                      weft_model_shape(.batch = BATCH, .length = data->length),
                                      weft_plan_params(.timestamps = false)));
    weft_cli_output output;
    WEFT_TRY(weft_cli_output_of(&output, made->plan, made->model, BATCH, data->length, host));
    made->count = output.elements;
    made->ids = weft_alloc_zero(host, (size_t)BATCH * data->length, sizeof *made->ids);
    made->logits = weft_alloc_zero(host, (size_t)made->count, sizeof *made->logits);
    return made->ids && made->logits ? WEFT_OK : weft_fail_memory(host, name);
}

static weft_status run_batch(trial *run, const tokens *data, uint32_t first) {
    for (uint32_t slot = 0; slot < BATCH; slot++) {
        const size_t example =
            (size_t)(first + slot) * data->examples / WEFT_CERTIFY_EXAMPLES; /* evenly spread */
        memcpy(&run->ids[(size_t)slot * data->length], &data->ids[example * data->length],
               data->length * sizeof *run->ids);
    }
    const weft_host_tensor tensors[] = {
        {"tokens", run->ids, (uint64_t)BATCH * data->length * sizeof *run->ids},
        {"output", run->logits, run->count * sizeof *run->logits}};
    const double begin = weft_clock_ms();
    WEFT_TRY(weft_plan_execute(run->plan, tensors, 2));
    if (first > 0) {
        run->timed_ms += weft_clock_ms() - begin;
        run->timed += BATCH;
    }
    return WEFT_OK;
}

static weft_status run_trial(trial *run, const char *name, const tokens *data, weft_device *device,
                             double end_ms, const weft_host *host) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    WEFT_TRY(prepare(run, name, data, device, host));
    for (uint32_t first = 0; first < WEFT_CERTIFY_EXAMPLES; first += BATCH) {
        run->cut = weft_certify_is_over(end_ms);
        if (run->cut) {
            return WEFT_OK;
        }
        WEFT_TRY(run_batch(run, data, first));
        weft_cli_hash_add(&hash, run->logits, run->count);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    weft_digest_text(&digest, run->digest);
    return WEFT_OK;
}

/* ---- rows ---- */

static json_t *row_json(const trial *run, const char *name, weft_math math, const char *status,
                        const char *reason, uint32_t length) {
    char expected[WEFT_DIGEST_TEXT_SIZE];
    const bool known = weft_certify_model_known(expected, name, math);
    const bool done = run->digest[0] != '\0';
    return json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o, s:o, s:o}", "model", name, "math",
                     weft_math_name(math), "status", status, "reason",
                     reason ? weft_cli_json_text(reason) : json_null(), "examples",
                     WEFT_CERTIFY_EXAMPLES, "expected", known ? json_string(expected) : json_null(),
                     "found", done ? json_string(run->digest) : json_null(), "agrees",
                     done && known ? json_boolean(strcmp(expected, run->digest) == 0) : json_null(),
                     "tokens_per_s",
                     done ? weft_certify_real(1e3 * run->timed * length / run->timed_ms)
                          : json_null());
}

static weft_status run_model(json_t *rows, weft_certify_job *job, const char *name,
                             const tokens *data, weft_device *device, double end_ms) {
    trial run = {.model = NULL};
    const weft_math math = job->common.math;
    weft_status status = WEFT_OK;
    run.cut = weft_certify_is_over(end_ms);
    if (!run.cut) {
        job->error[0] = '\0';
        status = run_trial(&run, name, data, device, end_ms, &job->host);
        run.cut = run.cut || weft_certify_was_cut(job, status);
    }
    json_t *row =
        run.cut
            ? row_json(&run, name, math, "skipped", "the time for models was over", data->length)
        : status != WEFT_OK
            ? row_json(&run, name, math, weft_status_name(status), job->error, data->length)
            : row_json(&run, name, math, "ok", NULL, data->length);
    weft_free(&job->host, run.ids);
    weft_free(&job->host, run.logits);
    weft_plan_destroy(&run.plan);
    weft_model_destroy(&run.model);
    return json_array_append_new(rows, row) == 0 ? WEFT_OK
                                                 : weft_fail_memory(&job->host, "the rows");
}

weft_status weft_certify_models_run(json_t *rows, weft_certify_job *job, weft_math math,
                                    double end_ms) {
    tokens data = {0};
    weft_device *device = NULL;
    weft_status status = read_tokens(&data, job);
    const weft_status opened = status == WEFT_OK ? weft_certify_open(&device, job, math) : status;
    char reason[WEFT_CLI_ERROR_SIZE];
    snprintf(reason, sizeof reason, "%s", job->error);
    for (uint32_t i = 0; status == WEFT_OK && i < WEFT_CERTIFY_MODELS; i++) {
        const trial none = {.model = NULL};
        if (opened == WEFT_OK || weft_certify_was_cut(job, opened)) {
            status = run_model(rows, job, names[i], &data, device, end_ms);
        } else if (json_array_append_new(rows,
                                         row_json(&none, names[i], math, weft_status_name(opened),
                                                  reason, data.length)) != 0) {
            status = weft_fail_memory(&job->host, "the rows");
        }
    }
    if (device) {
        weft_certify_close(&device, job);
    }
    weft_free(&job->host, data.ids);
    return status;
}
