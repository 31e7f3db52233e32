/* SPDX-License-Identifier: MIT */
#include "bench/ratios.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/fields.h"
#include "cli.h"

static size_t column_of(const json_t *index, const json_t *cell) {
    return (size_t)weft_bench_number(weft_bench_item(index, "entries", cell, "entry"), "column");
}

static bool is_counted(const json_t *cell) {
    return json_is_true(json_object_get(cell, "newest")) &&
           !json_is_true(json_object_get(cell, "refused")) &&
           weft_bench_number(cell, "median_ms") > 0.0;
}

/* ---- which one ---- */

size_t weft_bench_usual_baseline(const json_t *index) {
    const json_t *cases = json_object_get(index, "cases");
    const size_t count = json_array_size(json_object_get(index, "columns"));
    json_t *counts = json_array();
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(counts, json_integer(0));
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *cells = json_object_get(json_array_get(cases, i), "cells");
        for (size_t k = 0; k < json_array_size(cells); k++) {
            const json_t *cell = json_array_get(cells, k);
            json_t *of_column = json_array_get(counts, column_of(index, cell));
            json_integer_set(of_column, json_integer_value(of_column) + is_counted(cell));
        }
    }
    for (size_t i = 1; i < count; i++) {
        most = json_integer_value(json_array_get(counts, i)) >
                       json_integer_value(json_array_get(counts, most))
                   ? i
                   : most;
    }
    json_decref(counts);
    return most;
}

bool weft_bench_find_baseline(size_t *column, const json_t *index, const char *text) {
    const json_t *columns = json_object_get(index, "columns");
    const size_t count = json_array_size(columns);
    size_t part = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *candidate = json_array_get(columns, i);
        const json_t *machine = weft_bench_item(index, "machines", candidate, "machine");
        const char *name = weft_bench_text(machine, "name");
        if (strcmp(name, text) == 0) {
            *column = i;
            return true;
        }
        const bool has = strstr(name, text) || strstr(weft_bench_text(candidate, "device"), text);
        part = has && part == count ? i : part;
    }
    *column = part;
    return part < count;
}

/* ---- sums of logarithms: {"suites": {suite: {column: sum}}, "all": {column: sum}} of each mode ---- */

static json_t *object_in(json_t *owner, const char *name) {
    json_t *inner = json_object_get(owner, name);
    if (!inner) {
        inner = json_object();
        json_object_set_new(owner, name, inner);
    }
    return inner;
}

static void add_to(json_t *columns, size_t column, double ratio) {
    char name[24];
    snprintf(name, sizeof name, "%zu", column);
    json_t *sum = json_object_get(columns, name);
    if (!sum) {
        sum = json_pack("{s:i, s:f}", "cases", 0, "log", 0.0);
        json_object_set_new(columns, name, sum);
    }
    json_t *cases = json_object_get(sum, "cases");
    json_t *logarithm = json_object_get(sum, "log");
    json_integer_set(cases, json_integer_value(cases) + 1);
    json_real_set(logarithm, json_real_value(logarithm) + log(ratio));
}

/* The ratios of a case's cells, also into the sums. */
static void add_case(json_t *modes, const json_t *index, const json_t *line, size_t baseline) {
    const json_t *cells = json_object_get(line, "cells");
    json_t *mode = object_in(modes, weft_bench_text(line, "math"));
    double base_ms = 0.0;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        if (is_counted(cell) && column_of(index, cell) == baseline) {
            base_ms = weft_bench_number(cell, "median_ms");
        }
    }
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *cell = json_array_get(cells, i);
        const bool compared = is_counted(cell) && base_ms > 0.0;
        const double ratio =
            compared ? weft_bench_number(cell, "median_ms") / base_ms : (double)NAN;
        const bool fits = isfinite(ratio) && ratio > 0.0; /* a stranger's times may be 1e308 */
        json_object_set_new(cell, "ratio", fits ? json_real(ratio) : json_null());
        if (fits) {
            const size_t column = column_of(index, cell);
            add_to(object_in(object_in(mode, "suites"), weft_bench_text(line, "suite")), column,
                   ratio);
            add_to(object_in(mode, "all"), column, ratio);
        }
    }
}

/* The means of a suite, or with null of all, of each column that has some. */
static void add_means(json_t *list, json_t *columns, const char *math, const char *suite) {
    const char *column = NULL;
    json_t *sum = NULL;
    json_object_foreach(columns, column, sum) {
        const double cases = weft_bench_number(sum, "cases");
        json_array_append_new(
            list,
            json_pack("{s:s, s:s?, s:I, s:I, s:o}", "math", math, "suite", suite, "column",
                      (json_int_t)strtoul(column, NULL, 10), "cases", (json_int_t)cases, "ratio",
                      weft_cli_json_real(exp(weft_bench_number(sum, "log") / cases))));
    }
}

weft_status weft_bench_ratios_add(json_t *index, size_t baseline, const weft_host *host) {
    const json_t *cases = json_object_get(index, "cases");
    const size_t count = json_array_size(json_object_get(index, "columns"));
    json_t *modes = json_object();
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(cases); i++) {
        add_case(modes, index, json_array_get(cases, i), baseline);
    }
    const char *math = NULL;
    json_t *mode = NULL;
    json_object_foreach(modes, math, mode) {
        const char *suite = NULL;
        json_t *columns = NULL;
        json_object_foreach(json_object_get(mode, "suites"), suite, columns) {
            add_means(list, columns, math, suite);
        }
        add_means(list, json_object_get(mode, "all"), math, NULL);
    }
    json_decref(modes);
    json_object_set_new(index, "baseline",
                        count > 0 ? json_integer((json_int_t)baseline) : json_null());
    return json_object_set_new(index, "ratios", list) == 0 ? WEFT_OK
                                                           : weft_fail_memory(host, "the ratios");
}
