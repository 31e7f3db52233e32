/* SPDX-License-Identifier: MIT */
/* What `weft bench` found, as JSON (bench/README.md and bench/schema.json have the fields). */
#ifndef WEFT_BENCH_REPORT_H
#define WEFT_BENCH_REPORT_H

#include "bench/session.h"

#define WEFT_BENCH_SCHEMA 2 /* the version of the JSON's form */

/** A new reference; null when memory is out. */
json_t *weft_bench_report_json(const weft_bench_session *session);

#endif
