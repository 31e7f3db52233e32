/* SPDX-License-Identifier: MIT */
/* Model folders of the family flt: which fields and tensors go together, and what is refused. */
#include <weft/model.h>

#include "support_model.h"

static const struct weft_test_network network = {
    .layers = 2, .hidden_size = 6, .intermediate_size = 5, .vocab_size = 9};

#define START                                                             \
    "{'model_type':'flt','task':'hidden','vocab_size':9,'hidden_size':6," \
    "'num_hidden_layers':2,'intermediate_size':5,'num_attention_heads':3,"
#define FLT     START "'max_position_embeddings':20,'position_features':4"
#define SOFTMAX FLT ",'num_features':7"

static int set_up(void **state) {
    return weft_test_loader_set_up(state, &network);
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_loader *f, set_up, weft_test_loader_tear_down)

static void add_to_mixers(struct weft_test_loader *f, const char *name, weft_shape shape) {
    weft_test_model_add_to_layers(&f->model, network.layers, "mixer.", name, shape);
}

/* Frequencies in l dimensions, and weights. */
static void add_positions(struct weft_test_loader *f, uint32_t dimensions) {
    add_to_mixers(f, "positions.frequencies", weft_shape_of(3, 4, dimensions));
    add_to_mixers(f, "positions.weights", weft_shape_of(3, 4));
}

static void expect_loads(struct weft_test_loader *f, const char *config, uint32_t exact_length,
                         uint32_t position_size) {
    weft_model_info info = weft_test_expect_loads(f, config);
    assert_int_equal(info.exact_length, exact_length);
    assert_int_equal(info.position_size, position_size);
}

TEST(positions_have_tensors_of_their_dimensions, f) {
    add_to_mixers(f, "features.weight", weft_shape_of(7, 2 + 2 * 4));
    add_positions(f, 1);
    expect_loads(f, SOFTMAX "}", 0, 0);
    expect_loads(f, SOFTMAX ",'positions':'index','position_grid':null,'kernel':'softmax'}", 0, 0);
    expect_loads(f, SOFTMAX ",'causal':true,'feature_eps':0,'attention_eps':1}", 0, 0);
    expect_loads(f, SOFTMAX ",'positions':'grid','position_grid':[20]}", 20, 0);
    add_positions(f, 2);
    expect_loads(f, SOFTMAX ",'positions':'grid','position_grid':[3,4]}", 12, 0);
    expect_loads(f, SOFTMAX ",'positions':'input','position_size':2}", 0, 2);
    add_positions(f, 4);
    expect_loads(f, SOFTMAX ",'positions':'grid','position_grid':[1,2,5,2]}", 20, 0);
}

TEST(phases_are_asked_for_by_the_config, f) {
    add_to_mixers(f, "features.weight", weft_shape_of(7, 2 + 2 * 4));
    add_positions(f, 1);
    weft_test_expect_refused(f, SOFTMAX ",'position_phases':true}", WEFT_NOT_FOUND,
                             "layers.0.mixer.positions.phases", "expected");
    add_to_mixers(f, "positions.phases", weft_shape_of(3, 4));
    expect_loads(f, SOFTMAX ",'position_phases':true}", 0, 0);
    weft_test_expect_refused(f, SOFTMAX "}", WEFT_BAD_FILE, "layers.0.mixer.positions.phases",
                             "no part of it has");
}

TEST(maps_may_have_a_projection, f) {
    add_positions(f, 1);
    expect_loads(f, FLT ",'kernel':'relu'}", 0, 0);
    expect_loads(f, FLT ",'kernel':'elu1','feature_eps':0.5}", 0, 0);
    add_to_mixers(f, "features.weight", weft_shape_of(7, 10));
    weft_test_expect_refused(f, FLT ",'kernel':'relu'}", WEFT_BAD_FILE,
                             "layers.0.mixer.features.weight", "no part of it has");
    expect_loads(f, SOFTMAX ",'kernel':'relu'}", 0, 0);
    expect_loads(f, SOFTMAX ",'kernel':'elu1'}", 0, 0);
    weft_test_expect_refused(f, FLT ",'kernel':'relu','num_features':8}", WEFT_BAD_FILE,
                             "layers.0.mixer.features.weight", "[7, 10]");
}

TEST(contradictions_are_refused, f) {
    static const struct weft_test_wrong wrong[] = {
        {START "'max_position_embeddings':20}", "position_features", "from 1 to 65536 … nothing"},
        {FLT "}", "num_features", "a value, as kernel is softmax … nothing"},
        {SOFTMAX ",'position_phases':1}", "position_phases", "true or false … 1"},
        {SOFTMAX ",'kernel':'exp'}", "kernel", "softmax, relu or elu1 … exp"},
        {SOFTMAX ",'positions':'patch'}", "positions", "index, grid or input … patch"},
        {SOFTMAX ",'positions':'grid'}", "position_grid",
         "a value, as positions is grid … nothing"},
        {SOFTMAX ",'positions':'input'}", "position_size",
         "a value, as positions is input … nothing"},
        {SOFTMAX ",'position_grid':[4]}", "position_grid",
         "nothing, as positions is index … an array of 1"},
        {SOFTMAX ",'positions':'grid','position_grid':[4],'position_size':1}", "position_size",
         "nothing, as positions is grid … 1"},
        {SOFTMAX ",'positions':'input','position_size':17}", "position_size", "from 1 to 16 … 17"},
        {SOFTMAX ",'positions':'grid','position_grid':[3,7]}", "max_position_embeddings",
         "at least the 21 positions … 20"},
        {SOFTMAX ",'feature_eps':-1}", "feature_eps", "a number from 0 … -1"},
        {SOFTMAX ",'attention_eps':'no'}", "attention_eps", "a number from 0 … no"},
    };
    weft_test_expect_wrong(f, wrong);
}

TEST(grids_are_lists_of_sizes, f) {
    static const char *const wrong[] = {"4",
                                        "[]",
                                        "[0]",
                                        "[1,1,1,1,1]",
                                        "[4,-1]",
                                        "[2.0]",
                                        "['3']",
                                        "[16777217]",
                                        "[5000,5000]",
                                        "[4097,4096]",
                                        "[4294967296,4294967296]"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char config[512];
        snprintf(config, sizeof config, "%s,'positions':'grid','position_grid':%s}", SOFTMAX,
                 wrong[i]);
        WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_test_load(f, config, NULL),
                            "field \"position_grid\"",
                            "1 to 4 integers from 1, their product at most 16777216");
    }
}
