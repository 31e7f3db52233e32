/* SPDX-License-Identifier: MIT */
/* A run of weft certify: what it was asked for, and its time. */
#ifndef WEFT_CLI_CERTIFY_JOB_H
#define WEFT_CLI_CERTIFY_JOB_H

#include "certify/cases.h"
#include "cli.h"

typedef struct weft_certify_job {
    weft_cli_common common; /* the device; every part sets the math that it runs in */
    weft_host host;
    double seconds; /* that all of it may take */
    uint32_t seed;  /* of the cases' order */
    double begin_ms, end_ms;
    weft_certify_cases cases;
    char error[WEFT_CLI_ERROR_SIZE]; /* where errors of the device go while a part runs */
} weft_certify_job;

/** The time at which a part of all time is over; 1: the end. */
double weft_certify_time_at(const weft_certify_job *job, double part);

/** Whether that time has come, or the command was stopped. */
bool weft_certify_is_over(double end_ms);

/** Whether a call ended so because all time is over. */
bool weft_certify_was_cut(const weft_certify_job *job, weft_status status);

/**
 * Opens the device in a mode; errors go to job->error, from now until weft_certify_close. WEFT_NO_DEVICE and the like as
 * weft_cli_open.
 */
weft_status weft_certify_open(weft_device **device, weft_certify_job *job, weft_math math);
void weft_certify_close(weft_device **device, weft_certify_job *job);

/** A real of six digits, or null where JSON has none: readable, and the same when it is read again. */
json_t *weft_certify_real(double value);

#endif
