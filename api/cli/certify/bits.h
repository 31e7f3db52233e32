/* SPDX-License-Identifier: MIT */
/* The bits of the cases in one mode, against those that the program knows. */
#ifndef WEFT_CLI_CERTIFY_BITS_H
#define WEFT_CLI_CERTIFY_BITS_H

#include "certify/job.h"

typedef enum weft_certify_outcome {
    WEFT_CERTIFY_NOT_RUN = 0,
    WEFT_CERTIFY_PASSED, /* right by float64, and the known bits */
    WEFT_CERTIFY_FAILED,
    WEFT_CERTIFY_SKIPPED /* not for this device */
} weft_certify_outcome;

typedef struct weft_certify_result {
    weft_certify_outcome outcome;
    char digits[WEFT_CERTIFY_DIGITS_SIZE]; /* of its output; "-" without one */
} weft_certify_result;

/** Cases in one mode. The first `done` of the order have been tried. */
typedef struct weft_certify_bits {
    weft_math math;
    weft_status status; /* of opening the device: nothing ran unless WEFT_OK */
    char reason[WEFT_CLI_ERROR_SIZE];
    weft_fma fma;                 /* how it computes one in that mode */
    weft_certify_result *results; /* by the place in the list of cases */
    uint32_t done;
    uint32_t counts[4]; /* by outcome */
    json_t *skips;      /* names of skipped cases, by reason */
    json_t *failures;
} weft_certify_bits;

/** Only memory can fail. weft_certify_bits_free in any case. */
weft_status weft_certify_bits_begin(weft_certify_bits *bits, weft_math math,
                                    const weft_certify_job *job);

/**
 * Goes on with the next cases, up to `last` of them or until that time, but at least one, on the device, which is opened for that. Only memory can fail.
 */
weft_status weft_certify_bits_run(weft_certify_bits *bits, weft_certify_job *job, uint32_t last,
                                  double end_ms);

/** Notes what a run of the case at this place of the list says about the device. False when memory is out. */
bool weft_certify_judge(weft_certify_bits *bits, uint32_t place, weft_case_result *result,
                        const weft_case *c, weft_device *device, const weft_certify_job *job);

/** What came of it; null when memory is out. */
json_t *weft_certify_bits_json(const weft_certify_bits *bits, const weft_certify_job *job);

void weft_certify_bits_free(weft_certify_bits *bits, const weft_host *host);

#endif
