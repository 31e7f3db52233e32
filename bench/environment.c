/* SPDX-License-Identifier: MIT */
#include "bench/environment.h"

weft_bench_environment weft_bench_environment_now(void) {
    weft_bench_environment environment = {.cores = 1};
    struct tm utc;
    if (weft_bench_utc(&utc, time(NULL))) {
        strftime(environment.started, sizeof environment.started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    weft_bench_ask_system(&environment);
    return environment;
}
