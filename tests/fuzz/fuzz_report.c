/* SPDX-License-Identifier: MIT */
/* Any bytes as a report of `weft bench`: checked, compared with itself both ways, and written as CSV. */
#include "bench/compare.h"
#include "bench/csv.h"
#include "bench/file.h"
#include "fuzz.h"

/* A report and itself without its first row differ by no more than that row. */
static void compare(const json_t *report) {
    static const weft_bench_noise noise = {WEFT_BENCH_HARDWARE_NOISE, WEFT_BENCH_SOFTWARE_NOISE};
    json_t *less = json_deep_copy(report);
    fuzz_expect(less != NULL);
    json_array_remove(json_object_get(less, "rows"), 0);
    for (int turn = 0; turn < 3; turn++) {
        json_t *comparison =
            weft_bench_compare(turn == 1 ? less : report, turn == 2 ? less : report, &noise);
        fuzz_expect(comparison != NULL);
        if (turn == 0) {
            fuzz_expect(weft_bench_compare_count(comparison, "slower") == 0);
            fuzz_expect(weft_bench_compare_count(comparison, "faster") == 0);
            fuzz_expect(weft_bench_compare_count(comparison, "gone") == 0);
            fuzz_expect(weft_bench_compare_count(comparison, "output_changed") == 0);
        }
        json_decref(comparison);
    }
    json_decref(less);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const weft_host host = {0};
    json_t *report = NULL;
    const weft_status status = weft_bench_file_read(&report, fuzz_file(data, size), &host);
    fuzz_expect((status == WEFT_OK) == (report != NULL));
    if (report) {
        compare(report);
        fuzz_expect(weft_bench_csv_write("/dev/null", report, &host) == WEFT_OK);
        json_decref(report);
    }
    return 0;
}
