/* SPDX-License-Identifier: MIT */
#include "eval_expect.h"

#include <math.h>

#include "input.h"
#include "logits.h"
#include "model/npz.h"

#define MEMBER_LIMIT ((size_t)1 << 31)

static int read_logits(float **values, weft_npz *npz, const char *path, uint32_t count,
                       const weft_cli_session *session) {
    const weft_host *host = &session->host;
    uint32_t labels = session->info.label_count;
    weft_npy npy = {0};
    weft_status status = weft_npz_get(&npy, npz, "logits", MEMBER_LIMIT);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    if (npy.rank != 2 || npy.shape[0] != count || npy.shape[1] != labels) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        status =
            weft_fail(host, WEFT_BAD_FILE, "%s: member logits: expected shape [%u, %u], found %s",
                      path, count, labels, weft_npy_shape_text(&npy, shape));
    }
    float *expected =
        status == WEFT_OK ? weft_alloc_zero(host, (size_t)npy.elements, sizeof *expected) : NULL;
    if (status == WEFT_OK) {
        status =
            expected == NULL ? weft_fail_memory(host, path) : weft_npy_read_f32(&npy, expected);
    }
    weft_npy_close(&npy);
    if (status != WEFT_OK) {
        weft_free(host, expected);
        return weft_cli_exit_code_of_file(status);
    }
    *values = expected;
    return WEFT_CLI_FINE;
}

/* The member `labels`, or the largest logits' indices where it is missing. */
static int read_labels(weft_cli_expected *expected, weft_npz *npz, const char *path, uint32_t count,
                       const weft_cli_session *session) {
    const weft_host *host = &session->host;
    uint32_t labels = session->info.label_count;
    if (weft_npz_has(npz, "labels")) {
        return weft_cli_read_row(&expected->labels, npz, "labels", count, path, host);
    }
    expected->labels = weft_alloc_zero(host, count, sizeof *expected->labels);
    if (expected->labels == NULL) {
        return weft_cli_exit_code(weft_fail_memory(host, path));
    }
    for (uint32_t index = 0; index < count; index++) {
        expected->labels[index] =
            (int32_t)weft_cli_argmax(&expected->logits[(size_t)index * labels], labels);
    }
    return WEFT_CLI_FINE;
}

void weft_cli_expected_clear(weft_cli_expected *expected, const weft_host *host) {
    weft_free(host, expected->logits);
    weft_free(host, expected->labels);
    *expected = (weft_cli_expected){0};
}

int weft_cli_expected_load(weft_cli_expected *expected, const char *path, const weft_cli_data *data,
                           const weft_cli_session *session) {
    weft_npz *npz = NULL;
    weft_status status = weft_npz_open(&npz, path, &session->host);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    weft_cli_expected loaded = {0};
    int exit_code = read_logits(&loaded.logits, npz, path, data->count, session);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = read_labels(&loaded, npz, path, data->count, session);
    }
    weft_npz_close(&npz);
    if (exit_code != WEFT_CLI_FINE) {
        weft_cli_expected_clear(&loaded, &session->host);
        return exit_code;
    }
    *expected = loaded;
    return WEFT_CLI_FINE;
}

weft_cli_comparison weft_cli_compare(const float *logits, const weft_cli_expected *expected,
                                     uint32_t count, uint32_t labels) {
    weft_cli_comparison comparison = {0};
    for (uint32_t index = 0; index < count; index++) {
        const float *ours = &logits[(size_t)index * labels];
        const float *theirs = &expected->logits[(size_t)index * labels];
        for (uint32_t label = 0; label < labels; label++) {
            double difference = fabs((double)ours[label] - (double)theirs[label]);
            /* A NaN on either side must not pass for small. */
            if (!(difference <= comparison.largest)) {
                comparison.largest = isnan(difference) ? (double)INFINITY : difference;
            }
        }
        if ((int32_t)weft_cli_argmax(ours, labels) != expected->labels[index]) {
            comparison.first = comparison.different == 0 ? index : comparison.first;
            comparison.different++;
        }
    }
    return comparison;
}
