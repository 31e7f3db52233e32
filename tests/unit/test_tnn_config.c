/* SPDX-License-Identifier: MIT */
/* Model folders of the families with Toeplitz matrices: what is read, and what is refused and why. */
#include <weft/model.h>

#include "support_model.h"

#define WIDTH 4
#define SIZE  6 /* of an RPE */

static const struct weft_test_network network = {
    .layers = 2, .hidden_size = WIDTH, .intermediate_size = 5, .vocab_size = 9, .toeplitz = true};

#define SIZES                                                                     \
    "'vocab_size':9,'hidden_size':4,'num_hidden_layers':2,'intermediate_size':5," \
    "'max_position_embeddings':20"
#define TNN "{'model_type':'tnn','task':'hidden'," SIZES
#define FD  "{'model_type':'fd-tnn','task':'hidden'," SIZES
#define SKI "{'model_type':'ski-tnn','task':'hidden'," SIZES

static int set_up(void **state) {
    return weft_test_loader_set_up(state, &network);
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_loader *f, set_up, weft_test_loader_tear_down)

/* ---- tensors ---- */

/* A tensor of every layer's token mixer. */
static void add_to_mixers(struct weft_test_loader *f, const char *name, weft_shape shape) {
    weft_test_model_add_to_layers(&f->model, network.layers, "token_mixer.", name, shape);
}

static void add_linear(struct weft_test_loader *f, const char *name, uint32_t in, uint32_t out) {
    char text[96];
    snprintf(text, sizeof text, "%s.weight", name);
    add_to_mixers(f, text, weft_shape_of(out, in));
    snprintf(text, sizeof text, "%s.bias", name);
    add_to_mixers(f, text, weft_shape_of(out));
}

static void add_gtu(struct weft_test_loader *f, uint32_t channels) {
    add_linear(f, "u_proj", WIDTH, channels);
    add_linear(f, "v_proj", WIDTH, channels);
    add_linear(f, "o", channels, WIDTH);
}

static void add_rpe_of(struct weft_test_loader *f, const char *toep, uint32_t layers,
                       uint32_t channels) {
    char text[64];
    snprintf(text, sizeof text, "%s.rpe.pos_proj", toep);
    add_linear(f, text, 1, SIZE);
    for (uint32_t j = 0; j < layers; j++) {
        snprintf(text, sizeof text, "%s.rpe.layers.%u.2", toep, (unsigned)j);
        add_linear(f, text, SIZE, SIZE);
    }
    snprintf(text, sizeof text, "%s.rpe.out.2", toep);
    add_linear(f, text, SIZE, channels);
}

static void add_rpe(struct weft_test_loader *f, uint32_t layers, uint32_t channels) {
    add_rpe_of(f, "toep", layers, channels);
}

/* Elements of the tensors that add_gtu and add_rpe add to a layer. */
static uint32_t gtu_elements(uint32_t channels) {
    return 2 * channels * (WIDTH + 1) + WIDTH * (channels + 1);
}

static uint32_t rpe_elements(uint32_t layers, uint32_t channels) {
    return 2 * SIZE + (layers * SIZE + channels) * (SIZE + 1);
}

/* Tokens, two layers' norms and glu, and the last norm. */
#define AROUND (9 * WIDTH + 2 * (2 * 2 * WIDTH + 2 * 5 * (WIDTH + 1) + WIDTH * 6) + 2 * WIDTH)

/* ---- what is read ---- */

TEST(tnn_by_its_defaults, f) {
    add_gtu(f, 12);
    add_rpe(f, 3, 12);
    weft_model_info info = weft_test_expect_loads(f, TNN ",'rpe_size':6}");
    assert_int_equal(info.parameters, AROUND + 2 * (gtu_elements(12) + rpe_elements(3, 12)));
    weft_test_expect_loads(f, TNN ",'rpe_size':6,'causal':true,'rpe_input':'lag','rpe_length':0,"
                                  "'decay':'none','gamma':null,'expand_ratio':3,'gtu_act':'silu',"
                                  "'gtu_norm':false,'rpe_layers':3,'rpe_act':'relu',"
                                  "'rpe_norm':'simple_rms_norm','rpe_residual':false}");
    weft_test_expect_loads(f, TNN ",'rpe_size':6,'rpe_input':'lag_fraction'}");
    weft_test_expect_loads(f, TNN ",'rpe_size':6,'rpe_input':'lag_exp','rpe_length':20}");
    weft_test_expect_loads(f, TNN ",'rpe_size':6,'decay':'fixed','rpe_norm':'none'}");
    weft_test_expect_loads(f, TNN ",'rpe_size':6,'decay':'fixed','gamma':1}");
}

TEST(fd_tnn_has_half_the_channels_when_causal, f) {
    add_gtu(f, 8);
    add_rpe(f, 0, 16);
    const char *both = FD ",'expand_ratio':2,'rpe_size':6,'rpe_layers':0}";
    weft_model_info info = weft_test_expect_loads(f, both);
    assert_int_equal(info.parameters, AROUND + 2 * (gtu_elements(8) + rpe_elements(0, 16)));
    weft_test_expect_loads(f, FD ",'expand_ratio':2,'rpe_size':6,'rpe_layers':0,'fd_grid':'length',"
                                 "'fd_input':'cosine','rpe_residual':true}");
    const char *causal = FD ",'expand_ratio':2,'rpe_size':6,'rpe_layers':0,'causal':true}";
    weft_test_expect_refused(f, causal, WEFT_BAD_FILE, "token_mixer.toep.rpe.out.2.weight",
                             "expected shape [8, 6], found [16, 6]");
    add_rpe(f, 0, 8);
    weft_test_expect_loads(f, causal);
    weft_test_expect_refused(f, both, WEFT_BAD_FILE, "token_mixer.toep.rpe.out.2.weight",
                             "expected shape [16, 6], found [8, 6]");
}

TEST(ski_tnn_takes_its_points_as_grid, f) {
    add_gtu(f, 4);
    add_to_mixers(f, "toep.rpe.weight", weft_shape_of(2 * 30 + 1, 4));
    /* More points than tokens: those of the sequence are taken, the grid stays. */
    const char *config = SKI ",'expand_ratio':1,'ski_points':30,'gamma':0.9}";
    weft_test_expect_loads(f, config);
    add_to_mixers(f, "toep.rpe.weight", weft_shape_of(2 * 7 + 1, 4));
    weft_test_expect_refused(f, config, WEFT_BAD_FILE, "token_mixer.toep.rpe.weight",
                             "expected shape [61, 4], found [15, 4]");
    weft_test_expect_loads(f, SKI ",'expand_ratio':1,'ski_points':30,'ski_grid':7,'gamma':1,"
                                  "'interpolation':'cubic','causal':false}");
    add_to_mixers(f, "toep.taps.weight", weft_shape_of(65535, 4));
    weft_test_expect_loads(f, SKI ",'expand_ratio':1,'ski_points':30,'ski_grid':7,'gamma':1e-30,"
                                  "'ski_taps':65535}");
}

TEST(grids_have_an_operator_for_each_axis, f) {
    add_gtu(f, 12);
    add_rpe_of(f, "toep1", 3, 12);
    weft_test_expect_refused(f, TNN ",'rpe_size':6,'position_grid':[5,4]}", WEFT_NOT_FOUND,
                             "layers.0.token_mixer.toep2.rpe.pos_proj.weight", "expected");
    add_rpe_of(f, "toep2", 3, 12);
    weft_model_info info = weft_test_expect_loads(f, TNN ",'rpe_size':6,'position_grid':[5,4]}");
    assert_int_equal(info.exact_length, 20);
    assert_int_equal(info.parameters,
                     AROUND + network.layers * (gtu_elements(12) + 2 * rpe_elements(3, 12)));
    add_rpe(f, 3, 12);
    weft_test_expect_refused(f, TNN ",'rpe_size':6,'position_grid':[5,4]}", WEFT_BAD_FILE,
                             "token_mixer.toep.", "no part of it has");
}

TEST(norms_have_their_tensors, f) {
    const char *config =
        TNN ",'rpe_size':6,'rpe_layers':1,'gtu_norm':true,'rpe_norm':'scale_norm'}";
    add_gtu(f, 12);
    add_rpe(f, 1, 12);
    add_to_mixers(f, "norm.weight", weft_shape_of(12));
    add_to_mixers(f, "norm.bias", weft_shape_of(12));
    add_to_mixers(f, "toep.rpe.layers.0.0.weight", weft_shape_of(1));
    add_to_mixers(f, "toep.rpe.out.0.weight", weft_shape_of(1));
    weft_test_expect_loads(f, config);
    weft_test_expect_refused(
        f, TNN ",'rpe_size':6,'rpe_layers':1,'gtu_norm':true,'rpe_norm':'rms_norm'}", WEFT_BAD_FILE,
        "toep.rpe.layers.0.0.weight", "expected shape [6], found [1]");
    weft_test_model_remove(&f->model, "layers.1.token_mixer.toep.rpe.out.0.weight");
    weft_test_expect_refused(f, config, WEFT_NOT_FOUND,
                             "layers.1.token_mixer.toep.rpe.out.0.weight", "found none");
}

TEST(a_single_position_is_enough, f) {
#define ONE                                                                 \
    "'task':'hidden','vocab_size':9,'hidden_size':4,'num_hidden_layers':2," \
    "'intermediate_size':5,'max_position_embeddings':1,'expand_ratio':1,"
    add_gtu(f, 4);
    add_rpe(f, 3, 4);
    weft_test_expect_loads(f, "{'model_type':'tnn'," ONE "'rpe_size':6,'rpe_input':'lag_exp'}");
    weft_test_expect_loads(f, "{'model_type':'fd-tnn'," ONE "'rpe_size':6,'causal':true}");
}

/* ---- decay ---- */

#define DECAY(text) TNN ",'rpe_size':6,'rpe_layers':0," text "}"

TEST(decays_have_any_shape_of_their_elements, f) {
    const char *learned = DECAY("'decay':'learned'");
    const weft_shape shapes[] = {weft_shape_of(12), weft_shape_of(3, 1, 4),
                                 weft_shape_of(12, 1, 1, 1)};
    add_gtu(f, 12);
    add_rpe(f, 0, 12);
    weft_test_expect_refused(f, learned, WEFT_NOT_FOUND, "layers.0.token_mixer.toep.gamma",
                             "expected shape [12], found none");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        add_to_mixers(f, "toep.gamma", shapes[i]);
        weft_model_info info = weft_test_expect_loads(f, learned);
        assert_int_equal(info.parameters,
                         AROUND + 2 * (gtu_elements(12) + rpe_elements(0, 12) + 12));
    }
    add_to_mixers(f, "toep.gamma", weft_shape_of(3, 1, 5));
    weft_test_expect_refused(f, learned, WEFT_BAD_FILE, "layers.0.token_mixer.toep.gamma",
                             "expected shape [12], found [3, 1, 5]");
    weft_test_expect_refused(f, DECAY("'decay':'none'"), WEFT_BAD_FILE,
                             "layers.0.token_mixer.toep.gamma",
                             "expected the tensors of a tnn model");
}

/* Values of a stored decay are checked; of layers without one, the config's is taken. */
TEST(fixed_decays_may_be_stored, f) {
    const char *fixed = DECAY("'decay':'fixed','gamma':0.5");
    const char *name = "layers.1.token_mixer.toep.gamma";
    add_gtu(f, 12);
    add_rpe(f, 0, 12);
    weft_test_expect_loads(f, fixed);
    float *gamma = weft_test_model_add(&f->model, name, weft_shape_of(2, 1, 6));
    for (int i = 0; i < 12; i++) {
        gamma[i] = 1.0F;
    }
    weft_test_expect_loads(f, fixed);
    const float bad[] = {0.0F, -0.5F, 1.0001F};
    const char *const found[] = {"found 0 at index 11", "found -0.5 at index 11",
                                 "found 1.0001 at index 11"};
    for (int i = 0; i < 3; i++) {
        gamma[11] = bad[i];
        weft_test_expect_refused(f, fixed, WEFT_BAD_FILE, name, found[i]);
    }
}

/* ---- what is refused ---- */

static const struct weft_test_wrong bad_configs[] = {
    /* all */
    {TNN ",'rpe_size':6,'expand_ratio':0}", "expand_ratio", "found 0"},
    {FD ",'rpe_size':6,'expand_ratio':65}", "expand_ratio", "found 65"},
    {SKI ",'ski_points':4,'gamma':0.9,'expand_ratio':1.5}", "expand_ratio", "found 1.5"},
    {TNN ",'rpe_size':6,'gtu_norm':'layer_norm'}", "gtu_norm", "expected true or false"},
    {TNN ",'rpe_size':6,'num_attention_heads':2}", "num_attention_heads",
     "expected a field of this family, found 2"},
    {FD ",'rpe_size':6,'feed_forward':'gated'}", "feed_forward", "expected mlp or glu"},
    {TNN ",'rpe_size':6,'position_grid':[5]}", "position_grid",
     "expected 2 integers, rows and columns, found an array of 1"},
    {FD ",'rpe_size':6,'position_grid':[5,0]}", "position_grid", "found an array of 2"},
    {SKI ",'ski_points':4,'gamma':0.9,'position_grid':[7,3]}", "max_position_embeddings",
     "expected at least the 21 positions of position_grid, found 20"},
    {FD ",'rpe_size':6,'causal':true,'position_grid':[5,4]}", "position_grid",
     "expected nothing, as the model is causal, found an array of 2"},
    /* RPE */
    {TNN "}", "rpe_size", "expected an integer from 1 to 65536, found nothing"},
    {FD "}", "rpe_size", "expected an integer from 1 to 65536, found nothing"},
    {FD ",'rpe_size':null}", "rpe_size", "found null"},
    {TNN ",'rpe_size':0}", "rpe_size", "found 0"},
    {TNN ",'rpe_size':65537}", "rpe_size", "found 65537"},
    {FD ",'rpe_size':6,'rpe_layers':-1}", "rpe_layers", "found -1"},
    {FD ",'rpe_size':6,'rpe_layers':65}", "rpe_layers", "found 65"},
    {TNN ",'rpe_size':6,'rpe_norm':'batch_norm'}", "rpe_norm",
     "expected layer_norm, rms_norm, simple_rms_norm, scale_norm or none, found \"batch_norm\""},
    {FD ",'rpe_size':6,'rpe_residual':1}", "rpe_residual", "expected true or false, found 1"},
    /* tnn */
    {TNN ",'rpe_size':6,'rpe_input':'frequency'}", "rpe_input",
     "expected lag, lag_fraction or lag_exp, found \"frequency\""},
    {TNN ",'rpe_size':6,'rpe_input':'lag_exp','rpe_length':-1}", "rpe_length", "found -1"},
    {TNN ",'rpe_size':6,'rpe_input':'lag_exp','rpe_length':16777217}", "rpe_length",
     "found 16777217"},
    {TNN ",'rpe_size':6,'rpe_length':20}", "rpe_length",
     "expected nothing, as rpe_input is lag, found 20"},
    {TNN ",'rpe_size':6,'decay':true}", "decay", "found true"},
    {TNN ",'rpe_size':6,'decay':'multi'}", "decay",
     "expected none, fixed or learned, found \"multi\""},
    {TNN ",'rpe_size':6,'gamma':0.9}", "gamma", "expected nothing, as decay is none"},
    {TNN ",'rpe_size':6,'decay':'fixed','gamma':0}", "gamma",
     "expected a number above 0, as decay is fixed, found 0"},
    {TNN ",'rpe_size':6,'decay':'learned','gamma':1.1}", "gamma", "found 1.1"},
    {TNN ",'rpe_size':6,'decay':'learned','gamma':-0.1}", "gamma", "found -0.1"},
    {TNN ",'rpe_size':6,'fd_grid':'length'}", "fd_grid", "expected a field of this family"},
    /* fd-tnn */
    {FD ",'rpe_size':6,'fd_grid':'n'}", "fd_grid", "expected power_of_two or length, found \"n\""},
    {FD ",'rpe_size':6,'fd_input':'lag'}", "fd_input",
     "expected frequency or cosine, found \"lag\""},
    {FD ",'rpe_size':6,'gamma':0.9}", "gamma", "expected a field of this family, found 0.9"},
    /* ski-tnn */
    {SKI ",'gamma':0.9}", "ski_points", "expected an integer from 1 to 1024, found nothing"},
    {SKI ",'ski_points':4}", "gamma", "found nothing"},
    {SKI ",'ski_points':0,'gamma':0.9}", "ski_points", "found 0"},
    {SKI ",'ski_points':1025,'gamma':0.9}", "ski_points", "found 1025"},
    {SKI ",'ski_points':4,'gamma':0}", "gamma", "expected a number above 0 and at most 1, found 0"},
    {SKI ",'ski_points':4,'gamma':1e-60}", "gamma",
     "expected a number above 0 and at most 1, found 1e-60"},
    {SKI ",'ski_points':4,'gamma':1.5}", "gamma", "found 1.5"},
    {SKI ",'ski_points':4,'gamma':0.9,'ski_taps':65536}", "ski_taps", "found 65536"},
    {SKI ",'ski_points':4,'gamma':0.9,'ski_taps':-1}", "ski_taps", "found -1"},
    {SKI ",'ski_points':4,'gamma':0.9,'ski_grid':0}", "ski_grid", "found 0"},
    {SKI ",'ski_points':4,'gamma':0.9,'ski_grid':65537}", "ski_grid", "found 65537"},
    {SKI ",'ski_points':4,'gamma':0.9,'interpolation':'quadratic'}", "interpolation",
     "expected linear or cubic, found \"quadratic\""},
    {SKI ",'ski_points':4,'gamma':0.9,'rpe_size':6}", "rpe_size",
     "expected a field of this family"},
    {SKI ",'ski_points':4,'gamma':0.9,'causal':true}", "causal",
     "expected false, as ski-tnn is bidirectional, found true"},
    {"{'model_type':'ski-tnn','task':'causal_lm'," SIZES ",'ski_points':4,'gamma':0.9}", "task",
     "ski-tnn is bidirectional, found \"causal_lm\""},
};

TEST(bad_configs_are_refused_with_the_reason, f) {
    weft_test_expect_wrong(f, bad_configs);
    weft_test_expect_refused(f, TNN ",'rpe_size':6,'gtu_act':'softplus'}", WEFT_UNSUPPORTED,
                             "\"gtu_act\"", "found \"softplus\"");
    weft_test_expect_refused(f, FD ",'rpe_size':6,'rpe_act':'none'}", WEFT_UNSUPPORTED,
                             "\"rpe_act\"", "found \"none\"");
}

/* Takes every tensor away, and gives every one another shape. */
static void check_tensors(struct weft_test_loader *f, const char *config, const char *vector) {
    char name[128];
    weft_test_expect_loads(f, config);
    for (uint32_t i = 0; i < f->model.count; i++) {
        weft_shape shape = f->model.tensors[0].shape;
        snprintf(name, sizeof name, "%s", f->model.tensors[0].name);
        weft_test_model_remove(&f->model, name);
        weft_test_expect_refused(f, config, WEFT_NOT_FOUND, name, "found none");
        bool reshaped = vector && strstr(name, vector);
        weft_shape wrong = shape;
        wrong.dim[wrong.rank] = reshaped ? 2 : 1;
        wrong.rank++;
        weft_test_model_add(&f->model, name, wrong);
        weft_test_expect_refused(f, config, WEFT_BAD_FILE, name, "expected shape");
        weft_test_model_add(&f->model, name, shape); /* at the end */
    }
    weft_test_model_add(&f->model, "layers.0.token_mixer.toep.rpe.bias", weft_shape_of(1));
    weft_test_expect_refused(f, config, WEFT_BAD_FILE, "layers.0.token_mixer.toep.rpe.bias",
                             "found one that no part of it has");
    weft_test_model_remove(&f->model, "layers.0.token_mixer.toep.rpe.bias");
    weft_test_expect_loads(f, config);
}

TEST(every_tensor_is_checked, f) {
    add_gtu(f, 12);
    add_rpe(f, 1, 12);
    add_to_mixers(f, "toep.rpe.layers.0.0.weight", weft_shape_of(SIZE));
    add_to_mixers(f, "toep.rpe.out.0.weight", weft_shape_of(SIZE));
    const char *fd = FD ",'rpe_size':6,'rpe_layers':1,'rpe_norm':'rms_norm','causal':true}";
    check_tensors(f, fd, NULL);
    add_to_mixers(f, "toep.gamma", weft_shape_of(12));
    const char *tnn = TNN ",'rpe_size':6,'rpe_layers':1,'rpe_norm':'rms_norm','decay':'learned'}";
    check_tensors(f, tnn, "toep.gamma");
}

TEST(every_tensor_of_ski_tnn_is_checked, f) {
    add_gtu(f, 4);
    add_to_mixers(f, "toep.rpe.weight", weft_shape_of(9, 4));
    add_to_mixers(f, "toep.taps.weight", weft_shape_of(3, 4));
    check_tensors(f, SKI ",'expand_ratio':1,'ski_points':4,'ski_taps':3,'gamma':0.9}", NULL);
}

/* ---- memory ---- */

TEST(every_failing_allocation_is_survived, f) {
    add_gtu(f, 4);
    add_rpe(f, 1, 4);
    weft_test_expect_no_leak(f, FD ",'expand_ratio':1,'rpe_size':6,'rpe_layers':1,'causal':true}");
    weft_test_expect_no_leak(f,
                             TNN ",'expand_ratio':1,'rpe_size':6,'rpe_layers':1,'decay':'fixed'}");
    add_to_mixers(f, "toep.gamma", weft_shape_of(2, 1, 2));
    weft_test_expect_no_leak(f, TNN
                             ",'expand_ratio':1,'rpe_size':6,'rpe_layers':1,'decay':'learned'}");
}

TEST(every_failing_allocation_of_ski_tnn_is_survived, f) {
    add_gtu(f, 4);
    add_to_mixers(f, "toep.rpe.weight", weft_shape_of(9, 4));
    weft_test_expect_no_leak(f, SKI ",'expand_ratio':1,'ski_points':4,'gamma':0.9}");
}
