/* SPDX-License-Identifier: MIT */
/* A model and the device it runs on, for run, eval and inspect. Functions return exit codes. */
#ifndef WEFT_CLI_SESSION_H
#define WEFT_CLI_SESSION_H

#include <weft/model.h>

#include "cli.h"
#include "receipt.h"

typedef struct weft_cli_session {
    weft_host host;
    const char *folder;
    weft_model *model;
    weft_model_info info;
    weft_device *device;
    weft_device_info device_info;
    weft_cli_recording recording; /* of what it runs */
} weft_cli_session;

/** Loads the model; needs no device. `common` and `folder` must outlive the session. */
int weft_cli_session_load(weft_cli_session *session, const weft_cli_common *common,
                          const char *folder);
/** Goes on with the tower of images of a model that has two. */
int weft_cli_session_take_images(weft_cli_session *session);
/** Opens the device, and begins the receipt where there is to be one. */
int weft_cli_session_open(weft_cli_session *session, const weft_cli_common *common);
/** Releases both; a zeroed session is fine. Plans must be gone. */
void weft_cli_session_close(weft_cli_session *session);

/** weft_plan_execute, into the session's receipt if it has one. Plans are then compiled with the recording's checkpoints. */
weft_status weft_cli_session_run(const weft_cli_session *session, weft_plan *plan,
                                 const weft_host_tensor *tensors, uint32_t count);

/** A run that is to be repeated. */
typedef struct weft_cli_execution {
    const weft_cli_session *session;
    weft_plan *plan;
    const weft_host_tensor *tensors;
    uint32_t tensor_count;
    uint32_t repeats; /* at least 1 */
} weft_cli_execution;

/** The median of at least one time; sorts them. */
double weft_cli_median(double *times, uint32_t count);

/** Runs, and gives the median time of weft_cli_session_run, transfers included. */
weft_status weft_cli_execute(double *median_ms, const weft_cli_execution *execution);

/** A plan's "output", as rows: of each token, or of each sequence. */
typedef struct weft_cli_output {
    weft_shape shape;
    uint64_t elements;
    uint32_t width; /* of a row: the last axis */
} weft_cli_output;

/**
 * The "output" of a plan of that model for so many sequences of that length. Whatever reads outputs takes their sizes from here:
 * the plan has been asked, and has what the model says; else WEFT_BAD_FILE, after a message.
 */
weft_status weft_cli_output_of(weft_cli_output *output, const weft_plan *plan,
                               const weft_model *model, uint32_t batch, uint32_t length,
                               const weft_host *host);

/** The width of the rows that a model gives, before there is a plan. */
uint32_t weft_cli_output_width(const weft_model *model);

/**
 * Model (null without one), device, math, plan and the device's counters as JSON: what `run --json` and
 * `inspect --json` have in common. Null when memory is out.
 */
json_t *weft_cli_session_json(const weft_cli_session *session, const weft_plan *plan);

#endif
