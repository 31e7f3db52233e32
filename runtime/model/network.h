/* SPDX-License-Identifier: MIT */
/* A model of one of the families of api/MODELS.md, loaded. */
#ifndef WEFT_MODEL_NETWORK_H
#define WEFT_MODEL_NETWORK_H

#include "model/architecture.h"
#include "model/checkpoint.h"
#include "model/family.h"

/** A weight by name; in the order in which they were first asked for. */
struct weft_named_weight {
    char *name;
    weft_weight *weight;
    bool made; /* not in the checkpoint: weft_build_constant */
};

struct weft_network {
    weft_host host;
    const char *model_type;
    const struct weft_model_family *family;
    weft_network_config config;
    void *family_config;
    struct weft_checkpoint *checkpoint; /* while loading; then null */
    struct weft_named_weight *weights;
    uint32_t weight_count, weight_capacity;
    uint64_t parameters; /* elements that came from the checkpoint */
};

/** Adds the network to a graph: network_build.c. */
weft_status weft_network_build(weft_tensor *out, struct weft_network *network, weft_graph *graph,
                               const weft_model_inputs *inputs);

/**
 * The same for one token of each sequence of a network that is recurrent, see weft_network_is_recurrent.
 */
weft_status weft_network_build_step(weft_tensor *out, struct weft_network *network,
                                    weft_graph *graph, const struct weft_step_inputs *inputs);

/* weft_architecture's functions for every family. */
weft_status weft_network_load(void **state, const struct weft_architecture *self,
                              const struct weft_model_source *source, const weft_host *host);
void weft_network_destroy(void *state, const weft_host *host);
void weft_network_describe(const void *state, weft_model_info *info);
const char *weft_network_label(const void *state, uint32_t index);
weft_status weft_network_make_tokenizer(weft_tokenizer **tokenizer, const void *state,
                                        const char *folder, const weft_host *host);
weft_status weft_network_architecture_build(weft_tensor *out, const void *state, weft_graph *graph,
                                            const weft_model_inputs *inputs);
bool weft_network_is_recurrent(const void *state);
weft_status weft_network_architecture_build_step(weft_tensor *out, const void *state,
                                                 weft_graph *graph,
                                                 const struct weft_step_inputs *inputs);

/** A family as model.c's table has it; `type` is its model_type. */
#define WEFT_NETWORK_ARCHITECTURE(type, the_family)                                          \
    {                                                                                        \
        .model_type = (type), .family = &(the_family), .load = weft_network_load,            \
        .destroy = weft_network_destroy, .describe = weft_network_describe,                  \
        .label = weft_network_label, .make_tokenizer = weft_network_make_tokenizer,          \
        .build = weft_network_architecture_build, .is_recurrent = weft_network_is_recurrent, \
        .build_step = weft_network_architecture_build_step                                   \
    }

#endif
