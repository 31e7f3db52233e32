/* SPDX-License-Identifier: MIT */
/* What a model family provides; one file each in architectures/, one row each in model.c. */
#ifndef WEFT_MODEL_ARCHITECTURE_H
#define WEFT_MODEL_ARCHITECTURE_H

#include <weft/model.h>

#include "model/source.h"
#include "model/tokenizer.h"

struct weft_model_family;

/** What a model reads token by token. */
struct weft_step_inputs {
    weft_tensor tokens;   /* i32 [B, 1] */
    weft_tensor position; /* i32 [B] */
    uint32_t length;      /* all positions are below it: states need not be larger */
};

struct weft_architecture {
    const char *model_type;                 /* of config.json */
    const struct weft_model_family *family; /* of those that network.h loads; otherwise null */
    /** Reads config and tensors; *state is the family's own. Everything is checked here, nothing later. */
    weft_status (*load)(void **state, const struct weft_architecture *self,
                        const struct weft_model_source *source, const weft_host *host);
    void (*destroy)(void *state, const weft_host *host);
    /** Everything but `tokenizer`. */
    void (*describe)(const void *state, weft_model_info *info);
    /** Null where the config names no label. */
    const char *(*label)(const void *state, uint32_t index);
    /** Without a folder (null) there are no files to read. */
    weft_status (*make_tokenizer)(weft_tokenizer **tokenizer, const void *state, const char *folder,
                                  const weft_host *host);
    /** Adds the model to a graph. */
    weft_status (*build)(weft_tensor *out, const void *state, weft_graph *graph,
                         const weft_model_inputs *inputs);
    /** Whether build_step can be called; both are null where it never can. */
    bool (*is_recurrent)(const void *state);
    /** Adds the model for one token of each sequence. */
    weft_status (*build_step)(weft_tensor *out, const void *state, weft_graph *graph,
                              const struct weft_step_inputs *inputs);
};

/* ---- for decoder.c ---- */

const weft_host *weft_model_host(const weft_model *model);

/** Whether the model can take its tokens one by one. */
bool weft_model_is_recurrent(const weft_model *model);

/**
 * A plan for one token of each sequence of a recurrent model: inputs "tokens" i32 [B, 1], "position" i32 [B], perhaps
 * "position_number" f32 [B, 1, 1], and states; output "output". Positions stay below `length`.
 */
weft_status weft_model_compile_step(weft_plan **plan, weft_model *model, weft_device *device,
                                    uint32_t batch, uint32_t length,
                                    const weft_plan_params *params);

/**
 * Adds the inputs of a model that has no token types to a graph: "tokens" i32 [B, n], or with an input_size "features" f32
 * [B, n, input_size]; and with a position_size "positions" f32 [B, n, position_size].
 */
weft_status weft_model_add_inputs(weft_model_inputs *inputs, weft_graph *graph, uint32_t batch,
                                  uint32_t length, uint32_t input_size, uint32_t position_size);

/** The architectures in the order of api/MODELS.md; null behind the last. */
const struct weft_architecture *weft_architecture_at(uint32_t index);

extern const struct weft_architecture weft_architecture_fnet;
extern const struct weft_architecture weft_architecture_transformer;
extern const struct weft_architecture weft_architecture_performer;
extern const struct weft_architecture weft_architecture_cosformer;
extern const struct weft_architecture weft_architecture_fmmformer;
extern const struct weft_architecture weft_architecture_flt;
extern const struct weft_architecture weft_architecture_spectraformer;
extern const struct weft_architecture weft_architecture_tnn;
extern const struct weft_architecture weft_architecture_ski_tnn;
extern const struct weft_architecture weft_architecture_fd_tnn;

#endif
