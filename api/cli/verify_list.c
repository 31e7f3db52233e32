/* SPDX-License-Identifier: MIT */
#include "verify_list.h"

#include <stdio.h>
#include <string.h>

#include "core/system/file.h"

#define LIST_LIMIT ((size_t)1 << 20)

/*
 * What a case takes a software driver, roughly and in milliseconds: most of it is compiling kernels it has not had yet.
 * Numbers and not a clock, so that the same list comes out everywhere.
 */
#define MS_PER_CASE  20.0
#define MS_PER_BYTE  0.04
#define MS_PER_GROUP 0.1
#define MS_PER_FLOP  2e-6

/* ---- reading ---- */

static bool mark_listed(weft_verify_record *record, const char *name, size_t length) {
    for (uint32_t i = 0; i < record->case_count; i++) {
        weft_verify_case *what = &record->cases[i];
        if (strncmp(what->name, name, length) == 0 && what->name[length] == '\0') {
            what->listed = true;
            return true;
        }
    }
    return false;
}

static weft_status mark_lines(weft_verify_record *record, const char *text, size_t size,
                              const char *path) {
    uint32_t line = 1;
    for (size_t at = 0; at < size; line++) {
        size_t length = 0;
        while (at + length < size && text[at + length] != '\n') {
            length++;
        }
        if (length > 0 && text[at] != '#' && !mark_listed(record, text + at, length)) {
            return weft_fail(&record->host, WEFT_BAD_FILE, "%s: line %u: '%.*s' is no case", path,
                             line, (int)(length < WEFT_CASE_NAME_SIZE ? length : 64), text + at);
        }
        at += length + 1;
    }
    return WEFT_OK;
}

int weft_verify_read_list(weft_verify_record *record, const char *path) {
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status = weft_file_read(&data, &size, LIST_LIMIT, path, &record->host);
    if (status == WEFT_OK) {
        status = mark_lines(record, (const char *)data, size, path);
    }
    weft_free(&record->host, data);
    return weft_cli_exit_code_of_file(status);
}

void weft_verify_keep_listed(weft_verify_record *record) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < record->case_count; i++) {
        if (record->cases[i].listed) {
            record->cases[kept] = record->cases[i];
            record->cases[kept++].listed = false;
        }
    }
    record->case_count = kept;
}

/* ---- the kernels of each case ---- */

weft_status weft_verify_note_kernels(const weft_verify_record *record, weft_verify_run *run) {
    run->kernels = weft_alloc_zero(&record->host, record->case_count, sizeof *run->kernels);
    return run->kernels ? WEFT_OK : weft_fail_memory(&record->host, "lists of kernels");
}

/* Kernels by number, in the order in which cases execute them first. */
typedef struct numbering {
    const weft_case_kernel **kernels;
    uint32_t count, capacity;
} numbering;

static uint32_t find_number(const numbering *numbers, const char *name) {
    uint32_t number = 0;
    while (number < numbers->count && strcmp(numbers->kernels[number]->name, name) != 0) {
        number++;
    }
    return number;
}

static weft_status number_case(numbering *numbers, weft_case_kernels *kernels,
                               const weft_host *host) {
    for (uint32_t k = 0; k < kernels->count; k++) {
        weft_case_kernel *kernel = &kernels->kernels[k];
        kernel->number = find_number(numbers, kernel->name);
        if (kernel->number < numbers->count) {
            continue;
        }
        if (!weft_grow(host, &numbers->kernels, numbers->count, &numbers->capacity,
                       sizeof *numbers->kernels)) {
            return weft_fail_memory(host, "lists of kernels");
        }
        numbers->kernels[numbers->count++] = kernel;
    }
    return WEFT_OK;
}

/* One flag for each kernel, in the host's memory; null when memory is out. */
static bool *number_kernels(uint32_t *count, const weft_verify_record *record,
                            const weft_verify_run *run) {
    numbering numbers = {0};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < record->case_count && status == WEFT_OK; i++) {
        status = number_case(&numbers, &run->kernels[i], &record->host);
    }
    weft_free(&record->host, numbers.kernels);
    *count = numbers.count;
    return status == WEFT_OK ? weft_alloc_zero(&record->host, numbers.count + 1, sizeof(bool))
                             : NULL;
}

static void flag_kernels(bool *flags, const weft_case_kernels *kernels) {
    for (uint32_t k = 0; k < kernels->count; k++) {
        flags[kernels->kernels[k].number] = true;
    }
}

/* ---- checking ---- */

static void fail_case(weft_verify_run *run, uint32_t index, const char *kernel, const char *path) {
    weft_case_result *result = &run->results[index];
    if (result->passed) {
        result->passed = false;
        run->passed--;
        run->failed++;
        snprintf(result->reason, sizeof result->reason,
                 "no case of %.96s executes the kernel '%s'; --write-list makes a new list", path,
                 kernel);
    }
}

weft_status weft_verify_check_list(const weft_verify_record *record, weft_verify_run *run,
                                   const char *path) {
    uint32_t count = 0;
    bool *executed = number_kernels(&count, record, run);
    if (!executed) {
        return weft_fail_memory(&record->host, "lists of kernels");
    }
    for (uint32_t i = 0; i < record->case_count; i++) {
        if (record->cases[i].listed) {
            flag_kernels(executed, &run->kernels[i]);
        }
    }
    for (uint32_t i = 0; i < record->case_count; i++) {
        for (uint32_t k = 0; k < run->kernels[i].count; k++) {
            const weft_case_kernel *kernel = &run->kernels[i].kernels[k];
            if (!executed[kernel->number]) {
                fail_case(run, i, kernel->name, path);
                executed[kernel->number] = true; /* said once */
            }
        }
    }
    weft_free(&record->host, executed);
    return WEFT_OK;
}

/* ---- writing ---- */

/* Kernels that a case would add for each millisecond that it would take. */
static double value_of(const weft_case_kernels *kernels, const bool *executed) {
    double cost = MS_PER_CASE + MS_PER_GROUP * kernels->groups + MS_PER_FLOP * kernels->flops;
    uint32_t gain = 0;
    for (uint32_t k = 0; k < kernels->count; k++) {
        const weft_case_kernel *kernel = &kernels->kernels[k];
        const bool is_new = !executed[kernel->number];
        gain += is_new;
        cost += is_new || kernel->made_for_one ? MS_PER_BYTE * (double)kernel->bytes : 0.0;
    }
    return (double)gain / cost;
}

/* Set cover, greedily: the case of the greatest value, until none adds anything. */
static void choose_cases(weft_verify_record *record, const weft_verify_run *run, bool *executed) {
    for (;;) {
        uint32_t best = 0;
        double best_value = 0.0;
        for (uint32_t i = 0; i < record->case_count; i++) {
            const double value = value_of(&run->kernels[i], executed);
            best = value > best_value ? i : best;
            best_value = value > best_value ? value : best_value;
        }
        if (best_value <= 0.0) {
            return;
        }
        record->cases[best].listed = true;
        flag_kernels(executed, &run->kernels[best]);
    }
}

static weft_status write_list(const weft_verify_record *record, uint32_t kernels,
                              const char *path) {
    char *text = weft_format(
        &record->host,
        "# Cases that execute %s, %u in all, with little work for a software driver.\n"
        "# Written by weft verify --write-list%s; --check-list says what is missing.\n",
        record->kernels_once ? "each kernel" : "each kernel with each value of its constants",
        kernels, record->kernels_once ? " --kernels-once" : "");
    for (uint32_t i = 0; text && i < record->case_count; i++) {
        if (record->cases[i].listed) {
            char *longer = weft_format(&record->host, "%s%s\n", text, record->cases[i].name);
            weft_free(&record->host, text);
            text = longer;
        }
    }
    weft_status status = text ? weft_file_write(path, text, strlen(text), &record->host)
                              : weft_fail_memory(&record->host, path);
    weft_free(&record->host, text);
    return status;
}

int weft_verify_write_list(weft_verify_record *record, const char *path) {
    const weft_verify_run *run = record->runs;
    while (run < record->runs + record->run_count && !run->kernels) {
        run++;
    }
    uint32_t count = 0;
    bool *executed =
        run < record->runs + record->run_count ? number_kernels(&count, record, run) : NULL;
    weft_status status = executed ? WEFT_OK : weft_fail_memory(&record->host, path);
    if (status == WEFT_OK) {
        choose_cases(record, run, executed);
        status = write_list(record, count, path);
    }
    weft_free(&record->host, executed);
    return weft_cli_exit_code(status);
}
