/* SPDX-License-Identifier: MIT */
/*
 * Layouts that others have published: how the folders of a model_type of transformers differ from api/MODELS.md's network, as
 * data. A family's file in architectures/ has the tables; network_layers.c builds the network, and layout_head.c its head.
 */
#ifndef WEFT_MODEL_LAYOUT_H
#define WEFT_MODEL_LAYOUT_H

#include "model/network/network_config.h"

struct weft_builder;
struct weft_network;

/** The heads of a tensor in a matrix with all queries, keys and values, in attention.groups groups along out; or with gates. */
enum weft_packed {
    WEFT_PACKED_NOT = 0,
    WEFT_PACKED_QUERY,
    WEFT_PACKED_KEY,
    WEFT_PACKED_VALUE,
    WEFT_PACKED_GATED,         /* queries of a matrix in which each head's gate follows them */
    WEFT_PACKED_GATE,          /* the gates */
    WEFT_PACKED_EXPERTS,       /* matrices of all experts, [experts, out, in] */
    WEFT_PACKED_EXPERT_GATES,  /* likewise, of which half of the rows are of gates, … */
    WEFT_PACKED_EXPERT_VALUES, /* … and half of values */
    WEFT_TURNED_EXPERTS,       /* [experts, in, out] */
    WEFT_TURNED_EXPERT_GATES, /* likewise, of which every other column is of a gate, from the first on, … */
    WEFT_TURNED_EXPERT_VALUES, /* … and of a value, from the second on */
    WEFT_PAIRED_EXPERT_GATES,  /* vectors [experts, out] of gates and values in turn */
    WEFT_PAIRED_EXPERT_VALUES, /* likewise */
    WEFT_MXFP4_EXPERTS,        /* model/files/mxfp4_weight.h: [experts, out, …] */
    WEFT_MXFP4_EXPERT_GATES,   /* likewise, of which every other row is of a gate, … */
    WEFT_MXFP4_EXPERT_VALUES   /* … and of a value */
};

/** Names of a tensor, without ".weight" and ".bias"; # is the layer's number, and * an expert's. Of several rows for one, the first counts that the file has. */
struct weft_tensor_name {
    const char *ours; /* null ends a list */
    const char *theirs;
    bool transposed;      /* a matrix [in, out], as transformers' Conv1D has it */
    uint32_t part, parts; /* one of so many equal parts, packed along out; 0 parts: all of it */
    enum weft_packed packed;
};

/* Rows of such a list; what is packed or transposed follows the names. */
#define WEFT_NAMED(our_name, their_name) .ours = (our_name), .theirs = (their_name)
#define WEFT_PART(number, count)         .part = (number), .parts = (count)
/* Three rows: queries, keys and values under one name. */
#define WEFT_PACKED_NAMES(their_name)                                                \
    {WEFT_NAMED("layers.#.mixer.query", their_name), .packed = WEFT_PACKED_QUERY},   \
        {WEFT_NAMED("layers.#.mixer.key", their_name), .packed = WEFT_PACKED_KEY}, { \
        WEFT_NAMED("layers.#.mixer.value", their_name), .packed = WEFT_PACKED_VALUE  \
    }

/* Rows of a layer of BART and what came of it, such as OPT and Whisper, but for what its decoders read of the encoder. */
#define WEFT_BART_LAYER_NAMES(ours, theirs)                             \
    {WEFT_NAMED(ours "mixer.query", theirs "self_attn.q_proj")},        \
        {WEFT_NAMED(ours "mixer.key", theirs "self_attn.k_proj")},      \
        {WEFT_NAMED(ours "mixer.value", theirs "self_attn.v_proj")},    \
        {WEFT_NAMED(ours "mixer.output", theirs "self_attn.out_proj")}, \
        {WEFT_NAMED(ours "mixer_norm", theirs "self_attn_layer_norm")}, \
        {WEFT_NAMED(ours "feed_forward.in", theirs "fc1")},             \
        {WEFT_NAMED(ours "feed_forward.out", theirs "fc2")}, {          \
        WEFT_NAMED(ours "feed_forward_norm", theirs "final_layer_norm") \
    }

/** Input of the last maps of a model. */
enum weft_head_input {
    WEFT_HEAD_EACH_TOKEN,
    WEFT_HEAD_FIRST_TOKEN,
    WEFT_HEAD_POOLED,            /* as config.pooling says */
    WEFT_HEAD_END_TOKEN,         /* the first that ends a text */
    WEFT_HEAD_PATCHES,           /* the mean of an image's patches */
    WEFT_HEAD_FIRST_AND_PATCHES, /* the first token, and beside it that mean */
    WEFT_HEAD_PROBE              /* what a learned query finds in all tokens: weft_build_probe */
};

/** A class of the model_type, and what it has on top of the encoder: out(norm(act(dense(x)))). */
struct weft_head {
    const char *name; /* the class's, behind the stem; null ends a list */
    weft_task task;
    enum weft_head_input input;
    const char *unless; /* a field of config.json that is false, or it is a later one of the name */
    const char *dense;  /* tensors in the file; null: there is none */
    weft_activation activation;
    bool own_activation; /* config.head.activation instead */
    const char *norm;
    const char *out;
    const char *older; /* name of out in older files, or null */
    const char *bias;  /* the last map's, where its name is not out.bias */
    uint32_t outputs;  /* 0: the labels, or the vocabulary */
    const char *part;  /* a module of the file that no other class has; or null */
};

/** True if the last map gives a number for each word. */
static inline bool weft_head_is_language(const struct weft_head *head) {
    return head->task == WEFT_TASK_MASKED_LM || head->task == WEFT_TASK_CAUSAL_LM ||
           head->task == WEFT_TASK_TEXT_TO_TEXT;
}

struct weft_layout {
    const char *stem;    /* of the classes' names: "Bert" */
    const char *encoder; /* that of the model without a head: "BertModel" */
    const char *prefix;  /* of the encoder's tensors under a head: "bert." */
    /** Fields of config.json that fill a weft_network_config, in tables of which null is the last. */
    const weft_field_table *fields[9];
    const weft_network_config *defaults;
    /** Reads what else there is, also into the struct of the family; without defaults all in the tables' place. Or null. */
    weft_status (*read)(void *state, weft_network_config *config, const weft_json_fields *json);
    /** Derives fields from others, and refuses invalid ones; may be null. */
    weft_status (*check)(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json);
    const struct weft_tensor_name *names;
    const struct weft_head *heads; /* the first is the model without one */
    /** Tensors that change no result, by the ends of their names, such as numbers of positions; null is the last. */
    const char *const *unused;
    /** Modules of the file that are another model beside this one; null is the last. Or null. */
    const char *const *beside;
    bool ignores_end; /* eos_token_id says nothing that the model reads */
};

/* ---- fields ---- */

/** Sizes under their usual names; hidden_act, layer_norm_eps and position_embedding_type; type_vocab_size. */
extern const weft_field_table weft_size_fields, weft_bert_fields, weft_type_fields;
/** GPT-2's names of sizes, which GPT-J has, too. */
extern const weft_field_table weft_gpt2_fields;

/* Tables of BERT and RoBERTa that others share. */
extern const struct weft_tensor_name weft_bert_names[];
extern const char *const weft_bert_unused[];
extern const weft_network_config weft_bert_defaults;
extern const struct weft_head weft_bert_heads[], weft_roberta_heads[];

/* Rows of a list of names: the tensors that BERT and FNet have alike. */
#define WEFT_BERT_NAMES                                                                    \
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},                       \
        {WEFT_NAMED("embeddings.positions", "embeddings.position_embeddings")},            \
        {WEFT_NAMED("embeddings.types", "embeddings.token_type_embeddings")},              \
        {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},                           \
        {WEFT_NAMED("layers.#.mixer.query", "encoder.layer.#.attention.self.query")},      \
        {WEFT_NAMED("layers.#.mixer.key", "encoder.layer.#.attention.self.key")},          \
        {WEFT_NAMED("layers.#.mixer.value", "encoder.layer.#.attention.self.value")},      \
        {WEFT_NAMED("layers.#.mixer.output", "encoder.layer.#.attention.output.dense")},   \
        {WEFT_NAMED("layers.#.mixer_norm", "encoder.layer.#.attention.output.LayerNorm")}, \
        {WEFT_NAMED("layers.#.feed_forward.in", "encoder.layer.#.intermediate.dense")},    \
        {WEFT_NAMED("layers.#.feed_forward.out", "encoder.layer.#.output.dense")}, {       \
        WEFT_NAMED("layers.#.feed_forward_norm", "encoder.layer.#.output.LayerNorm")       \
    }

#define WEFT_BERT_DEFAULTS                                                               \
    .norm = WEFT_NORM_LAYER, .norm_position = 1, .norm_eps = 1e-12F,                     \
    .activation = WEFT_ACTIVATION_GELU_ERF, .position_embedding = WEFT_POSITION_LEARNED, \
    .embedding_norm = true, .tie_word_embeddings = true, .biases = WEFT_ALL_BIASES

/** For weft_field.read: refuses anything but false, or nothing. */
weft_status weft_field_false(void *value, const weft_json_fields *json, const char *name);
/** Refuses anything but true, or nothing. */
weft_status weft_field_true(void *value, const weft_json_fields *json, const char *name);
/** Refuses anything but null, or nothing. */
weft_status weft_field_null(void *value, const weft_json_fields *json, const char *name);
/** Refuses any text but "absolute". */
weft_status weft_field_absolute(void *value, const weft_json_fields *json, const char *name);

/** A row of a table: a field that changes the result, and that Weft does not have. */
#define WEFT_REFUSED(text, function) \
    { .name = (text), .kind = WEFT_FIELD_CUSTOM, .read = (function) }

/** So many rows of the table of positions are before that of the first token, and max_positions is less by that. */
weft_status weft_layout_offset_positions(weft_network_config *config, uint32_t offset,
                                         const weft_json_fields *json);

/** Where config.json says how rotary positions turn. */
struct weft_rotary_fields {
    const char *kind;  /* of layers, if rope_parameters has an object for each kind; or null */
    const char *base;  /* of older files, beside the other fields: "rope_theta" */
    const char *share; /* the same: "partial_rotary_factor" */
    double usual_base, usual_share;
    bool partial;  /* a share below 1 is that of the channels that turn; otherwise it is refused */
    bool unscaled; /* rope_scaling of older files is that of other layers */
};

/* What all have, and most; others follow. */
#define WEFT_ROTARY_FIELDS_OF(of_kind) \
    .kind = (of_kind), .share = "partial_rotary_factor", .usual_share = 1.0
#define WEFT_ROTARY_FIELDS_BUT_SHARE \
    .base = "rope_theta", .share = "partial_rotary_factor", .usual_base = 10000.0
#define WEFT_ROTARY_FIELDS WEFT_ROTARY_FIELDS_BUT_SHARE, .usual_share = 1.0

/** Reads them. Sizes of heads come first; a scale may lessen max_positions. */
weft_status weft_layout_read_rotary(weft_rotary *rotary, weft_network_config *config,
                                    const struct weft_rotary_fields *fields,
                                    const weft_json_fields *json);

/** The two texts that layer_types may have: of layers that are not in a set, and of those that are; in older files others, or null. */
struct weft_layer_kinds {
    const char *out, *in;
    const char *older_out, *older_in;
};
/** layer_types, one text for each layer. WEFT_UNSUPPORTED for any other. */
weft_status weft_layout_read_layer_kinds(weft_layer_set *set, uint32_t layers,
                                         const struct weft_layer_kinds *kinds,
                                         const weft_json_fields *json);
/** Numbers of layers, which are put into a set; none where the field is missing or null. */
weft_status weft_layout_read_layer_numbers(weft_layer_set *set, uint32_t layers,
                                           const weft_json_fields *json, const char *name);
/** full_attention, or sliding_attention: sets attention.local. */
weft_status weft_layout_read_layer_types(weft_network_config *config, const weft_json_fields *json);

weft_status weft_layout_read_problem(weft_problem *problem, const weft_json_fields *json);

/**
 * Reads config.json, and which class it is; `state` is the family's. *config is to be cleared also on failure.
 * Errors: WEFT_UNSUPPORTED for a class that is not there; WEFT_BAD_FILE.
 */
weft_status weft_layout_read(weft_network_config *config, const struct weft_head **head,
                             void *state, const struct weft_layout *layout,
                             const weft_json_fields *json);

/** "BertForMaskedLM" of a head; to be freed. */
char *weft_layout_class(const struct weft_layout *layout, const struct weft_head *head,
                        const weft_host *host);

/* ---- tensors ---- */

/** A tensor as a file has it. */
struct weft_stored_name {
    char text[256];
    const struct weft_tensor_name *row; /* or null: as it is */
};

/** Finds the name in the network's file of a tensor of ours. Only while it is loaded. */
void weft_layout_find(struct weft_stored_name *stored, const struct weft_network *network,
                      const char *ours);

/** True if a name stands for the tensors of all experts; below, that of one of them. */
bool weft_layout_is_numbered(const char *name);
void weft_layout_number(struct weft_stored_name *one, const char *name, uint32_t number);

/** Kinds of tensors that the model does not use. */
enum weft_other_tensor {
    WEFT_TENSOR_PART,      /* of what is run: the model is not the one of config.json */
    WEFT_TENSOR_ELSEWHERE, /* of other heads, or what transformers writes without need */
    WEFT_TENSOR_UNKNOWN
};
enum weft_other_tensor weft_layout_other(const struct weft_layout *layout,
                                         const struct weft_head *head, const char *name);

/* ---- building ---- */

/** The head on the last hidden state. While the network is loaded, its config learns the number of labels. */
weft_tensor weft_layout_build_head(struct weft_builder *builder, weft_tensor x);

#endif
