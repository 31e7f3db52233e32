/* SPDX-License-Identifier: MIT */
/*
 * bench/expected.json: SHA-256 of the outputs of the cases of `weft bench` in reproducible mode, where every device has the
 * same bits. {"schema": 1, "sha256": {"<suite>/<case>": "<64 hexadecimal digits>", …}}, keys sorted. It is embedded in the
 * command.
 */
#ifndef WEFT_BENCH_EXPECTED_H
#define WEFT_BENCH_EXPECTED_H

#include "bench/case.h"
#include "core/hash.h"
#include "core/host.h"

typedef struct weft_bench_expected weft_bench_expected;

/** The embedded file. WEFT_BAD_FILE when it is none of these. Free it with weft_bench_expected_destroy. */
weft_status weft_bench_expected_create(weft_bench_expected **expected, const weft_host *host);
void weft_bench_expected_destroy(weft_bench_expected **expected);

/** The hash of a case, or null when there is none. Lives as long as `expected`. */
const char *weft_bench_expected_hash(const weft_bench_expected *expected, const char *suite,
                                     const char *name);

/** Sets the hash of a case, for weft_bench_expected_write. */
weft_status weft_bench_expected_set(weft_bench_expected *expected, const char *suite,
                                    const char *name, const char *sha256);

/** Writes a file as the embedded one, with the hashes that were set. */
weft_status weft_bench_expected_write(const weft_bench_expected *expected, const char *path);

#endif
