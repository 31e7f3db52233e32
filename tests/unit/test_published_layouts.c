/* SPDX-License-Identifier: MIT */
/* Folders of transformers: names of tensors with and without prefix, packed and tied ones, and what is refused. */
#include "graph/graph.h"
#include "model/files/rearranged_weight.h"
#include "model/network/layout.h"
#include "support_model.h"

#define D     8U
#define WIDE  12U
#define WORDS 20U

#define SIZES                                                                        \
    "'vocab_size':20,'hidden_size':8,'num_hidden_layers':1,'num_attention_heads':2," \
    "'intermediate_size':12,'max_position_embeddings':9"
#define BERT(name)     "{'model_type':'bert','architectures':['" name "']," SIZES "}"
#define BERT_AND(more) "{'model_type':'bert','architectures':['BertModel']," SIZES "," more "}"
#define MODERN(more) \
    "{'model_type':'modernbert','architectures':['ModernBertModel']," SIZES more "}"

static void add_linear(struct weft_test_loader *f, const char *prefix, const char *name,
                       uint32_t in, uint32_t out) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    weft_test_model_add_linear(&f->model, full, in, out);
}

static void add_norm(struct weft_test_loader *f, const char *prefix, const char *name) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    weft_test_model_add_norm(&f->model, full, D);
}

static void add_table(struct weft_test_loader *f, const char *prefix, const char *name,
                      uint32_t rows) {
    char full[128];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    weft_test_model_add(&f->model, full, weft_shape_of(rows, D));
}

static void add_bert(struct weft_test_loader *f, const char *prefix) {
    static const char *const squares[] = {"query", "key", "value"};
    add_table(f, prefix, "embeddings.word_embeddings", WORDS);
    add_table(f, prefix, "embeddings.position_embeddings", 9);
    add_table(f, prefix, "embeddings.token_type_embeddings", 2);
    add_norm(f, prefix, "embeddings.LayerNorm");
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "encoder.layer.0.attention.self.%s", squares[i]);
        add_linear(f, prefix, name, D, D);
    }
    add_linear(f, prefix, "encoder.layer.0.attention.output.dense", D, D);
    add_norm(f, prefix, "encoder.layer.0.attention.output.LayerNorm");
    add_linear(f, prefix, "encoder.layer.0.intermediate.dense", D, WIDE);
    add_linear(f, prefix, "encoder.layer.0.output.dense", WIDE, D);
    add_norm(f, prefix, "encoder.layer.0.output.LayerNorm");
}

static int set_up(void **state) {
    struct weft_test_loader *f = calloc(1, sizeof *f);
    weft_test_host_begin(&f->host);
    weft_test_model_begin(&f->model);
    *state = f;
    return 0;
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_loader *f, set_up, weft_test_loader_tear_down)

/* ---- tensors ---- */

TEST(test_without_a_head, f) {
    add_bert(f, "");
    const weft_model_info info = weft_test_expect_loads(f, BERT("BertModel"));
    assert_int_equal(info.task, WEFT_TASK_HIDDEN);
    assert_true(info.takes_types && info.takes_lengths && !info.causal);
    assert_int_equal(info.max_length, 9);
    assert_int_equal(info.label_count, 0);
    weft_test_expect_no_leak(f, BERT("BertModel"));
}

/* A file of another class has what the model needs, and heads that it does not have. */
TEST(test_other_heads_are_left_out, f) {
    add_bert(f, "bert.");
    add_linear(f, "", "bert.pooler.dense", D, D);
    add_linear(f, "", "classifier", D, 3);
    add_linear(f, "", "cls.seq_relationship", D, 2);
    weft_test_model_add(&f->model, "bert.embeddings.position_ids", weft_shape_of(1, 9));
    weft_test_expect_loads(f, BERT("BertModel"));
    weft_model_info info = weft_test_expect_loads(f, BERT("BertForTokenClassification"));
    assert_int_equal(info.label_count,
                     3); /* the rows of the classifier, as the config names none */
    info = weft_test_expect_loads(f, BERT("BertForSequenceClassification"));
    assert_int_equal(info.task, WEFT_TASK_CLASSIFY);
    info = weft_test_expect_loads(f, BERT("BertForNextSentencePrediction"));
    assert_int_equal(info.label_count, 2);
    weft_test_expect_refused(f, BERT("BertForQuestionAnswering"), WEFT_NOT_FOUND,
                             "model.safetensors", "qa_outputs.weight");
}

TEST(test_what_changes_the_result_is_not_left_out, f) {
    add_bert(f, "");
    add_linear(f, "", "encoder.layer.0.adapter", D, D);
    weft_test_expect_refused(f, BERT("BertModel"), WEFT_BAD_FILE, "model.safetensors",
                             "encoder.layer.0.adapter");
    weft_test_model_remove(&f->model, "encoder.layer.0.adapter.weight");
    weft_test_model_remove(&f->model, "encoder.layer.0.adapter.bias");
    weft_test_expect_loads(f, BERT("BertModel"));
    add_linear(f, "", "encoder.layer.1.output.dense", WIDE, D);
    weft_test_expect_refused(f, BERT("BertModel"), WEFT_BAD_FILE, "model.safetensors",
                             "encoder.layer.1.output.dense");
}

/* Of a tied pair, a file may have either name, or both. */
TEST(test_tied_pairs, f) {
    add_bert(f, "bert.");
    add_linear(f, "", "cls.predictions.transform.dense", D, D);
    add_norm(f, "", "cls.predictions.transform.LayerNorm");
    weft_test_model_add(&f->model, "cls.predictions.bias", weft_shape_of(WORDS));
    const weft_model_info tied = weft_test_expect_loads(f, BERT("BertForMaskedLM"));
    assert_int_equal(tied.task, WEFT_TASK_MASKED_LM);
    weft_test_model_remove(&f->model, "bert.embeddings.word_embeddings.weight");
    add_table(f, "", "cls.predictions.decoder", WORDS);
    const weft_model_info other = weft_test_expect_loads(f, BERT("BertForMaskedLM"));
    assert_int_equal(tied.parameters, other.parameters);
    weft_test_expect_refused(f,
                             "{'model_type':'bert','architectures':['BertForMaskedLM'],'tie_word_"
                             "embeddings':false," SIZES "}",
                             WEFT_NOT_FOUND, "model.safetensors", "word_embeddings.weight");
}

/* The first files of BERT have TensorFlow's names of a norm's vectors. */
TEST(test_older_names, f) {
    add_bert(f, "bert.");
    static const char *const norms[] = {"bert.embeddings.LayerNorm",
                                        "bert.encoder.layer.0.attention.output.LayerNorm",
                                        "bert.encoder.layer.0.output.LayerNorm"};
    const weft_model_info info = weft_test_expect_loads(f, BERT("BertModel"));
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        static const char *const names[][2] = {{"weight", "gamma"}, {"bias", "beta"}};
        for (size_t j = 0; j < 2; j++) {
            char name[96];
            snprintf(name, sizeof name, "%s.%s", norms[i], names[j][0]);
            weft_test_model_remove(&f->model, name);
            snprintf(name, sizeof name, "%s.%s", norms[i], names[j][1]);
            weft_test_model_add(&f->model, name, weft_shape_of(D));
        }
    }
    const weft_model_info older = weft_test_expect_loads(f, BERT("BertModel"));
    assert_int_equal(info.parameters, older.parameters);
}

TEST(test_packed_tensors, f) {
    add_table(f, "", "embeddings.tok_embeddings", WORDS);
    weft_test_model_add(&f->model, "embeddings.norm.weight", weft_shape_of(D));
    weft_test_model_add(&f->model, "layers.0.attn.Wqkv.weight", weft_shape_of(3 * D, D));
    weft_test_model_add(&f->model, "layers.0.attn.Wo.weight", weft_shape_of(D, D));
    weft_test_model_add(&f->model, "layers.0.mlp_norm.weight", weft_shape_of(D));
    weft_test_model_add(&f->model, "layers.0.mlp.Wi.weight", weft_shape_of(2 * WIDE, D));
    weft_test_model_add(&f->model, "layers.0.mlp.Wo.weight", weft_shape_of(D, WIDE));
    weft_test_model_add(&f->model, "final_norm.weight", weft_shape_of(D));
    const weft_model_info info = weft_test_expect_loads(f, MODERN(""));
    assert_int_equal(info.parameters, WORDS * D + 3 * D + 4 * D * D + 3 * WIDE * D);
    assert_false(info.takes_types);
    weft_test_expect_no_leak(f, MODERN(""));
    weft_test_model_add(&f->model, "layers.0.attn.Wqkv.weight", weft_shape_of(2 * D, D));
    weft_test_expect_refused(f, MODERN(""), WEFT_BAD_FILE, "layers.0.attn.Wqkv.weight", "[24, 8]");
}

enum { ROWS = 5, COLUMNS = 7, COUNT = ROWS * COLUMNS };

/* Every range of a transposed matrix is that of the whole. */
static void check_transposed(struct weft_test_loader *f, const void *data, weft_stored stored) {
    weft_weight *whole = NULL;
    weft_weight *transposed = NULL;
    assert_ok(weft_weight_create(&whole,
                                 weft_weight_params(.dtype = WEFT_F32,
                                                    .shape = weft_shape_of(ROWS, COLUMNS),
                                                    .data = data, .stored = stored),
                                 &f->host.host));
    assert_ok(weft_weight_transposed_of(&transposed, whole));
    weft_weight_destroy(&whole);
    for (uint32_t first = 0; first < COUNT; first++) {
        for (uint32_t count = 0; first + count <= COUNT; count++) {
            float found[COUNT];
            assert_ok(weft_weight_read(transposed, first, count, found));
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t column = (first + i) / ROWS, row = (first + i) % ROWS;
                assert_true(found[i] == (float)(row * COLUMNS + column));
            }
        }
    }
    weft_weight_destroy(&transposed);
}

TEST(test_transposed_weights, f) {
    float data[COUNT];
    uint16_t narrow[COUNT]; /* bfloat16: a float's upper half */
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t bits = 0;
        data[i] = (float)i;
        memcpy(&bits, &data[i], sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    check_transposed(f, data, WEFT_STORED_WHOLE);
    check_transposed(f, narrow, WEFT_STORED_BF16);
}

enum { GROUP = 6, FIRST = 2, SOME = 3, ALL = 2 * SOME * COLUMNS };

/* Rows 2, 3 and 4 of every 6, of a matrix or a vector: every range is that of these rows. */
static void check_rows(struct weft_test_loader *f, uint32_t columns, weft_stored stored) {
    float data[2 * GROUP * COLUMNS];
    uint16_t narrow[2 * GROUP * COLUMNS];
    const uint32_t count = 2 * GROUP * columns;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        data[i] = (float)i;
        memcpy(&bits, &data[i], sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    const bool vector = columns == 1;
    const void *stored_data = stored == WEFT_STORED_BF16 ? (const void *)narrow : data;
    weft_weight *whole = NULL;
    weft_weight *rows = NULL;
    assert_ok(
        weft_weight_create(&whole,
                           weft_weight_params(.dtype = WEFT_F32,
                                              .shape = vector ? weft_shape_of(2 * GROUP)
                                                              : weft_shape_of(2 * GROUP, columns),
                                              .data = stored_data, .stored = stored),
                           &f->host.host));
    assert_ok(weft_weight_rows_of(
        &rows, whole, vector ? weft_shape_of(2 * SOME) : weft_shape_of(2 * SOME, columns), GROUP,
        FIRST, SOME));
    weft_weight_destroy(&whole);
    for (uint32_t first = 0; first < 2 * SOME * columns; first++) {
        for (uint32_t some = 0; first + some <= 2 * SOME * columns; some++) {
            float found[ALL];
            assert_ok(weft_weight_read(rows, first, some, found));
            for (uint32_t i = 0; i < some; i++) {
                const uint32_t row = (first + i) / columns, column = (first + i) % columns;
                const uint32_t expected = row / SOME * GROUP + FIRST + row % SOME;
                assert_true(found[i] == (float)(expected * columns + column));
            }
        }
    }
    weft_weight_destroy(&rows);
}

TEST(test_rows_of_groups, f) {
    check_rows(f, COLUMNS, WEFT_STORED_WHOLE);
    check_rows(f, COLUMNS, WEFT_STORED_BF16);
    check_rows(f, 1, WEFT_STORED_WHOLE);
}

/* Columns 1, 3 and 5 of two matrices [5, 7] as rows: every range is that of these columns. */
TEST(test_columns_of_matrices, f) {
    static const struct weft_turned_rows every_other = {
        .groups = 2, .rows = ROWS, .columns = COLUMNS, .first = 1, .step = 2, .count = SOME};
    float data[2 * COUNT];
    weft_weight *whole = NULL, *turned = NULL;
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        data[i] = (float)i;
    }
    assert_ok(weft_weight_create(&whole,
                                 weft_weight_params(.dtype = WEFT_F32,
                                                    .shape = weft_shape_of(2, ROWS, COLUMNS),
                                                    .data = data),
                                 &f->host.host));
    assert_ok(
        weft_weight_turned_rows_of(&turned, whole, weft_shape_of(2 * SOME, ROWS), &every_other));
    weft_weight_destroy(&whole);
    for (uint32_t first = 0; first < 2 * SOME * ROWS; first++) {
        for (uint32_t some = 0; first + some <= 2 * SOME * ROWS; some++) {
            float found[2 * SOME * ROWS];
            assert_ok(weft_weight_read(turned, first, some, found));
            for (uint32_t i = 0; i < some; i++) {
                const uint32_t row = (first + i) / ROWS, matrix = row / SOME;
                const uint32_t column = 1 + row % SOME * 2;
                const uint32_t at = matrix * COUNT + (first + i) % ROWS * COLUMNS + column;
                assert_true(found[i] == (float)at);
            }
        }
    }
    weft_weight_destroy(&turned);
}

#define NEOX "{'model_type':'gpt_neox','architectures':['GPTNeoXModel']," SIZES "}"

/* Queries, keys and values of each head one behind the other, in a matrix and a vector. */
TEST(test_heads_of_one_matrix, f) {
    add_table(f, "", "embed_in", WORDS);
    add_linear(f, "", "layers.0.attention.query_key_value", D, 3 * D);
    add_linear(f, "", "layers.0.attention.dense", D, D);
    add_linear(f, "", "layers.0.mlp.dense_h_to_4h", D, WIDE);
    add_linear(f, "", "layers.0.mlp.dense_4h_to_h", WIDE, D);
    add_norm(f, "", "layers.0.input_layernorm");
    add_norm(f, "", "layers.0.post_attention_layernorm");
    add_norm(f, "", "final_layer_norm");
    /* A quarter of 4 channels is one, and they turn in pairs. */
    weft_test_expect_refused(f, NEOX, WEFT_BAD_FILE, "rotary_pct", "an even number");
    const char *half =
        "{'model_type':'gpt_neox','architectures':['GPTNeoXModel'],'rotary_pct':0.5," SIZES "}";
    const weft_model_info info = weft_test_expect_loads(f, half);
    assert_int_equal(info.parameters,
                     WORDS * D + 4 * (D + 1) * D + (D + 1) * WIDE + (WIDE + 1) * D + 6 * D);
    weft_test_expect_no_leak(f, half);
    weft_test_model_add(&f->model, "layers.0.attention.query_key_value.weight",
                        weft_shape_of(2 * D, D));
    weft_test_expect_refused(f, half, WEFT_BAD_FILE, "query_key_value.weight", "[24, 8]");
}

/* ---- fields ---- */

static void expect_field(struct weft_test_loader *f, const char *config, weft_status status,
                         const char *field) {
    char text[96];
    snprintf(text, sizeof text, "field \"%s\"", field);
    weft_test_expect_refused(f, config, status, "config.json", text);
}

TEST(test_fields_that_change_the_result, f) {
    add_bert(f, "");
    weft_test_expect_loads(f, BERT_AND("'is_decoder':false,'position_embedding_type':'absolute',"
                                       "'use_cache':true,'anything':[1],'eos_token_id':null"));
    static const char *const rows[][2] = {
        {"is_decoder", BERT_AND("'is_decoder':true")},
        {"add_cross_attention", BERT_AND("'add_cross_attention':true")},
        {"position_embedding_type", BERT_AND("'position_embedding_type':'relative_key'")},
        {"hidden_act", BERT_AND("'hidden_act':'mish'")},
        {"architectures", BERT("BertLMHeadModel")},
        {"rope_scaling", MODERN(",'rope_scaling':{'rope_type':'yarn'}")},
        {"rope_type", MODERN(",'rope_parameters':{'full_attention':{'rope_type':'ntk'}}")},
        {"layer_types", MODERN(",'layer_types':['chunked_attention']")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_field(f, rows[i][1], WEFT_UNSUPPORTED, rows[i][0]);
    }
}

TEST(test_fields_that_are_wrong, f) {
    add_bert(f, "");
    static const char *const rows[][2] = {
        {"vocab_size", "{'model_type':'bert','architectures':['BertModel']}"},
        {"architectures", "{'model_type':'bert'," SIZES "}"},
        {"num_attention_heads",
         "{'model_type':'bert','architectures':['BertModel'],'vocab_size':20,"
         "'hidden_size':8,'num_hidden_layers':1,'num_attention_heads':3,"
         "'intermediate_size':12,'max_position_embeddings':9}"},
        {"eos_token_id", BERT_AND("'eos_token_id':20")},
        {"type_vocab_size", BERT_AND("'type_vocab_size':0")},
        {"max_position_embeddings", "{'model_type':'roberta','architectures':['RobertaModel'],"
                                    "'pad_token_id':8," SIZES "}"},
        {"layer_types", MODERN(",'layer_types':[]")},
        {"rope_parameters", MODERN(",'rope_parameters':{'full_attention':3}")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_field(f, rows[i][1], WEFT_BAD_FILE, rows[i][0]);
    }
}
