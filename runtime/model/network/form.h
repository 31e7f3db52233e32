/* SPDX-License-Identifier: MIT */
/*
 * Forms of networks that others have published: what a family's tables say of its embedding, attention, layers and head where
 * these differ from the network of api/MODELS.md. Zeros are that network.
 */
#ifndef WEFT_MODEL_FORM_H
#define WEFT_MODEL_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/graph.h>

#define WEFT_MAX_LAYERS 1024

/** Which of the layers. */
typedef struct weft_layer_set {
    uint32_t bits[WEFT_MAX_LAYERS / 32];
} weft_layer_set;

static inline bool weft_layer_set_has(const weft_layer_set *set, uint32_t layer) {
    return (set->bits[layer / 32] >> layer % 32 & 1U) != 0;
}

static inline void weft_layer_set_put(weft_layer_set *set, uint32_t layer, bool is_in) {
    const uint32_t bit = 1U << layer % 32;
    set->bits[layer / 32] = is_in ? set->bits[layer / 32] | bit : set->bits[layer / 32] & ~bit;
}

/** Of texts whose tokens are a bag: whose rules say which they are (model/static/static_model.h). */
enum weft_bag_rules { WEFT_BAG_NONE = 0, WEFT_BAG_SENTENCE_TRANSFORMERS, WEFT_BAG_MODEL2VEC };

/** In a config; null ends them. */
extern const char *const weft_bag_rule_names[];

/** A map of the tables' channels to hidden_size. */
typedef enum weft_projection {
    WEFT_PROJECTION_NONE = 0,
    WEFT_PROJECTION_BEHIND_NORM,
    WEFT_PROJECTION_BEFORE_NORM /**< without a bias */
} weft_projection;

typedef struct weft_embedding_form {
    uint32_t types;           /**< rows of a table of token types, or 0 */
    uint32_t tasks;           /**< rows of a table whose first row is added to every token, or 0 */
    uint32_t position_offset; /**< rows of the table of positions before that of the first token */
    uint32_t size;            /**< channels of the tables; 0: hidden_size */
    uint32_t projection;      /**< weft_projection */
    float scale;              /**< of the tokens' rows; 0: 1 */
    uint32_t bag;             /**< weft_bag_rules; NONE: texts are sequences */
    bool padded; /**< texts have max_positions tokens, and no mask hides those that fill them */
} weft_embedding_form;

/** As weft_rope_params has them. */
typedef struct weft_rotary {
    float base; /**< 0: no rotary positions */
    uint32_t width;
    bool interleaved;
    float scale_factor; /**< 0: positions are not scaled */
    uint32_t scale_length;
    float scale_low, scale_high;
    float *factors;        /**< divide the angle of each pair; or null */
    uint32_t factor_count; /**< pairs */
    float amplitude;       /**< of what has turned; 0: 1 */
} weft_rotary;

/** Norms of queries and keys, before their positions. */
typedef enum weft_head_norm {
    WEFT_HEAD_NORM_NONE = 0,
    WEFT_HEAD_NORM_EACH, /**< of each head by itself, with the same weights */
    WEFT_HEAD_NORM_ALL   /**< of all heads together */
} weft_head_norm;

typedef struct weft_attention_form {
    uint32_t heads;
    uint32_t kv_heads;  /**< 0: heads */
    uint32_t head_size; /**< channels; 0: hidden_size / heads */
    uint32_t
        groups; /**< of a packed matrix: each has heads / groups queries, then its keys, then values; 0: 1 */
    float scale;                      /**< of the scores; 0: 1/√head_size */
    bool unbiased_keys;               /**< where queries and values have a bias */
    float cap;                        /**< a score s counts as cap·tanh(s/cap); 0: as it is */
    bool sinks;                       /**< softmax has a learned score more for each head */
    bool slopes;                      /**< ALiBi: scores fall with the distance */
    uint32_t head_norm;               /**< weft_head_norm */
    weft_rotary rotary, local_rotary; /**< of local layers */
    uint32_t distance_kinds;  /**< of distances that scores have a bias for, as in T5; 0: none */
    uint32_t distance_rows;   /**< of the table of these biases: the kinds, or more */
    uint32_t farthest;        /**< the distance from which on all have one kind */
    bool distances_of_layers; /**< each layer has such a table */
    uint32_t half_width;      /**< of the band of local layers */
    weft_layer_set local;     /**< layers whose attention is that of a band */
    weft_layer_set unturned;  /**< layers without rotary positions */
} weft_attention_form;

/** Where a layer's norms are. */
typedef enum weft_norm_position {
    WEFT_NORM_BEFORE = 0, /**< x + part(norm(x)) */
    WEFT_NORM_AFTER,      /**< norm(x + part(x)) */
    WEFT_NORM_BEHIND,     /**< x + norm(part(x)) */
    WEFT_NORM_AROUND      /**< x + norm(part(norm(x))) */
} weft_norm_position;

/** Whether the feed-forward reads what the mixer has made. */
typedef enum weft_layer_order {
    WEFT_LAYER_SERIAL = 0,
    WEFT_LAYER_PARALLEL,       /**< x + mixer(norm(x)) + feed_forward(other_norm(x)) */
    WEFT_LAYER_PARALLEL_SHARED /**< the same with one norm */
} weft_layer_order;

/** Feed-forwards of experts, of which each token goes through some. */
typedef struct weft_expert_form {
    uint32_t count;   /**< 0: there are none */
    uint32_t chosen;  /**< by each token */
    uint32_t size;    /**< channels between an expert's maps */
    uint32_t shared;  /**< the same of one beside them that all tokens go through; 0: none */
    bool shared_gate; /**< what that one makes has a factor for each token */
    bool normalized;  /**< factors of the chosen are divided by their sum … */
    float more;       /**< … and this, which is added to it */
    float scale;      /**< of all factors; 0: 1 */
    bool sigmoid;     /**< each expert's factor is by itself, not a share of all */
    bool
        choice_bias; /**< what is added to factors that are compared, but not to those that count */
    bool biases;     /**< of the scores of experts, and of their maps */
    float
        limit; /**< gates are at most this, and what they gate is within ± it, and 1 is added; 0: neither */
    float gain;           /**< of these gates' sigmoid, by which they are multiplied */
    weft_layer_set dense; /**< layers with the usual feed-forward */
} weft_expert_form;

typedef struct weft_layer_form {
    uint32_t order;  /**< weft_layer_order */
    uint32_t stored; /**< layers in the file, each of which stands for as many others; 0: all */
    float residual_scale;   /**< of what a part adds; 0: 1 */
    float gate_factor;      /**< of a feed-forward's gate before its activation; 0: 1 */
    float fed_factor;       /**< of what a feed-forward makes; 0: 1 */
    bool first_norm_absent; /**< the first layer's mixer reads the embedding itself */
    bool norm_adds_one;     /**< norms multiply by 1 + weight */
    bool quick_gelu;        /**< feed-forwards have x·sigmoid(1.702 x) in the activation's place */
    bool part_scales;       /**< what a part adds has a learned factor for each channel */
    bool last_norm_absent;  /**< none behind the last layer */
    bool squares;           /**< feed-forwards without a gate have the activation's square */
    bool shifts; /**< feed-forwards read a token beside the one before it: weft_build_shifted */
    weft_expert_form experts;
} weft_layer_form;

/** Images in the tokens' place: each patch is a token. */
typedef struct weft_image_form {
    uint32_t size;     /**< pixels of each edge; 0: the input is no image */
    uint32_t channels; /**< of a pixel */
    uint32_t patch;    /**< pixels of each edge of a patch; what is left at the edges is not read */
    bool class_token;  /**< a learned token stands before the patches */
    bool patch_bias;
} weft_image_form;

/** Speech in the tokens' place: two frames of its spectrum are one. */
typedef struct weft_speech_form {
    uint32_t bands; /**< of a frame; 0: the input is no speech */
} weft_speech_form;

/** Meaning of a classifier's outputs: problem_type of transformers. */
typedef enum weft_problem {
    WEFT_PROBLEM_ANY =
        0, /**< not said: one label of several, or a label that applies or does not */
    WEFT_PROBLEM_SINGLE_LABEL,
    WEFT_PROBLEM_MULTI_LABEL,
    WEFT_PROBLEM_REGRESSION
} weft_problem;

typedef struct weft_head_form {
    weft_problem problem;
    weft_activation activation; /**< of a head that has no activation of its own */
    float scale;                /**< of a language model's logits; 0: 1 */
    float cap;                  /**< as of scores, behind the scale */
    uint32_t vector; /**< values of the vector that a head of task EMBED makes; 0: there is none */
    int64_t
        end_token; /**< which WEFT_HEAD_END_TOKEN looks for; OLDEST_END_TOKEN: the largest number */
} weft_head_form;

/** eos_token_id of the first files of CLIP, which is none of their vocabulary's: the token with the largest number ends a text. */
#define WEFT_OLDEST_END_TOKEN 2

#endif
