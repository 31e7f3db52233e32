/* SPDX-License-Identifier: MIT */
#include "bench/environment.h"

#include "cli.h"

weft_bench_environment weft_bench_environment_now(void) {
    weft_bench_environment environment = {.cores = 1};
    struct tm utc;
    if (weft_bench_utc(&utc, time(NULL))) {
        strftime(environment.started, sizeof environment.started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    weft_bench_ask_system(&environment);
    return environment;
}

static json_t *text_or_null(const char *text) {
    return text && text[0] != '\0' ? weft_cli_json_text(text) : json_null();
}

json_t *weft_bench_environment_json(const weft_bench_environment *environment) {
    return json_pack(
        "{s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "label", text_or_null(environment->label),
        "cpu", text_or_null(environment->cpu), "cores", (int)environment->cores, "system",
        text_or_null(environment->system), "memory",
        environment->memory > 0 ? json_integer((json_int_t)environment->memory) : json_null(),
        "governor", text_or_null(environment->governor), "energy_preference",
        text_or_null(environment->energy_preference), "power_plan",
        text_or_null(environment->power_plan));
}
