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
 * does not follow from its records; WEFT_UNSUPPORTED for another version of the format than 2, which this library writes.
 */
WEFT_API weft_status weft_receipt_read(weft_receipt **receipt, const char *json, size_t size,
                                       const weft_host *host);
WEFT_API void weft_receipt_destroy(weft_receipt **receipt);

/**
 * Runs a plan by weft_plan_execute and appends a run: its inputs, the values that weft_plan_params.checkpoints kept, and its
 * outputs. With lengths, only what stands before them counts. Do not call it for a receipt that was read.
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

#ifdef __cplusplus
}
#endif

#endif
