/* SPDX-License-Identifier: MIT */
/* The short bench of weft certify, several times, and a minute without a pause. */
#ifndef WEFT_CLI_CERTIFY_SPEED_H
#define WEFT_CLI_CERTIFY_SPEED_H

#include "certify/job.h"

/** Two medians of a row that differ by at most that part of the smaller one replicate each other. */
#define WEFT_CERTIFY_REPLICATION 0.05
#define WEFT_CERTIFY_PASSES      5 /* at most: after two, of the rows whose last two do not */

/** Rows of all modes, and of each mode what is said of it. */
typedef struct weft_certify_speed {
    json_t *rows;
    json_t *modes;
} weft_certify_speed;

/** Only memory can fail. weft_certify_speed_free in any case. */
weft_status weft_certify_speed_begin(weft_certify_speed *speed, const weft_host *host);
void weft_certify_speed_free(weft_certify_speed *speed);

/** Times all rows in a mode, or in a later pass those of it that are not replicated; rows for which there is no time are skipped. An exit code. */
int weft_certify_speed_pass(weft_certify_speed *speed, weft_certify_job *job, weft_math math,
                            uint32_t pass, double end_ms);

/** Whether a row's last two medians replicate each other. */
bool weft_certify_replicated(const json_t *row);

/** Rows that some pass has timed and that are not replicated. */
uint32_t weft_certify_unreplicated(const json_t *rows);

/** The tokens of a row of the mixing rate (docs/certify.md); 0 of another row. */
uint32_t weft_certify_rate_tokens(const json_t *row);

/**
 * The geometric mean of tokens per second over the rows of the mixing rate; NaN, with the reason, where one of them is not there or not
 * replicated.
 */
double weft_certify_rate(char reason[WEFT_CLI_ERROR_SIZE], const json_t *rows);

/** One case again and again for so many seconds: its throughput, in all and at both ends. Null when memory is out. */
json_t *weft_certify_sustain(weft_certify_job *job, double seconds);

#endif
