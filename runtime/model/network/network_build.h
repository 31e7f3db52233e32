/* SPDX-License-Identifier: MIT */
/*
 * Building a network's graph. The same code loads: while a model is loaded it is built once into a graph that is thrown
 * away, and every weight that is asked for then comes from the checkpoint. So the build functions alone say which tensors
 * a family has.
 *
 * Errors are sticky: after one, functions do nothing and return tensor 0.
 */
#ifndef WEFT_MODEL_NETWORK_BUILD_H
#define WEFT_MODEL_NETWORK_BUILD_H

#include <weft/mixers.h>
#include <weft/model.h>

#include "core/host.h"
#include "model/network/network_config.h"

#define WEFT_SCOPE_SIZE 128

struct weft_network;

/** Building with states: mixers are the steps of weft/decode.h. */
struct weft_step_builder {
    bool prompt; /* for the tokens that sequences begin with; otherwise for one token of each */
    weft_tensor position; /* i32 [B], of each sequence's last token */
    weft_tensor lengths;  /* i32 [B], for a prompt: one more */
    uint32_t length;      /* that sequences reach at most */
    weft_tensor number;   /* the same as f32 [B, 1, 1], once something has asked for it */
    uint32_t states;      /* made so far */
};

/** Outputs of a graph besides the model's output, with the names given at weft_model_shape. */
struct weft_layer_outputs {
    bool hidden_states, attentions; /* which of them */
    uint32_t maps;                  /* attention maps made so far */
};

struct weft_builder {
    weft_graph *graph;
    struct weft_network *network;
    struct weft_network_way way;
    weft_status status;
    const weft_host *host;
    uint32_t batch, length, width; /* B, n, d of the activations */
    uint32_t layer;
    weft_tensor positions;              /* the input f32 [B, n, l], or none */
    weft_tensor score_bias;             /* on the scores of all layers, once one has made it */
    weft_tensor distance_rows[2];       /* of a table of distances, the same */
    weft_tensor tokens;                 /* the input i32 [B, n], or none */
    weft_tensor lengths;                /* the input i32 [B], or none: all are n */
    struct weft_step_builder *decoding; /* or null: whole sequences, without states */
    struct weft_layer_outputs *outputs; /* or null: the model's alone */
    char scope[WEFT_SCOPE_SIZE];        /* in front of names, such as "layers.3.mixer" */
    weft_tensor first_values; /* of the first layer's mixer, where those of others read them */
};

/**
 * The tensor `out` that the call makes, or none; after an error the call is left out. `weft_tensor out = {0};
 * return WEFT_BUILT(builder, out, weft_graph_…(&out, …));`
 */
#define WEFT_BUILT(builder, out, call)                                              \
    ((builder)->status = (builder)->status == WEFT_OK ? (call) : (builder)->status, \
     (builder)->status == WEFT_OK ? (out) : (weft_tensor){0})

/** Goes into a part of the scope: names are then scope.part.name, until weft_build_leave is given the result. */
size_t weft_build_enter(struct weft_builder *builder, const char *part);
void weft_build_leave(struct weft_builder *builder, size_t entered);

/** A builder's scope, while it builds what all layers share: names without a scope. */
struct weft_scope {
    char text[WEFT_SCOPE_SIZE];
};
struct weft_scope weft_build_outside(struct weft_builder *builder);
void weft_build_inside(struct weft_builder *builder, const struct weft_scope *scope);

/** The weight `scope.name` of that shape. */
weft_tensor weft_build_weight(struct weft_builder *builder, const char *name, weft_shape shape);
/** Says that `scope.name`, which is there, is never quantized. */
void weft_build_exact(struct weft_builder *builder, const char *name);
/**
 * Weight that config.json ties to `table`; both are names without the builder's scope. If the file has `name`, too,
 * with other values, those count: the model was saved with them.
 */
weft_tensor weft_build_tied(struct weft_builder *builder, const char *name, const char *table,
                            weft_shape shape);
/** scope.name of so many elements, under whatever shape the checkpoint has them: [elements]. */
weft_tensor weft_build_vector(struct weft_builder *builder, const char *name, uint32_t elements);
/** The i32 weight `scope.name`, which the checkpoint has. */
weft_tensor weft_build_stored_integers(struct weft_builder *builder, const char *name,
                                       weft_shape shape);
/** True if the checkpoint has `scope.name`. */
bool weft_build_has(struct weft_builder *builder, const char *name);

/**
 * A constant that is not in the checkpoint but made, f32: made once per model under scope.name, whatever the graph's
 * length is. fill gets the elements to fill and `user`.
 */
weft_tensor weft_build_constant(struct weft_builder *builder, const char *name, weft_shape shape,
                                weft_status (*fill)(float *data, const void *user,
                                                    const weft_host *host),
                                const void *user);
/** Makes a constant with i32 elements. */
weft_tensor weft_build_integers(struct weft_builder *builder, const char *name, weft_shape shape,
                                weft_status (*fill)(int32_t *data, const void *user,
                                                    const weft_host *host),
                                const void *user);

/**
 * A weight of the graph alone, f32, for what depends on the sequence's length: element i is element(user, i). The name is for
 * messages.
 */
weft_tensor weft_build_filled(struct weft_builder *builder, const char *name, weft_shape shape,
                              float (*element)(const void *user, uint64_t index), const void *user);

/** The same with i32 elements. */
weft_tensor weft_build_indices(struct weft_builder *builder, const char *name, weft_shape shape,
                               int32_t (*element)(const void *user, uint64_t index),
                               const void *user);

/**
 * The tokens' numbers f32 [B, 1, 1] where each sequence has one; otherwise none, and they are 0 … n-1. An input
 * "position_number" then.
 */
weft_tensor weft_build_position_number(struct weft_builder *builder);

/** The lengths for mixers; none where a mixer is causal, as nothing behind a token has an influence on it. */
weft_tensor weft_build_lengths(const struct weft_builder *builder);
/** x [B, n, ...] with zeros behind the lengths that mixers are told. */
weft_tensor weft_build_mask(struct weft_builder *builder, weft_tensor x);

/** name.weight [out, in] and, with `bias`, name.bias [out] of x [..., in]. */
weft_tensor weft_build_map(struct weft_builder *builder, weft_tensor x, const char *name,
                           uint32_t in, uint32_t out, bool bias);
/** Applies a linear layer with a bias. */
weft_tensor weft_build_linear(struct weft_builder *builder, weft_tensor x, const char *name,
                              uint32_t in, uint32_t out);
weft_tensor weft_build_activate(struct weft_builder *builder, weft_tensor x,
                                weft_activation activation);
weft_tensor weft_build_binary(struct weft_builder *builder, weft_binary op, weft_tensor a,
                              weft_tensor b);
/** x times a factor, of which 0 means 1. */
weft_tensor weft_build_scale(struct weft_builder *builder, weft_tensor x, float factor);
/** cap·tanh(x/cap); 0: x. */
weft_tensor weft_build_cap(struct weft_builder *builder, weft_tensor x, float cap);
weft_tensor weft_build_reshape(struct weft_builder *builder, weft_tensor x, weft_shape shape);
weft_tensor weft_build_permute(struct weft_builder *builder, weft_tensor x, weft_shape axes);

/**
 * The parameters of the network's norm over `width` channels, its tensors under `name`; for norms that go into an op.
 * weft_build_norm applies it.
 */
weft_norm_params weft_build_norm_params(struct weft_builder *builder, weft_norm kind,
                                        const char *name, uint32_t width);
weft_tensor weft_build_norm(struct weft_builder *builder, weft_tensor x, const char *name,
                            uint32_t width);

/** activation(gate) ⊙ value, and linear maps around it, l1, l2 and l3: a gated feed-forward with `wide` channels between them. */
weft_tensor weft_build_gated(struct weft_builder *builder, weft_tensor gate, weft_tensor value);
weft_tensor weft_build_glu(struct weft_builder *builder, weft_tensor x, uint32_t wide);
/** The experts of config.layer.experts: network_experts.c. */
weft_tensor weft_build_experts(struct weft_builder *builder, weft_tensor x);

/** A layer's feed-forward, whose scope the builder is in. */
weft_tensor weft_build_feed_forward(struct weft_builder *builder, weft_tensor x);

/** The hidden state before the first layer. */
weft_tensor weft_build_embedding(struct weft_builder *builder, const weft_model_inputs *inputs);

/** One vector of each sequence, [B, d] of x [B, n, d]; with lengths, of the tokens before them. */
weft_tensor weft_build_pool(struct weft_builder *builder, weft_tensor x, weft_pooling pooling);

/** The hidden state before the first layer of a model that reads images, without the norm: pixels f32 [B, c, h, w]. */
weft_tensor weft_build_patches(struct weft_builder *builder, weft_tensor pixels);
/** The mean of an image's patches in x [B, n, d], without the class token: [B, d]. */
weft_tensor weft_build_patch_mean(struct weft_builder *builder, weft_tensor x);
/** The first token of each sequence that ends its text, by the builder's tokens: [B, d] of x [B, n, d]. */
weft_tensor weft_build_end_token(struct weft_builder *builder, weft_tensor x);
/** SigLIP's pooling of x [B, n, d] by a learned query: [B, d]. */
weft_tensor weft_build_probe(struct weft_builder *builder, weft_tensor x);

/**
 * Adds the inputs of a model that has no token types to a graph: "tokens" i32 [B, n], with an input_size "features" f32
 * [B, n, input_size], or with an image_size "pixels" f32 [B, image_channels, image_size, image_size]; and with a position_size
 * "positions" f32 [B, n, position_size].
 */
weft_status weft_model_add_inputs(weft_model_inputs *inputs, weft_graph *graph, uint32_t batch,
                                  uint32_t length, const weft_model_info *info);

#endif
