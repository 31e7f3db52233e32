/* SPDX-License-Identifier: MIT */
/* Model folders of the families with queries, keys and values: what is read, and what is refused and why. */
#include <weft/model.h>

#include "support_model.h"

static const struct weft_test_network network = {
    .layers = 2, .hidden_size = 6, .intermediate_size = 5, .vocab_size = 9};

#define SIZES                                                                     \
    "'vocab_size':9,'hidden_size':6,'num_hidden_layers':2,'intermediate_size':5," \
    "'max_position_embeddings':20,'num_attention_heads':3"
#define HIDDEN      "'task':'hidden'," SIZES
#define TRANSFORMER "{'model_type':'transformer'," HIDDEN
#define PERFORMER   "{'model_type':'performer'," HIDDEN
#define COSFORMER   "{'model_type':'cosformer'," HIDDEN
#define FMMFORMER   "{'model_type':'fmmformer'," HIDDEN

static int set_up(void **state) {
    return weft_test_loader_set_up(state, &network);
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_loader *f, set_up, weft_test_loader_tear_down)

/* The tensors of a layer's mixer beside queries, keys, values and output. */
static void add_to_mixers(struct weft_test_loader *f, const char *name, weft_shape shape) {
    weft_test_model_add_to_layers(&f->model, network.layers, "mixer.", name, shape);
}

/* ---- what is read ---- */

TEST(a_config_says_what_the_model_is, f) {
    add_to_mixers(f, "features.weight", weft_shape_of(7, 2));
    weft_model_info info = weft_test_expect_loads(f, PERFORMER ",'num_features':7}");
    assert_int_equal(info.task, WEFT_TASK_HIDDEN);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.hidden_size, 6);
    assert_int_equal(info.intermediate_size, 5);
    assert_int_equal(info.vocabulary, 9);
    assert_int_equal(info.input_size, 0);
    assert_int_equal(info.position_size, 0);
    assert_int_equal(info.max_length, 20);
    assert_int_equal(info.exact_length, 0);
    assert_int_equal(info.label_count, 0);
    assert_false(info.causal);
    /* tokens, two layers of mixer, its norm, its features, feed-forward and its norm, and the last norm */
    assert_int_equal(info.parameters, 9 * 6 + 2 * (4 * (36 + 6) + 12 + 14 + 35 + 36 + 12) + 12);
}

TEST(labels_and_heads_follow_the_task, f) {
    weft_test_model_add_linear(&f->model, "head", 6, 3);
    weft_model_info info = weft_test_expect_loads(
        f, "{'model_type':'transformer','task':'classify'," SIZES
           ",'id2label':{'1':'b','0':'a','2':''},'num_labels':3,'pooling':'last'}");
    assert_int_equal(info.label_count, 3);
    weft_test_model_add_linear(&f->model, "head", 6, 9);
    info = weft_test_expect_loads(f, "{'model_type':'transformer','task':'causal_lm'," SIZES "}");
    assert_true(info.causal);
    assert_int_equal(info.label_count, 0);
    weft_test_model_remove(&f->model, "head.weight");
    weft_test_expect_loads(f, "{'model_type':'transformer','task':'masked_lm'," SIZES
                              ",'tie_word_embeddings':true}");
}

TEST(features_positions_and_norms_have_their_tensors, f) {
    weft_test_model_remove(&f->model, "embeddings.tokens.weight");
    weft_test_model_remove(&f->model, "norm.weight");
    weft_test_model_remove(&f->model, "norm.bias");
    weft_test_model_add_linear(&f->model, "embeddings.input", 4, 6);
    weft_test_model_add(&f->model, "embeddings.positions.weight", weft_shape_of(20, 6));
    weft_test_model_add(&f->model, "embeddings.norm.weight", weft_shape_of(6));
    weft_test_model_add(&f->model, "embeddings.norm.bias", weft_shape_of(6));
    weft_model_info info = weft_test_expect_loads(
        f, "{'model_type':'transformer','task':'hidden','input':'features','input_size':4,"
           "'hidden_size':6,'num_hidden_layers':2,'intermediate_size':5,"
           "'max_position_embeddings':20,'num_attention_heads':3,'norm_position':'post',"
           "'position_embedding':'learned','embedding_norm':true,'causal':true}");
    assert_int_equal(info.input_size, 4);
    assert_int_equal(info.vocabulary, 0);
    assert_true(info.causal);
}

TEST(null_is_as_if_the_field_were_not_there, f) {
    weft_test_expect_loads(f, TRANSFORMER ",'input_size':null,'norm_eps':null,'causal':null,"
                                          "'num_labels':null,'id2label':null,'hidden_act':null,"
                                          "'pad_token_id':null,'norm':null}");
    weft_test_expect_loads(f, FMMFORMER ",'half_width':null,'kernels':['elu1'],'fast_weight':null,"
                                        "'attention_eps':null}");
    weft_test_expect_loads(f, FMMFORMER ",'half_width':0,'kernels':null}");
    weft_test_expect_loads(f, COSFORMER ",'cosformer_length':null}");
}

TEST(limits_themselves_are_read, f) {
    weft_test_expect_loads(f, TRANSFORMER ",'norm_eps':0,'pad_token_id':8,'eos_token_id':0}");
    weft_test_expect_loads(f, COSFORMER ",'cosformer_length':20,'attention_eps':0}");
    weft_test_expect_loads(f, COSFORMER ",'cosformer_length':16777216,'attention_eps':1e30}");
    weft_test_expect_loads(f, FMMFORMER ",'half_width':16777216,'kernels':[]}");
    weft_test_expect_loads(f,
                           FMMFORMER ",'kernels':['elu1','elu1_negated','tanh','tanh1','relu']}");
    weft_test_expect_loads(f, FMMFORMER ",'kernels':['exp','exp'],'causal':true}");
    add_to_mixers(f, "features.weight", weft_shape_of(1, 2));
    weft_test_expect_loads(f, PERFORMER ",'num_features':1,'feature_eps':0}");
}

TEST(both_fields_of_fmmformer_have_their_tensors, f) {
    add_to_mixers(f, "near_weight", weft_shape_of(3));
    add_to_mixers(f, "far_weight", weft_shape_of(3));
    weft_test_expect_loads(f, FMMFORMER ",'half_width':2,'kernels':['relu']}");
    add_to_mixers(f, "beta.weight", weft_shape_of(3, 6));
    add_to_mixers(f, "beta.bias", weft_shape_of(3));
    weft_test_expect_loads(f, FMMFORMER ",'half_width':2,'fast_weight':true,'causal':true}");
    /* without a near field nothing is blended */
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE,
                        weft_test_load(f, FMMFORMER ",'fast_weight':true,'causal':true}", NULL),
                        "model.safetensors", "_weight", "no part of it has");
}

/* ---- what is refused ---- */

static const struct weft_test_wrong bad_configs[] = {
    /* the network's own fields */
    {TRANSFORMER ",'num_labels_':3}", "num_labels_", "expected a field of this family, found 3"},
    {TRANSFORMER ",'num_features':3}", "num_features", "expected a field of this family, found 3"},
    {"{'model_type':'transformer'," SIZES "}", "task",
     "expected hidden, classify, causal_lm, masked_lm, regress or retrieve, found nothing"},
    {"{'model_type':'transformer','task':null," SIZES "}", "task", "found null"},
    {"{'model_type':'transformer','task':'next_sentence'," SIZES "}", "task",
     "found \"next_sentence\""},
    {"{'model_type':'transformer','task':7," SIZES "}", "task", "found 7"},
    {TRANSFORMER ",'input':'images'}", "input", "expected tokens or features, found \"images\""},
    {TRANSFORMER ",'input':'features'}", "input_size", "found nothing"},
    {TRANSFORMER ",'input':'features','input_size':4}", "vocab_size",
     "expected nothing, as input is features, found 9"},
    {TRANSFORMER ",'input_size':4}", "input_size", "expected nothing, as input is tokens, found 4"},
    {TRANSFORMER ",'input_size':0}", "input_size", "found 0"},
    {TRANSFORMER ",'input_size':65537}", "input_size", "found 65537"},
    {TRANSFORMER ",'position_embedding':'rotary'}", "position_embedding",
     "expected none, learned or sinusoidal, found \"rotary\""},
    {TRANSFORMER ",'embedding_norm':1}", "embedding_norm", "expected true or false, found 1"},
    {TRANSFORMER ",'norm':'batch_norm'}", "norm",
     "expected layer_norm, rms_norm, simple_rms_norm or scale_norm, found \"batch_norm\""},
    {TRANSFORMER ",'norm_eps':-1e-5}", "norm_eps", "found -1e-05"},
    {TRANSFORMER ",'norm_eps':'1'}", "norm_eps", "found \"1\""},
    {TRANSFORMER ",'norm_position':'both'}", "norm_position",
     "expected pre or post, found \"both\""},
    {TRANSFORMER ",'feed_forward':'moe'}", "feed_forward", "expected mlp or glu, found \"moe\""},
    {TRANSFORMER ",'causal':'yes'}", "causal", "expected true or false, found \"yes\""},
    {"{'model_type':'transformer','task':'causal_lm','causal':false," SIZES "}", "causal",
     "expected true, as task is causal_lm, found false"},
    {"{'model_type':'transformer','task':'masked_lm','input':'features','input_size':4,"
     "'hidden_size':6,'num_hidden_layers':2,'intermediate_size':5,'max_position_embeddings':20,"
     "'num_attention_heads':3}",
     "input", "expected tokens, as task is a language model"},
    {TRANSFORMER ",'pooling':'max'}", "pooling", "expected mean, first or last, found \"max\""},
    {TRANSFORMER ",'num_labels':2}", "num_labels",
     "expected nothing, as task has no labels, found 2"},
    {TRANSFORMER ",'id2label':{'0':'a'}}", "id2label", "expected nothing, as task has no labels"},
    {"{'model_type':'transformer','task':'regress'," SIZES "}", "num_labels",
     "expected an integer from 1 to 65536, or id2label, found nothing"},
    {"{'model_type':'transformer','task':'classify','num_labels':0," SIZES "}", "num_labels",
     "found 0"},
    {"{'model_type':'transformer','task':'classify','num_labels':3,'id2label':{'0':'a'}," SIZES "}",
     "num_labels", "expected 1, the number of labels in id2label, found 3"},
    {"{'model_type':'transformer','task':'classify','id2label':{'1':'a'}," SIZES "}", "id2label.0",
     "found nothing"},
    {TRANSFORMER ",'tie_word_embeddings':true}", "tie_word_embeddings",
     "expected false, as task is no language model, found true"},
    {TRANSFORMER ",'tokenizer_class':3}", "tokenizer_class", "found 3"},
    {TRANSFORMER ",'pad_token_id':9}", "pad_token_id", "expected an integer from 0 to 8, found 9"},
    {TRANSFORMER ",'bos_token_id':-1}", "bos_token_id", "found -1"},
    {TRANSFORMER ",'eos_token_id':1.5}", "eos_token_id", "found 1.5"},
    {"{'model_type':'transformer','task':'hidden','vocab_size':9,'hidden_size':6,"
     "'num_hidden_layers':2,'intermediate_size':5,'max_position_embeddings':20}",
     "num_attention_heads", "found nothing"},
    {"{'model_type':'transformer','task':'hidden','vocab_size':9,'hidden_size':6,"
     "'num_hidden_layers':2,'intermediate_size':5,'max_position_embeddings':20,"
     "'num_attention_heads':4}",
     "num_attention_heads", "expected a divisor of hidden_size 6, found 4"},
    {"{'model_type':'transformer','task':'hidden','vocab_size':9,'hidden_size':7,"
     "'num_hidden_layers':2,'intermediate_size':5,'max_position_embeddings':20,"
     "'num_attention_heads':7,'position_embedding':'sinusoidal'}",
     "hidden_size", "expected an even number, as position_embedding is sinusoidal, found 7"},
    /* performer */
    {PERFORMER "}", "num_features", "expected an integer from 1 to 1048576, found nothing"},
    {PERFORMER ",'num_features':0}", "num_features", "found 0"},
    {PERFORMER ",'num_features':1048577}", "num_features", "found 1048577"},
    {PERFORMER ",'num_features':4.0}", "num_features", "found 4"},
    {PERFORMER ",'num_features':4,'feature_eps':-1}", "feature_eps", "found -1"},
    {PERFORMER ",'num_features':4,'feature_eps':1e39}", "feature_eps", "found 1e+39"},
    {PERFORMER ",'num_features':4,'attention_eps':0}", "attention_eps",
     "expected a field of this family"},
    /* cosformer */
    {COSFORMER ",'cosformer_length':-1}", "cosformer_length", "found -1"},
    {COSFORMER ",'cosformer_length':16777217}", "cosformer_length", "found 16777217"},
    {COSFORMER ",'cosformer_length':19}", "cosformer_length",
     "expected 0, or at least max_position_embeddings 20, found 19"},
    {COSFORMER ",'attention_eps':-1}", "attention_eps", "found -1"},
    {COSFORMER ",'kernels':['relu']}", "kernels", "expected a field of this family"},
    /* fmmformer */
    {FMMFORMER "}", "half_width",
     "expected an integer, as there are neither kernels nor fast_weight, found nothing"},
    {FMMFORMER ",'half_width':null,'kernels':[]}", "half_width",
     "expected an integer, as there are neither kernels nor fast_weight, found null"},
    {FMMFORMER ",'half_width':-1}", "half_width", "found -1"},
    {FMMFORMER ",'half_width':16777217}", "half_width", "found 16777217"},
    {FMMFORMER ",'half_width':4294967295}", "half_width", "found 4294967295"},
    {FMMFORMER ",'kernels':'elu1'}", "kernels",
     "expected a list of at most 5 names, found \"elu1\""},
    {FMMFORMER ",'kernels':['elu1','elu1','elu1','elu1','elu1','elu1']}", "kernels",
     "expected a list of at most 5 names, found an array of 6"},
    {FMMFORMER ",'kernels':['elu1','softplus']}", "kernels[1]",
     "expected elu1, elu1_negated, tanh, tanh1, relu or exp, found \"softplus\""},
    {FMMFORMER ",'kernels':['relu',4]}", "kernels[1]", "found 4"},
    {FMMFORMER ",'kernels':[null]}", "kernels[0]", "found null"},
    {FMMFORMER ",'kernels':['']}", "kernels[0]", "found \"\""},
    {FMMFORMER ",'fast_weight':true}", "fast_weight",
     "expected false, as causal is false, found true"},
    {FMMFORMER ",'fast_weight':['elu1','elu1_negated'],'kernels':['elu1']}", "fast_weight",
     "expected false, as causal is false, found an array of 2"},
    {FMMFORMER ",'fast_weight':'false','half_width':1}", "fast_weight",
     "expected true, false or a list of at most 2 names, found \"false\""},
    {FMMFORMER ",'fast_weight':['elu1','elu1','elu1'],'causal':true}", "fast_weight",
     "found an array of 3"},
    {FMMFORMER ",'fast_weight':['elu1','tanh'],'causal':true}", "fast_weight[1]",
     "expected elu1 or elu1_negated, found \"tanh\""},
    {FMMFORMER ",'fast_weight':[],'kernels':[]}", "half_width",
     "expected an integer, as there are neither kernels nor fast_weight, found nothing"},
    {FMMFORMER ",'half_width':1,'attention_eps':-1e-9}", "attention_eps", "found -1e-09"},
};

TEST(bad_configs_are_refused_with_the_reason, f) {
    weft_test_expect_wrong(f, bad_configs);
    weft_test_expect_refused(f, "{'model_type':'transformers'," HIDDEN "}", WEFT_UNSUPPORTED,
                             "\"model_type\"", "found \"transformers\"");
    weft_test_expect_refused(f, TRANSFORMER ",'hidden_act':'softplus'}", WEFT_UNSUPPORTED,
                             "\"hidden_act\"", "found \"softplus\"");
}

/* The sizes and their ranges, each outside of it, missing, null and of another type. */
TEST(sizes_outside_their_ranges_are_refused, f) {
    static const struct {
        const char *name;
        long long maximum;
    } sizes[] = {{"vocab_size", 1 << 24},
                 {"hidden_size", 65536},
                 {"num_hidden_layers", 1024},
                 {"intermediate_size", 1 << 20},
                 {"max_position_embeddings", 1 << 24},
                 {"num_attention_heads", 65536}};
    const size_t count = sizeof sizes / sizeof sizes[0];
    for (size_t wrong = 0; wrong < count; wrong++) {
        char too_large[32];
        snprintf(too_large, sizeof too_large, "%lld", sizes[wrong].maximum + 1);
        const char *const values[] = {"0", "-1", too_large, "null", "true", "'6'", "6.5", NULL};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char config[512];
            int used = snprintf(config, sizeof config, "{'model_type':'transformer'");
            for (size_t i = 0; i < count; i++) {
                const char *value = i == wrong ? values[v] : "6";
                if (value) {
                    used += snprintf(config + used, sizeof config - (size_t)used, ",'%s':%s",
                                     sizes[i].name, value);
                }
            }
            snprintf(config + used, sizeof config - (size_t)used, ",'task':'hidden'}");
            char field[64];
            snprintf(field, sizeof field, "\"%s\"", sizes[wrong].name);
            WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_test_load(f, config, NULL),
                                "config.json", field, "expected an integer");
        }
    }
}

TEST(tensors_that_no_part_has_are_refused, f) {
    weft_test_model_add(&f->model, "layers.2.mixer.query.bias", weft_shape_of(6));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_test_load(f, TRANSFORMER "}", NULL),
                        "model.safetensors", "\"layers.2.mixer.query.bias\"",
                        "expected the tensors of a transformer model");
}

TEST(every_missing_tensor_is_named, f) {
    add_to_mixers(f, "near_weight", weft_shape_of(3));
    add_to_mixers(f, "far_weight", weft_shape_of(3));
    add_to_mixers(f, "beta.weight", weft_shape_of(3, 6));
    add_to_mixers(f, "beta.bias", weft_shape_of(3));
    const char *config = FMMFORMER ",'half_width':2,'fast_weight':true,'causal':true}";
    weft_test_expect_loads(f, config);
    uint32_t count = f->model.count;
    assert_int_equal(count, 1 + 2 * (8 + 2 + 2 + 4 + 4) + 2);
    for (uint32_t i = 0; i < count; i++) {
        char name[128];
        weft_shape shape = f->model.tensors[0].shape;
        snprintf(name, sizeof name, "%s", f->model.tensors[0].name);
        weft_test_model_remove(&f->model, name);
        WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_test_load(f, config, NULL),
                            "model.safetensors", name, "found none");
        weft_test_model_add(&f->model, name, shape); /* at the end */
    }
    weft_test_expect_loads(f, config);
}

TEST(every_wrong_shape_is_named, f) {
    add_to_mixers(f, "features.weight", weft_shape_of(7, 2));
    const char *config = PERFORMER ",'num_features':7}";
    weft_test_expect_loads(f, config);
    for (uint32_t i = 0; i < f->model.count; i++) {
        struct weft_test_tensor *tensor = &f->model.tensors[i];
        uint32_t first = tensor->shape.dim[0];
        tensor->shape.dim[0] = first - 1; /* fewer elements, so that data is long enough */
        WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_test_load(f, config, NULL),
                            "model.safetensors", tensor->name, "expected shape");
        tensor->shape.dim[0] = first;
    }
    weft_test_expect_loads(f, config);
}

/* ---- memory ---- */

TEST(every_failing_allocation_is_survived, f) {
    weft_test_expect_no_leak(f, TRANSFORMER ",'position_embedding':'sinusoidal'}");
    weft_test_expect_no_leak(f, COSFORMER ",'causal':true}");
    weft_test_model_add_linear(&f->model, "head", 6, 2);
    add_to_mixers(f, "features.weight", weft_shape_of(7, 2));
    weft_test_model_add(&f->model, "embeddings.tokens.weight", weft_shape_of(256, 6));
    weft_test_expect_no_leak(f, "{'model_type':'performer','task':'classify','num_features':7,"
                                "'id2label':{'0':'a','1':'b'},'tokenizer_class':'ByteTokenizer',"
                                "'vocab_size':256,'hidden_size':6,'num_hidden_layers':2,"
                                "'intermediate_size':5,'max_position_embeddings':20,"
                                "'num_attention_heads':3}");
}

TEST(every_failing_allocation_of_both_fields_is_survived, f) {
    add_to_mixers(f, "near_weight", weft_shape_of(3));
    add_to_mixers(f, "far_weight", weft_shape_of(3));
    weft_test_expect_no_leak(f, FMMFORMER ",'half_width':2,'kernels':['relu','exp']}");
    add_to_mixers(f, "beta.weight", weft_shape_of(3, 6));
    add_to_mixers(f, "beta.bias", weft_shape_of(3));
    weft_test_expect_no_leak(f, FMMFORMER ",'half_width':2,'fast_weight':true,'causal':true}");
}
