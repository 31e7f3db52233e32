/* SPDX-License-Identifier: MIT */
/*
 * Receipts: hashes of a computation's inputs, intermediate values and outputs, which another device can reproduce.
 * docs/receipts.md has the format and says what a receipt proves.
 */
#ifndef WEFT_RECEIPT_H
#define WEFT_RECEIPT_H

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A list of records, each chained to those before it. One thread at a time. */
typedef struct weft_receipt weft_receipt;

typedef struct weft_receipt_params {
    weft_model
        *model; /**< model whose files the receipt names; null: the plans belong to no model */
    const char *
        command; /**< what makes the receipt, such as "run", as the first record; copied; or null */
    /**
     * The model's tensors are named and not hashed, to open single values: weft_receipt_check_tensors then compares those that were used. Such a
     * receipt is to be compared, not to be given away.
     */
    bool for_opening;
} weft_receipt_params;

#ifndef __cplusplus
#define weft_receipt_params(...) (&(weft_receipt_params){__VA_ARGS__})
#endif

/**
 * Begins a receipt of a device's computations, with the hashes of the model's config, tokenizer and tensors, which
 * are read for this. Its memory comes from the device's host; the receipt may outlive device and model. params may be
 * null.
 * Errors: WEFT_UNSUPPORTED in fast mode, whose bits are the device's choice, and for a model of random weights;
 * WEFT_BAD_FILE if the model's file has changed; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_receipt_create(weft_receipt **receipt, weft_device *device,
                                         const weft_receipt_params *params);

/**
 * Reads a receipt that weft_receipt_json gave, from anybody: `size` bytes at `json`. host may be null.
 * Errors, naming the field, expected and found: WEFT_BAD_FILE for anything but a receipt, of more than 16 MiB, or whose chain
 * or root does not follow from its records; WEFT_UNSUPPORTED for another version of the format than 3, which this library
 * writes, and 2, which has no root.
 */
WEFT_API weft_status weft_receipt_read(weft_receipt **receipt, const char *json, size_t size,
                                       const weft_host *host);
WEFT_API void weft_receipt_destroy(weft_receipt **receipt);

/**
 * Runs a plan by weft_plan_execute and appends a run: its inputs, the values that weft_plan_params.checkpoints kept, and its
 * outputs. With lengths, only what stands before them counts. Do not call it for a receipt that was read. Of a plan of
 * WEFT_OPENING_ONLY nothing runs, and only the inputs are appended: such a receipt is to be compared, not to be given away.
 * Errors: those of weft_plan_execute; WEFT_INVALID_ARGUMENT for a plan of another device; WEFT_UNSUPPORTED when the receipt has too
 * many records to be read again.
 */
WEFT_API weft_status weft_receipt_execute(weft_receipt *receipt, weft_plan *plan,
                                          const weft_host_tensor *tensors, uint32_t count);

/** Text of a receipt, zero-terminated, valid until the next call for this receipt. Null when memory is out. */
WEFT_API const char *weft_receipt_json(weft_receipt *receipt);

/** Command as in weft_receipt_params, such as "run"; or null. */
WEFT_API const char *weft_receipt_command(const weft_receipt *receipt);
/** The device and the version of Weft that made it, as "NAME, DRIVER, Weft 0.1.0". Lives as long as the receipt. */
WEFT_API const char *weft_receipt_maker(const weft_receipt *receipt);

/** Kinds of records. Those up to WEFT_RECORD_TENSOR come once, before all runs. */
typedef enum weft_record_kind {
    WEFT_RECORD_SETTING = 0, /**< such as math or bits */
    WEFT_RECORD_CONFIG,
    WEFT_RECORD_TOKENIZER,
    WEFT_RECORD_TENSOR, /**< of the model's files */
    WEFT_RECORD_RUN, /**< begins a run; those behind it are its inputs, checkpoints and outputs */
    WEFT_RECORD_INPUT,
    WEFT_RECORD_VALUE, /**< a checkpoint */
    WEFT_RECORD_OUTPUT,
    WEFT_RECORD_DATA, /**< given beside the inputs of runs: lines of text, prompts, labels. Anywhere behind the model */
    WEFT_RECORD_ROWS,  /**< numbers of the data that are the rows of the run before it */
    WEFT_RECORD_ANSWER /**< result for the user: vectors in the order of lines, a ranking, counts. Anywhere behind the model */
} weft_record_kind;

/** "setting", "config", "tokenizer", "tensor", "run", "input", "value", "output", "data", "rows" or "answer". */
WEFT_API const char *weft_record_kind_name(weft_record_kind kind);

/**
 * Appends a record that decides the answer beside the runs: a WEFT_RECORD_SETTING before the first run,
 * WEFT_RECORD_ROWS after a run, WEFT_RECORD_DATA and WEFT_RECORD_ANSWER anywhere. The type must state the number of
 * rows, lines or texts, so that a receipt of half the work differs. The `size` bytes of `data` are hashed like
 * outputs; a setting has none. Do not call it for a receipt that was read.
 * Errors: WEFT_INVALID_ARGUMENT for another kind or place, a setting with bytes, or a receipt that was read;
 * WEFT_UNSUPPORTED when the receipt has too many records to be read again, or for a name or type of more than 4096
 * bytes or that is not UTF-8.
 */
WEFT_API weft_status weft_receipt_note(weft_receipt *receipt, weft_record_kind kind,
                                       const char *name, const char *type, const void *data,
                                       size_t size);

/** Room for a hash in hexadecimal. */
#define WEFT_RECORD_HASH_SIZE 65

/** A record. Texts live as long as the receipt. */
typedef struct weft_record_info {
    weft_record_kind kind;
    uint32_t run; /**< which run it belongs to, or is behind; 0 before all */
    const char *name;
    const char *type;                   /**< such as "f32 [32, 128, 384]"; of a setting its value */
    char sha256[WEFT_RECORD_HASH_SIZE]; /**< of the bytes; empty for settings and runs */
    char chain[WEFT_RECORD_HASH_SIZE];  /**< of all records up to this one */
} weft_record_info;

/** Records in their order. WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_receipt_get_record(const weft_receipt *receipt, uint32_t index,
                                             weft_record_info *info);

/**
 * Finds the first record in which two receipts differ, by bisection of their chains. *index is UINT32_MAX if they are
 * equal; it may be behind the last record of the shorter one. Device, driver and version are not compared.
 */
WEFT_API weft_status weft_receipt_compare(uint32_t *index, const weft_receipt *receipt,
                                          const weft_receipt *other);

/* ---- a root, proofs, and a referee (docs/receipts.md, A check that costs less) ---- */

/**
 * The root of the Merkle tree over all records, as 64 hexadecimal digits: it stands for the whole receipt, and single
 * records can be shown to belong to it. Valid until the next call for this receipt. Null when memory is out.
 */
WEFT_API const char *weft_receipt_root(weft_receipt *receipt);

/**
 * A record with the hashes that lead from it to the root, as JSON, zero-terminated, valid until the next call for this
 * receipt. Null past the last record, or when memory is out.
 */
WEFT_API const char *weft_receipt_proof(weft_receipt *receipt, uint32_t index);

/** A record that belongs to a root. Immutable. */
typedef struct weft_proof weft_proof;

/**
 * Reads what weft_receipt_proof gave, from anybody, and checks that it leads to `root`, of 64 lower-case hexadecimal
 * digits. host may be null.
 * Errors, naming the field, expected and found: WEFT_INVALID_ARGUMENT for another root than such digits; WEFT_BAD_FILE
 * for anything but a proof, of more than 64 KiB, or of another root; WEFT_UNSUPPORTED for another version than 1.
 */
WEFT_API weft_status weft_proof_read(weft_proof **proof, const char *json, size_t size,
                                     const char *root, const weft_host *host);
WEFT_API void weft_proof_destroy(weft_proof **proof);

typedef struct weft_proof_info {
    uint32_t index; /**< of the record … */
    uint32_t count; /**< … among so many of the receipt */
    weft_record_info
        record; /**< its run is 0: a record does not say it. Texts live as long as the proof */
    char before[WEFT_RECORD_HASH_SIZE]; /**< the chain before it */
} weft_proof_info;

WEFT_API weft_status weft_proof_get_info(const weft_proof *proof, weft_proof_info *info);

/**
 * Gives the proof of a record of the receipt of `party`, 0 or 1: `*size` bytes at `*json`, which live until the next
 * call. An error ends the search.
 */
typedef weft_status (*weft_referee_ask)(void *user, uint32_t party, uint32_t index,
                                        const char **json, size_t *size);

typedef struct weft_referee_params {
    const char *roots[2]; /**< of the receipts of both parties */
    uint32_t counts
        [2]; /**< of their records; a root binds them, so that a wrong one refutes its party */
    weft_referee_ask ask;
    void *user;
} weft_referee_params;

#ifndef __cplusplus
#define weft_referee_params(...) (&(weft_referee_params){__VA_ARGS__})
#endif

typedef struct weft_referee_finding {
    uint32_t
        first; /**< the first record in which they differ; UINT32_MAX: the roots are the same */
    uint32_t
        asked; /**< how often either party was asked, at most: log2 of the records, rounded up, and 1 */
    /** A party whose answer does not lead to its root, or whose chain does not follow, is wrong, whatever a run gives. */
    bool refuted[2];
    weft_proof
        *proofs[2]; /**< of record `first`, the caller's to destroy; null where there is none */
} weft_referee_finding;

/**
 * Finds the first record in which two receipts differ, of their roots alone, by asking both parties for few records.
 * Everything before that record is the same in both, whatever the parties answered.
 * Errors: those of ask; WEFT_INVALID_ARGUMENT for roots that are no digits, or counts of 0 or more than 20000.
 */
WEFT_API weft_status weft_receipt_referee(weft_referee_finding *finding,
                                          const weft_referee_params *params, const weft_host *host);

/* ---- opening single values ---- */

/**
 * Compiles what makes the value or output that is record `record` of a receipt out of the run's inputs and the values
 * before it: a plan whose inputs are named like these. `plan` is the plan of that run, compiled with the run's
 * checkpoints and with WEFT_OPENING_ALSO or _ONLY.
 * Errors: WEFT_INVALID_ARGUMENT for another record, or another plan; WEFT_UNSUPPORTED for one with states; those of weft_plan_compile.
 */
WEFT_API weft_status weft_receipt_compile_part(weft_plan **part, const weft_receipt *receipt,
                                               uint32_t record, weft_plan *plan);

typedef struct weft_receipt_opened {
    bool same; /**< what was computed is what the receipt says */
    uint32_t
        other; /**< record of a tensor that was given and is not the receipt's, so that nothing ran; or UINT32_MAX */
    char sha256[WEFT_RECORD_HASH_SIZE]; /**< of what was computed, or of the other tensor */
} weft_receipt_opened;

/**
 * Computes record `record` again, by weft_receipt_compile_part's `part` of `plan`, out of `tensors`: those that the part
 * has as inputs, and the run's lengths if it has them. Each is first compared with its record; then the part runs, and
 * its result is compared. Nothing else runs.
 * Errors: WEFT_NOT_FOUND for an input of the part that is not given, or of which the receipt has no record;
 * WEFT_INVALID_ARGUMENT for a record that is no value or output, or a plan that does not have it; those of weft_plan_execute.
 */
WEFT_API weft_status weft_receipt_open(weft_receipt_opened *opened, const weft_receipt *receipt,
                                       uint32_t record, weft_plan *plan, weft_plan *part,
                                       const weft_host_tensor *tensors, uint32_t count);

/**
 * Compares those tensors of the model whose numbers have been used since it was loaded, such as by a part of weft_receipt_compile_part, with their
 * records in a receipt: *other is the first record whose tensor has other bytes here, another type or another name, or UINT32_MAX. The others are
 * not read. Thread-safe.
 * Errors: WEFT_NOT_FOUND if the receipt has fewer tensors than the model; WEFT_BAD_FILE if the model's file has changed;
 * WEFT_UNSUPPORTED for a model of random weights.
 */
WEFT_API weft_status weft_receipt_check_tensors(uint32_t *other, const weft_receipt *receipt,
                                                const weft_model *model);

/* ---- for other tools ---- */

/**
 * The receipt as an in-toto Statement (version 1), JSON, zero-terminated, valid until the next call for this receipt:
 * its subject is a file `name` whose SHA-256 is `sha256` (64 hexadecimal digits), its predicate has root, chain, records,
 * settings, outputs and answers. With `envelope` it is the payload of a DSSE envelope without a signature. Null when
 * memory is out, or the name is no UTF-8 or sha256 no digits.
 */
WEFT_API const char *weft_receipt_statement(weft_receipt *receipt, const char *name,
                                            const char *sha256, bool envelope);

#ifdef __cplusplus
}
#endif

#endif
