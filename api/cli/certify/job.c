/* SPDX-License-Identifier: MIT */
#include "certify/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/system/clock.h"
#include "stop.h"

double weft_certify_time_at(const weft_certify_job *job, double part) {
    return job->begin_ms + part * (job->end_ms - job->begin_ms);
}

bool weft_certify_is_over(double end_ms) {
    return weft_clock_ms() >= end_ms || weft_cli_stopped();
}

bool weft_certify_was_cut(const weft_certify_job *job, weft_status status) {
    return status == WEFT_CANCELLED && weft_certify_is_over(job->end_ms);
}

weft_status weft_certify_open(weft_device **device, weft_certify_job *job, weft_math math) {
    job->common.math = math;
    job->error[0] = '\0';
    job->common.error = job->error;
    const weft_status status = weft_cli_open(device, &job->common);
    if (status != WEFT_OK) {
        job->common.error = NULL;
    }
    return status;
}

void weft_certify_close(weft_device **device, weft_certify_job *job) {
    weft_device_destroy(device);
    job->common.error = NULL;
}

json_t *weft_certify_real(double value) {
    char text[40];
    if (!isfinite(value)) {
        return json_null();
    }
    snprintf(text, sizeof text, "%.6g", value);
    return json_real(strtod(text, NULL));
}
