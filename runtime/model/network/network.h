/* SPDX-License-Identifier: MIT */
/* A model of one of the families, loaded. */
#ifndef WEFT_MODEL_NETWORK_H
#define WEFT_MODEL_NETWORK_H

#include <stdatomic.h>

#include <weft/model.h>

#include "model/files/checkpoint.h"
#include "model/files/source.h"
#include "model/network/network_config.h"

struct weft_head;
struct weft_layer_outputs;
struct weft_layout;
struct weft_model_family;

/** A weight by name; in the order in which they were first asked for. */
struct weft_named_weight {
    char *name;
    weft_weight *weight;
    char *stored; /* the checkpoint's tensor that it is; null: made, or a part of another weight */
    uint32_t
        stacked; /* tensors that it is, one behind the other, by the numbers that the * of `stored` stands for; 0: one */
};

struct weft_network {
    weft_host host;
    atomic_uint references;
    const struct weft_model_family *family;
    weft_network_config config;
    const struct weft_layout *layout; /* the family's, or null */
    const struct weft_head *head;     /* of a published layout; otherwise null */
    char *class_name;                 /* with it: "BertForMaskedLM" */
    void *family_config;
    struct weft_checkpoint *checkpoint; /* while loading; then null, and … */
    struct weft_checkpoint *loaded;     /* … what it was */
    struct weft_named_weight *weights;
    uint32_t weight_count, weight_capacity;
    uint64_t parameters; /* elements that came from the checkpoint */
};

/** Inputs of a model that runs token by token, or at once on the first tokens of sequences. */
struct weft_step_inputs {
    weft_tensor tokens;   /* i32 [B, 1], or [B, n] */
    weft_tensor position; /* i32 [B], of each sequence's last token */
    weft_tensor
        lengths;      /* i32 [B], one more, where the tokens are those that sequences begin with */
    uint32_t length;  /* all positions are below it: states need not be larger */
    weft_dtype state; /* of keys and values: weft_model_set_state */
};

/** Reads config and tensors. Everything is checked here, nothing later. */
weft_status weft_network_load(struct weft_network **network, const struct weft_model_family *family,
                              const struct weft_model_source *source, const weft_host *host);
/** A reference more. */
struct weft_network *weft_network_retain(struct weft_network *network);
/** Drops a reference. Also of null. */
void weft_network_destroy(struct weft_network **network);

/** Everything but `tokenizer`. */
void weft_network_describe(const struct weft_network *network, weft_model_info *info);
/** Null where the config names no label. */
const char *weft_network_label(const struct weft_network *network, uint32_t index);
/** Without a folder (null) there are no files to read. */
weft_status weft_network_make_tokenizer(weft_tokenizer **tokenizer,
                                        const struct weft_network *network, const char *folder);

/**
 * Adds the network to a graph, as `way` says: network_layers.c. Changes the network only while it is loaded. `outputs`, or
 * null: further outputs of the graph.
 */
weft_status weft_network_build(weft_tensor *out, struct weft_network *network, weft_graph *graph,
                               const weft_model_inputs *inputs, struct weft_network_way way,
                               struct weft_layer_outputs *outputs);
/** True if a token has a position of its own: the one that pads has none where positions are counted behind it. */
bool weft_network_has_place(const struct weft_network *network, int32_t token);
/**
 * True if a token behind a sequence's length has a result of its own, up to `length` tokens: that of softmax attention to those before the length, as
 * transformers computes it for tokens that are masked.
 */
bool weft_network_reads_by_length(const struct weft_network *network, uint32_t length);
/** True if it can be built with states. */
bool weft_network_is_recurrent(const struct weft_network *network);
weft_status weft_network_build_step(weft_tensor *out, struct weft_network *network,
                                    weft_graph *graph, const struct weft_step_inputs *inputs);

#endif
