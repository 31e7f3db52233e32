/* SPDX-License-Identifier: MIT */
/* config.json: what is read, what gets a default, what is refused and why. */
#include <float.h>

#include "core/formats/json.h"
#include "model/network/config.h"
#include "support_model.h"

#define FILE_NAME "config.json"
#define START     "{\"model_type\":\"fnet\",\"architectures\":[\"FNetModel\"]"

static weft_status parse(weft_fnet_config *config, struct weft_test_host *test, const char *text) {
    return weft_fnet_config_parse(config, text, strlen(text), FILE_NAME, &test->host);
}

/* ---- what is read ---- */

static const char full_config[] =
    "{\"model_type\":\"fnet\",\"architectures\":[\"FNetForSequenceClassification\"],"
    "\"vocab_size\":260,\"hidden_size\":30,\"num_hidden_layers\":3,\"intermediate_size\":61,"
    "\"hidden_act\":\"gelu\",\"max_position_embeddings\":17,\"type_vocab_size\":2,"
    "\"layer_norm_eps\":1e-5,\"tie_word_embeddings\":false,\"pad_token_id\":256,"
    "\"bos_token_id\":null,\"eos_token_id\":[258,259],\"weft_mixing\":\"linear\","
    "\"weft_attention_layers\":2,\"num_attention_heads\":5,"
    "\"id2label\":{\"1\":\"zwei \\u00e9\",\"0\":\"eins\",\"2\":\"\"},\"num_labels\":3,"
    "\"tokenizer_class\":\"ByteTokenizer\",\"transformers_version\":\"5.0\","
    "\"hidden_dropout_prob\":0.1,\"something_new\":{\"a\":[1,2]}}";

WEFT_TEST_ON_HOST(every_field_is_read, test) {
    weft_fnet_config config;
    assert_ok(parse(&config, test, full_config));
    assert_int_equal(config.architecture, WEFT_FNET_SEQUENCE_CLASSIFICATION);
    assert_int_equal(config.vocab_size, 260);
    assert_int_equal(config.hidden_size, 30);
    assert_int_equal(config.layers, 3);
    assert_int_equal(config.intermediate_size, 61);
    assert_int_equal(config.activation, WEFT_ACTIVATION_GELU_ERF);
    assert_int_equal(config.max_positions, 17);
    assert_int_equal(config.type_vocab_size, 2);
    assert_true(config.layer_norm_eps == 1e-5f);
    assert_false(config.tie_word_embeddings);
    assert_int_equal(config.pad_token, 256);
    assert_int_equal(config.bos_token, -1);
    assert_int_equal(config.eos_token, 258);
    assert_int_equal(config.mixing, WEFT_FNET_LINEAR);
    assert_int_equal(config.attention_layers, 2);
    assert_int_equal(config.attention_heads, 5);
    assert_int_equal(config.label_count, 3);
    assert_string_equal(config.labels[0], "eins");
    assert_string_equal(config.labels[1], "zwei \xc3\xa9");
    assert_string_equal(config.labels[2], "");
    assert_int_equal(config.tokenizer, WEFT_TOKENIZER_BYTES);
    assert_string_equal(config.tokenizer_class, "ByteTokenizer");
    assert_int_equal(weft_fnet_layer_mixing(&config, 0), WEFT_FNET_LINEAR);
    assert_int_equal(weft_fnet_layer_mixing(&config, 1), WEFT_FNET_ATTENTION);
    assert_int_equal(weft_fnet_layer_mixing(&config, 2), WEFT_FNET_ATTENTION);
    assert_string_equal(weft_test_log(test), "");
    weft_fnet_config_clear(&config, &test->host);
    assert_null(config.labels);
    weft_fnet_config_clear(&config, &test->host);
}

WEFT_TEST_ON_HOST(missing_fields_get_the_defaults_of_fnet, test) {
    weft_fnet_config config;
    assert_ok(parse(&config, test, START "}"));
    assert_int_equal(config.architecture, WEFT_FNET_MODEL);
    assert_int_equal(config.vocab_size, 32000);
    assert_int_equal(config.hidden_size, 768);
    assert_int_equal(config.layers, 12);
    assert_int_equal(config.intermediate_size, 3072);
    assert_int_equal(config.activation, WEFT_ACTIVATION_GELU_TANH);
    assert_int_equal(config.max_positions, 512);
    assert_int_equal(config.type_vocab_size, 4);
    assert_true(config.layer_norm_eps == 1e-12f);
    assert_true(config.tie_word_embeddings);
    assert_int_equal(config.pad_token, 3);
    assert_int_equal(config.bos_token, 1);
    assert_int_equal(config.eos_token, 2);
    assert_int_equal(config.mixing, WEFT_FNET_FOURIER);
    assert_int_equal(config.attention_layers, 0);
    assert_int_equal(config.attention_heads, 0);
    assert_int_equal(config.label_count, 2);
    assert_null(config.labels);
    assert_int_equal(config.tokenizer, WEFT_TOKENIZER_UNSPECIFIED);
    assert_null(config.tokenizer_class);
    static const char *const sizes[] = {"vocab_size",        "hidden_size",
                                        "num_hidden_layers", "intermediate_size",
                                        "type_vocab_size",   "max_position_embeddings"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_test_expect_log(test, "warning: " FILE_NAME, sizes[i], "default");
    }
    weft_fnet_config_clear(&config, &test->host);

    /* A default id outside a small vocabulary is no id, not an error. */
    assert_ok(parse(&config, test, START ",\"vocab_size\":2}"));
    assert_int_equal(config.pad_token, -1);
    assert_int_equal(config.bos_token, 1);
    assert_int_equal(config.eos_token, -1);
    weft_fnet_config_clear(&config, &test->host);
}

WEFT_TEST_ON_HOST(names_are_known, test) {
    static const struct {
        const char *name;
        weft_activation activation;
    } activations[] = {
        {"gelu_new", WEFT_ACTIVATION_GELU_TANH},  {"gelu_pytorch_tanh", WEFT_ACTIVATION_GELU_TANH},
        {"gelu_fast", WEFT_ACTIVATION_GELU_TANH}, {"gelu", WEFT_ACTIVATION_GELU_ERF},
        {"relu", WEFT_ACTIVATION_RELU},           {"tanh", WEFT_ACTIVATION_TANH},
        {"sigmoid", WEFT_ACTIVATION_SIGMOID},     {"silu", WEFT_ACTIVATION_SILU},
        {"swish", WEFT_ACTIVATION_SILU},          {"linear", WEFT_ACTIVATION_NONE},
    };
    char text[256];
    weft_fnet_config config;
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        snprintf(text, sizeof text, START ",\"hidden_act\":\"%s\"}", activations[i].name);
        assert_ok(parse(&config, test, text));
        assert_int_equal(config.activation, activations[i].activation);
        weft_fnet_config_clear(&config, &test->host);
    }
    for (int i = WEFT_FNET_MODEL; i <= WEFT_FNET_PRE_TRAINING; i++) {
        snprintf(text, sizeof text, "{\"model_type\":\"fnet\",\"architectures\":[\"%s\"]}",
                 weft_fnet_architecture_name((weft_fnet_architecture)i));
        assert_ok(parse(&config, test, text));
        assert_int_equal(config.architecture, i);
        weft_fnet_config_clear(&config, &test->host);
    }
    for (int i = WEFT_FNET_FOURIER; i <= WEFT_FNET_ATTENTION; i++) {
        snprintf(text, sizeof text, START ",\"num_attention_heads\":12,\"weft_mixing\":\"%s\"}",
                 weft_fnet_mixing_name((weft_fnet_mixing)i));
        assert_ok(parse(&config, test, text));
        assert_int_equal(config.mixing, i);
        assert_int_equal(config.attention_heads, i == WEFT_FNET_ATTENTION ? 12 : 0);
        assert_int_equal(weft_fnet_layer_mixing(&config, 11), i);
        weft_fnet_config_clear(&config, &test->host);
    }
    assert_non_null(weft_fnet_architecture_name((weft_fnet_architecture)100));
    assert_non_null(weft_fnet_mixing_name((weft_fnet_mixing)100));
    static const struct {
        const char *name;
        weft_tokenizer_kind kind;
    } tokenizers[] = {{"FNetTokenizer", WEFT_TOKENIZER_SENTENCEPIECE},
                      {"FNetTokenizerFast", WEFT_TOKENIZER_SENTENCEPIECE},
                      {"BertTokenizer", WEFT_TOKENIZER_UNKNOWN}};
    for (size_t i = 0; i < sizeof tokenizers / sizeof tokenizers[0]; i++) {
        snprintf(text, sizeof text, START ",\"tokenizer_class\":\"%s\"}", tokenizers[i].name);
        assert_ok(parse(&config, test, text));
        assert_int_equal(config.tokenizer, tokenizers[i].kind);
        assert_string_equal(config.tokenizer_class, tokenizers[i].name);
        weft_fnet_config_clear(&config, &test->host);
    }
}

WEFT_TEST_ON_HOST(limits_themselves_are_accepted, test) {
    static const char *const texts[] = {
        START ",\"vocab_size\":16777216,\"hidden_size\":65536,\"num_hidden_layers\":1024,"
              "\"intermediate_size\":1048576,\"max_position_embeddings\":16777216,"
              "\"type_vocab_size\":65536,\"layer_norm_eps\":1,\"num_labels\":65536,"
              "\"weft_attention_layers\":1024,\"num_attention_heads\":65536}",
        START ",\"vocab_size\":1,\"hidden_size\":1,\"num_hidden_layers\":1,"
              "\"intermediate_size\":1,\"max_position_embeddings\":1,"
              "\"type_vocab_size\":1,\"layer_norm_eps\":1.2e-38,\"num_labels\":1,"
              "\"pad_token_id\":0,\"weft_attention_layers\":0,\"num_attention_heads\":-5}",
    };
    for (size_t i = 0; i < 2; i++) {
        weft_fnet_config config;
        if (parse(&config, test, texts[i]) != WEFT_OK) {
            fail_msg("%s", weft_test_log(test));
        }
        assert_true(config.layer_norm_eps >= FLT_MIN);
        weft_fnet_config_clear(&config, &test->host);
    }
}

WEFT_TEST_ON_HOST(committed_configs_are_read, test) {
    static const struct {
        const char *folder;
        weft_fnet_architecture architecture;
        weft_fnet_mixing first, last;
    } cases[] = {
        {"base_d24_l2_gelu_new", WEFT_FNET_MODEL, WEFT_FNET_FOURIER, WEFT_FNET_FOURIER},
        {"classify_d36_l2_gelu", WEFT_FNET_SEQUENCE_CLASSIFICATION, WEFT_FNET_FOURIER,
         WEFT_FNET_FOURIER},
        {"mlm_d28_l1_gelu_untied", WEFT_FNET_MASKED_LM, WEFT_FNET_FOURIER, WEFT_FNET_FOURIER},
        {"nsp_d20_l1_gelu", WEFT_FNET_NEXT_SENTENCE, WEFT_FNET_FOURIER, WEFT_FNET_FOURIER},
        {"sibling_hybrid", WEFT_FNET_MODEL, WEFT_FNET_FOURIER, WEFT_FNET_ATTENTION},
        {"sibling_attention", WEFT_FNET_MODEL, WEFT_FNET_ATTENTION, WEFT_FNET_ATTENTION},
        {"sibling_linear", WEFT_FNET_MODEL, WEFT_FNET_LINEAR, WEFT_FNET_LINEAR},
        {"sibling_random", WEFT_FNET_MODEL, WEFT_FNET_RANDOM, WEFT_FNET_RANDOM},
        {"sibling_ff_only", WEFT_FNET_MODEL, WEFT_FNET_NONE, WEFT_FNET_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "fnet/%s/config.json", cases[i].folder);
        char *path = weft_test_data(name);
        weft_fnet_config config;
        if (weft_fnet_config_read(&config, path, &test->host) != WEFT_OK) {
            fail_msg("%s", weft_test_log(test));
        }
        assert_int_equal(config.architecture, cases[i].architecture);
        assert_int_equal(weft_fnet_layer_mixing(&config, 0), cases[i].first);
        assert_int_equal(weft_fnet_layer_mixing(&config, config.layers - 1), cases[i].last);
        weft_fnet_config_clear(&config, &test->host);
    }
}

/* ---- what is refused ---- */

struct wrong {
    const char *text;  /* with ' for " */
    const char *field; /* or place */
    const char *message;
};

static const struct wrong unsupported_configs[] = {
    {"{'model_type':'bert','hidden_size':-1}", "model_type", "expected \"fnet\", found \"bert\""},
    {"{'model_type':'fnet','architectures':['FNetForImages']}", "architectures",
     "found \"FNetForImages\""},
    {START ",'hidden_act':'quick_gelu'}", "hidden_act", "found \"quick_gelu\""},
};

static const struct wrong bad_configs[] = {
    /* what the model is */
    {"{}", "model_type", "expected a string, found nothing"},
    {"{'model_type':7}", "model_type", "found 7"},
    {"{'model_type':'fnet'}", "architectures", "expected an array of one string, found nothing"},
    {"{'model_type':'fnet','architectures':[]}", "architectures", "found an array of 0"},
    {"{'model_type':'fnet','architectures':['FNetModel','FNetModel']}", "architectures",
     "found an array of 2"},
    {"{'model_type':'fnet','architectures':'FNetModel'}", "architectures", "found \"FNetModel\""},
    {"{'model_type':'fnet','architectures':[1]}", "architectures", "one string"},
    {"{'model_type':'fnet','architectures':['FNetForQuestionAnswering'],'num_labels':1}",
     "num_labels", "two labels"},
    {"{'model_type':'fnet','architectures':['FNetForQuestionAnswering'],"
     "'id2label':{'0':'a','1':'b','2':'c'}}",
     "id2label", "two labels"},
    /* sizes: absent is a default, but nothing else that is no size */
    {START ",'vocab_size':0}", "vocab_size", "from 1 to 16777216, found 0"},
    {START ",'vocab_size':16777217}", "vocab_size", "found 16777217"},
    {START ",'hidden_size':-768}", "hidden_size", "an integer from 1 to 65536, found -768"},
    {START ",'hidden_size':9223372036854775807}", "hidden_size", "found 9223372036854775807"},
    {START ",'hidden_size':4294967297}", "hidden_size", "found 4294967297"},
    {START ",'hidden_size':99999999999999999999}", FILE_NAME ":1:", "integer"},
    {START ",'hidden_size':768.0}", "hidden_size", "found 768"},
    {START ",'hidden_size':'768'}", "hidden_size", "found \"768\""},
    {START ",'hidden_size':true}", "hidden_size", "found true"},
    {START ",'hidden_size':[768]}", "hidden_size", "found an array of 1"},
    {START ",'num_hidden_layers':0}", "num_hidden_layers", "found 0"},
    {START ",'num_hidden_layers':1025}", "num_hidden_layers", "found 1025"},
    {START ",'intermediate_size':1048577}", "intermediate_size", "found 1048577"},
    {START ",'max_position_embeddings':0}", "max_position_embeddings", "found 0"},
    {START ",'type_vocab_size':65537}", "type_vocab_size", "found 65537"},
    /* details */
    {START ",'layer_norm_eps':0}", "layer_norm_eps", "found 0"},
    {START ",'layer_norm_eps':0.0}", "layer_norm_eps", "found 0"},
    {START ",'layer_norm_eps':-1e-12}", "layer_norm_eps", "found -1e-12"},
    {START ",'layer_norm_eps':1e-60}", "layer_norm_eps", "found 1e-60"},
    {START ",'layer_norm_eps':1.5}", "layer_norm_eps", "found 1.5"},
    {START ",'layer_norm_eps':1e999}", FILE_NAME ":1:", "real number overflow"},
    {START ",'layer_norm_eps':'1e-12'}", "layer_norm_eps", "found \"1e-12\""},
    {START ",'layer_norm_eps':NaN}", FILE_NAME ":1:", "NaN"},
    {START ",'hidden_act':3}", "hidden_act", "found 3"},
    {START ",'tie_word_embeddings':1}", "tie_word_embeddings", "expected true or false, found 1"},
    {START ",'vocab_size':100,'pad_token_id':100}", "pad_token_id", "from 0 to 99"},
    {START ",'bos_token_id':-1}", "bos_token_id", "found -1"},
    {START ",'eos_token_id':[]}", "eos_token_id", "found an array of 0"},
    {START ",'eos_token_id':['a']}", "eos_token_id", "found \"a\""},
    {START ",'tokenizer_class':{}}", "tokenizer_class", "found an object"},
    /* mixing */
    {START ",'weft_mixing':'Fourier'}", "weft_mixing",
     "fourier, linear, random, none or attention, found \"Fourier\""},
    {START ",'weft_mixing':0}", "weft_mixing", "found 0"},
    {START ",'weft_attention_layers':13}", "weft_attention_layers", "from 0 to 12, found 13"},
    {START ",'weft_attention_layers':-1}", "weft_attention_layers", "found -1"},
    {START ",'weft_attention_layers':2}", "num_attention_heads", "found nothing"},
    {START ",'weft_mixing':'attention'}", "num_attention_heads", "found nothing"},
    {START ",'weft_mixing':'attention','num_attention_heads':0}", "num_attention_heads", "found 0"},
    {START ",'weft_mixing':'attention','num_attention_heads':7}", "num_attention_heads",
     "expected a divisor of hidden_size 768, found 7"},
    /* labels */
    {START ",'num_labels':0}", "num_labels", "found 0"},
    {START ",'num_labels':65537}", "num_labels", "found 65537"},
    {START ",'id2label':{}}", "id2label", "found an object of 0"},
    {START ",'id2label':['a']}", "id2label", "found an array of 1"},
    {START ",'id2label':{'0':'a','2':'b'}}", "id2label.1", "numbered 0 to 1), found nothing"},
    {START ",'id2label':{'0':'a','01':'b'}}", "id2label.1", "found nothing"},
    {START ",'id2label':{'0':7}}", "id2label.0", "found 7"},
    {START ",'id2label':{'0':'a'},'num_labels':2}", "num_labels",
     "expected 1, the number of labels in id2label, found 2"},
    /* not the JSON it should be */
    {"", FILE_NAME ":1:", "expected near end of file"},
    {"[]", FILE_NAME, "expected a JSON object, found an array of 0"},
    {"{\n'model_type': 'fnet'\n'x': 1}", FILE_NAME ":3:3", "expected"},
    {"{'model_type':'fnet','model_type':'fnet'}",
     FILE_NAME ":1:", "duplicate object key near '\"model_type\"'"},
    {START "} trailing", FILE_NAME ":1:", "end of file expected"},
};

static void expect_refused(struct weft_test_host *test, const struct wrong *wrong,
                           weft_status status) {
    char field[64];
    char *text = weft_test_json(wrong->text);
    weft_fnet_config untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    weft_fnet_config config = untouched;
    const bool is_place = strncmp(wrong->field, FILE_NAME, strlen(FILE_NAME)) == 0;
    snprintf(field, sizeof field, is_place ? "%s" : "\"%s\"", wrong->field);
    weft_test_host_reset(test);
    weft_status found = parse(&config, test, text);
    if (found != status) {
        fail_msg("%s: %s: %s", text, weft_status_name(found), weft_test_log(test));
    }
    weft_test_expect_log(test, "error: " FILE_NAME, field, wrong->message);
    assert_memory_equal(&config, &untouched, sizeof config);
    assert_int_equal(test->live, 0);
}

WEFT_TEST_ON_HOST(bad_configs_are_refused_with_the_reason, test) {
    for (size_t i = 0; i < sizeof unsupported_configs / sizeof unsupported_configs[0]; i++) {
        expect_refused(test, &unsupported_configs[i], WEFT_UNSUPPORTED);
    }
    for (size_t i = 0; i < sizeof bad_configs / sizeof bad_configs[0]; i++) {
        expect_refused(test, &bad_configs[i], WEFT_BAD_FILE);
    }
}

WEFT_TEST_ON_HOST(missing_and_huge_files_are_refused, test) {
    weft_fnet_config config;
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, FILE_NAME);
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND, weft_fnet_config_read(&config, path, &test->host),
                        path);
    size_t size = WEFT_JSON_MAX_BYTES + 1;
    char *spaces = malloc(size);
    assert_non_null(spaces);
    memset(spaces, ' ', size);
    path = weft_test_write(folder, FILE_NAME, spaces, size);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_fnet_config_read(&config, path, &test->host),
                        path, "16777216 bytes");
    free(spaces);
}

/* Deep nesting must not run out of stack. */
WEFT_TEST_ON_HOST(deep_nesting_is_refused, test) {
    size_t depth = 1000000;
    char *text = malloc(depth + 8);
    assert_non_null(text);
    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', depth);
    weft_fnet_config config;
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_fnet_config_parse(&config, text, depth + 5, FILE_NAME, &test->host),
                        FILE_NAME ":1:", "depth");
    free(text);
}

WEFT_TEST_ON_HOST(configs_cut_at_any_length_are_refused, test) {
    size_t size = strlen(full_config);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *exact = malloc(cut > 0 ? cut : 1);
        assert_non_null(exact);
        memcpy(exact, full_config, cut);
        weft_fnet_config config;
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                            weft_fnet_config_parse(&config, exact, cut, FILE_NAME, &test->host),
                            "error: " FILE_NAME ":1:");
        free(exact);
    }
}

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, FILE_NAME, full_config, strlen(full_config));
    weft_fnet_config config;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        status = weft_fnet_config_read(&config, path, &test->host);
        if (status != WEFT_OK) {
            weft_test_expect_log(test, "out of memory", path);
            assert_int_equal(test->live, 0);
        }
    }
    weft_fnet_config_clear(&config, &test->host);
    assert_int_equal(test->failures,
                     6); /* the text, the labels and each of three, the tokenizer class */
}

static void check_ranges(const weft_fnet_config *config) {
    assert_in_range(config->vocab_size, 1, 1 << 24);
    assert_in_range(config->hidden_size, 1, 65536);
    assert_in_range(config->layers, 1, 1024);
    assert_in_range(config->intermediate_size, 1, 1 << 20);
    assert_in_range(config->max_positions, 1, 1 << 24);
    assert_in_range(config->type_vocab_size, 1, 65536);
    assert_in_range(config->label_count, 1, 65536);
    assert_true(config->layer_norm_eps >= FLT_MIN && config->layer_norm_eps <= 1);
    assert_true(config->attention_layers <= config->layers);
    assert_true(config->attention_heads == 0 || config->hidden_size % config->attention_heads == 0);
    assert_true(config->pad_token >= -1 && config->pad_token < (int32_t)config->vocab_size);
    for (uint32_t i = 0; config->labels && i < config->label_count; i++) {
        assert_non_null(config->labels[i]);
    }
}

WEFT_TEST_ON_HOST(damaged_configs_are_read_or_refused, test) {
    size_t size = strlen(full_config);
    uint64_t read = 0;
    uint64_t rounds = 20000;
    for (uint64_t round = 0; round < rounds; round++) {
        size_t mutated_size = 0;
        uint8_t *mutated =
            weft_test_mutate((const uint8_t *)full_config, size, 3, round, &mutated_size);
        weft_fnet_config config;
        weft_test_host_reset(test);
        weft_status status =
            weft_fnet_config_parse(&config, mutated, mutated_size, FILE_NAME, &test->host);
        if (status == WEFT_OK) {
            check_ranges(&config);
            weft_fnet_config_clear(&config, &test->host);
            read++;
        } else {
            assert_true(status == WEFT_BAD_FILE || status == WEFT_UNSUPPORTED);
            weft_test_expect_log(test, "error: " FILE_NAME);
        }
        assert_int_equal(test->live, 0);
        free(mutated);
    }
    assert_true(read > rounds / 50 && read < rounds / 2);
}
