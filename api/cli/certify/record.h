/* SPDX-License-Identifier: MIT */
/* The record of weft certify as a JSON object: its sections, what sums them up, and the chain of their digests. docs/certify.md has the fields. */
#ifndef WEFT_CLI_CERTIFY_RECORD_H
#define WEFT_CLI_CERTIFY_RECORD_H

#include "bench/environment.h"
#include "bench/state.h"
#include "certify/form.h"
#include "certify/job.h"

#define WEFT_CERTIFY_SECONDS \
    540.0 /* that a record takes unless told otherwise, and at least where it is submitted */

/** The sections in the order of the chain; null behind the last. */
const char *weft_certify_section(uint32_t index);

/** This version of the program. */
json_t *weft_certify_program_json(const weft_certify_job *job);
/** When it was made, and how much time was given. */
json_t *weft_certify_made_json(const weft_certify_job *job, const char *started);
/** What `weft devices` says of it, but for the identity of the single device. */
json_t *weft_certify_device_json(const weft_device_info *info);
/** A moment, with the load by others since the one before. */
json_t *weft_certify_state_json(const char *when, const weft_bench_state *before,
                                const weft_bench_state *now);

/** Sums up the sections bits, models and bench of a record, as its section summary does. */
json_t *weft_certify_summary_json(const json_t *record);

/** Writes the chain of the sections' digests into a record. False when memory is out. */
bool weft_certify_seal(json_t *record);

/** The first section that is not as it was when the record was sealed; null: none. */
const char *weft_certify_broken_section(const json_t *record);

#endif
