/* SPDX-License-Identifier: MIT */
/* What `weft verify` finds out, and printing it. */
#ifndef WEFT_CLI_VERIFY_RECORD_H
#define WEFT_CLI_VERIFY_RECORD_H

#include "cli.h"
#include "verify/conformance.h"
#include "verify/evaluator/evaluator.h"
#include "verify/kernels.h"

/** A case that takes part. */
typedef struct weft_verify_case {
    char name[WEFT_CASE_NAME_SIZE];
    const weft_case_family *family;
    uint32_t index; /* in its family */
    bool listed;    /* in the file of --list or --check-list */
} weft_verify_case;

/** The run of every case on one device. */
typedef struct weft_verify_run {
    weft_device_info info;
    weft_status status;        /* of opening the device: not WEFT_OK means that nothing ran */
    weft_case_result *results; /* as many as there are cases */
    uint32_t passed;
    uint32_t failed;
    uint32_t skipped;
    bool stopped; /* the command, before all cases were done, which are then skipped */
    uint32_t validation_messages;
    uint32_t evaluated; /* cases compared with their evaluation on the host */
    uint32_t evaluations_skipped;
    weft_case_kernels *kernels; /* as many as there are cases, or null: nobody asks for them */
} weft_verify_run;

/** A case whose bits are not what they are on the first device, or in the file of --bits. */
typedef struct weft_verify_difference {
    uint32_t case_index; /* UINT32_MAX: `name` is in the file and no case */
    const weft_verify_run *run;
    const weft_verify_run *other; /* null: the file */
    char *text;                   /* the first element and its values, or the digests */
} weft_verify_difference;

typedef struct weft_verify_record {
    weft_host host;
    weft_math math;
    bool all_devices;  /* --device all: tells the form of the JSON */
    bool lists_cases;  /* the text has a line for each case */
    bool kernels_once; /* lists are about kernels, whatever their constants */
    weft_verify_case *cases;
    uint32_t case_count;
    weft_verify_run *runs;
    uint32_t run_count;
    weft_verify_difference *differences; /* between devices */
    uint32_t difference_count;
    uint32_t difference_capacity;
    bool has_bits; /* a file of bits was compared with */
    weft_verify_difference *bits_differences;
    uint32_t bits_difference_count;
    uint32_t bits_difference_capacity;
    uint32_t repeats;          /* runs of each case; 0 and 1: one */
    weft_evaluator *evaluator; /* null: nothing is evaluated */
    uint64_t evaluation_limit; /* steps of a case; 0: none */
} weft_verify_record;

/** Adds to one of the two lists; takes over text, which null means that memory is out. */
weft_status weft_verify_add_difference(weft_verify_record *record, weft_verify_difference what);

/** Frees everything in it. */
void weft_verify_record_free(weft_verify_record *record);

/** Whether every case passed everywhere without a difference and without a validation message. */
bool weft_verify_is_fine(const weft_verify_record *record);

/** One JSON object on stdout. Returns an exit code. */
int weft_verify_report_json(const weft_verify_record *record);

/**
 * A table per device, every failed case and every difference, and where it lists them, each case with
 * its digest. Returns an exit code.
 */
int weft_verify_report_text(const weft_verify_record *record);

/*
 * Files of expected bits: an object {case name: SHA-256}, or a folder with such a file OP.json for each op. In fused math the folder's are
 * those of the cases that a folder beside it, with "-fused" behind its name, does not have.
 */

/**
 * Compares every device's digests with a file's. Names in the file that are no case are differences
 * unless `filtered`. Returns an exit code, WEFT_CLI_FINE also when there are differences.
 */
int weft_verify_compare_bits(weft_verify_record *record, const char *path, bool filtered);

/** Tells whether a file is one that can be compared with, before anything runs: an exit code. */
int weft_verify_check_bits_file(const char *path, weft_math math, const weft_host *host);

/** Writes the digests of the first device that ran. Returns an exit code. */
int weft_verify_write_bits(const weft_verify_record *record, const char *path);

#endif
