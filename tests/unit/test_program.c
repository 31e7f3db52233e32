/* SPDX-License-Identifier: MIT */
/* Programs: what a config.json may say and may not, symbols, tensors of all types, and saving. */
#include <math.h>

#include <weft/model.h>

#include "graph/graph.h"
#include "graph/op.h"
#include "model/program/expression.h"
#include "support_model.h"

/* ---- expressions ---- */

static const struct weft_symbol_table symbols = {.rows = {{.name = "batch"},
                                                          {.name = "n"},
                                                          {.name = "most"},
                                                          {.name = "a.b.1"},
                                                          {.name = "a_b"}},
                                                 .count = 5};
static const int64_t values[] = {2, -7, INT64_MAX, 5, 6};

WEFT_TEST(expressions_are_integers) {
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"0", 0},
        {"9223372036854775807", INT64_MAX},
        {"batch", 2},
        {" 1 + 2 * 3 ", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5},
        {"--3", 3},
        {"-batch * 3", -6},
        {"n // 2", -4}, /* down, as in Python */
        {"n % 2", 1},
        {"n // -2", 3},
        {"n % -2", -1},
        {"(-6) // 2", -3},
        {"(-6) % 2", 0},
        {"7 // 2 * 2", 6},
        {"min(3, batch, 5)", 2},
        {"max(n, -8)", -7},
        {"min(4)", 4},
        {"2 * a.b.1 + a_b", 16}, /* dots are letters of a name */
        {"-most - 1", INT64_MIN},
        {"(-most - 1) % -1", 0},
        {"0 * (-most - 1)", 0},
        {"1 * (-most - 1)", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        char message[WEFT_EXPRESSION_MESSAGE_SIZE];
        if (!weft_expression_evaluate(&value, rows[i].text, &symbols, values, message) ||
            value != rows[i].value) {
            fail_msg("%s: %lld, %s", rows[i].text, (long long)value, message);
        }
    }
}

static void expect_no_expression(const char *text, const char *why) {
    int64_t value = 0;
    char message[WEFT_EXPRESSION_MESSAGE_SIZE];
    if (weft_expression_evaluate(&value, text, &symbols, values, message) ||
        !strstr(message, why)) {
        fail_msg("%s: %s", text, message);
    }
}

WEFT_TEST(what_is_no_expression_says_where) {
    expect_no_expression("", "expected a number, a symbol, - or ( at character 1");
    expect_no_expression("1 +", "at character 4");
    expect_no_expression("length", "no symbol of that name at character 1");
    expect_no_expression("1 2", "something behind its end at character 3");
    expect_no_expression("a.b", "no symbol of that name at character 1");
    expect_no_expression(".b", "expected a number, a symbol, - or ( at character 1");
    expect_no_expression("1.5", "something behind its end at character 2");
    expect_no_expression("(1", "expected ) at character 3");
    expect_no_expression("min 3", "expected (");
    expect_no_expression("min(3 4)", "expected , or )");
    expect_no_expression("min()", "expected a number");
    expect_no_expression("1 // 0", "a division by 0");
    expect_no_expression("1 % (n + 7)", "a division by 0");
    expect_no_expression("9223372036854775808", "beyond 64 bits");
    expect_no_expression("most + 1", "beyond 64 bits");
    expect_no_expression("most * 2", "beyond 64 bits");
    expect_no_expression("-most - 2", "beyond 64 bits");
    expect_no_expression("(-most - 1) * -1", "beyond 64 bits");
    expect_no_expression("(-most - 1) // -1", "beyond 64 bits");
    expect_no_expression("-(-most - 1)", "beyond 64 bits");
    char deep[2000];
    memset(deep, '(', sizeof deep);
    deep[100] = '\0';
    expect_no_expression(deep, "more than 32 levels");
    memset(deep, '1', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    expect_no_expression(deep, "more than 1024 bytes");
}

/* ---- programs in memory ---- */

struct file {
    uint8_t bytes[1024];
    size_t size;
};

/** Tensors of several types. */
static struct file make_file(void) {
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
        "\"half\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[16,20]},"
        "\"whole\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[20,36]},"
        "\"large\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[36,44]},"
        "\"bits\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[44,48]},"
        "\"small\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[48,49]}}";
    static const float w[4] = {1.0F, 2.0F, -3.0F, INFINITY};
    static const uint16_t half[2] = {0x3c00, 0xfc00}; /* 1 and -infinity */
    static const int64_t whole[3] = {-5, INT32_MAX, INT64_C(1) << 31};
    static const int32_t bits = 7;
    struct file file = {.size = 8};
    file.bytes[0] = (uint8_t)(sizeof header - 1);
    file.bytes[1] = (uint8_t)((sizeof header - 1) >> 8);
    const struct {
        const void *data;
        size_t size;
    } parts[] = {{header, sizeof header - 1}, {w, sizeof w},        {half, sizeof half},
                 {whole, sizeof whole},       {&bits, sizeof bits}, {"\1", 1}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_in_range(file.size + parts[i].size, 0, sizeof file.bytes);
        memcpy(file.bytes + file.size, parts[i].data, parts[i].size);
        file.size += parts[i].size;
    }
    return file;
}

/** With ' for ". */
static weft_status load(weft_model **model, const char *config, struct weft_test_host *host) {
    static struct file file;
    file = make_file();
    const weft_model_memory memory = {
        .config_json = weft_test_json(config), .weights = file.bytes, .weights_size = file.size};
    return weft_model_load_memory(model, &memory, &host->host);
}

#define START      "{'model_type':'program','format':1,"
#define INPUTS     "'inputs':[{'name':'x','dtype':'f32','shape':['b',2]}],"
#define SYMBOLS    "'symbols':{'b':{'min':1,'max':9,'example':3}},"
#define OUTPUTS    "'outputs':[{'name':'y','value':'v'}]}"
#define NODE(text) START SYMBOLS INPUTS "'nodes':[" text "]," OUTPUTS
#define MATMUL     "{'op':'matmul','inputs':['x','w'],'output':'v','alpha':1}"

/* Tokens through the table w of two. */
#define TASK(task, label)                                                                        \
    START "'task':" task ",'vocab_size':2,'tokenizer_class':'No','id2label':{'0':'a','1':" label \
          "},'symbols':{'batch':{},'length':{'max':7,'example':3}},"                             \
          "'inputs':[{'name':'tokens','dtype':'i32','shape':['batch','length']}],'nodes':["      \
          "{'op':'embedding','inputs':['tokens','w'],'output':'v'}]," OUTPUTS

WEFT_TEST_ON_HOST(a_program_with_a_task_is_built_into_graphs, host) {
    weft_model *model = NULL;
    weft_model_info info;
    weft_graph *graph = NULL;
    weft_model_inputs inputs = {.tokens = {0}};
    weft_tensor out;
    weft_shape shape;
    assert_ok(load(&model, TASK("'hidden'", "'x'"), host));
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.task, WEFT_TASK_HIDDEN);
    assert_int_equal(info.hidden_size, 2);
    assert_int_equal(info.max_length, 7);
    assert_int_equal(info.vocabulary, 2);
    assert_ok(weft_graph_create(&graph, &host->host));
    assert_ok(weft_graph_input(&inputs.tokens, graph, "ids", WEFT_I32, weft_shape_of(5, 7)));
    assert_ok(weft_model_build(&out, model, graph, &inputs));
    assert_ok(weft_model_build(&out, model, graph, &inputs)); /* and once more */
    assert_ok(weft_graph_get_tensor(graph, out, &shape, NULL));
    assert_true(weft_shape_equal(shape, weft_shape_of(5, 7, 2)));
    assert_ok(weft_graph_input(&inputs.tokens, graph, "more", WEFT_I32, weft_shape_of(5, 8)));
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_model_build(&out, model, graph, &inputs),
                        "8 tokens exceed the model's 7 positions");
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
}

WEFT_TEST_ON_HOST(a_program_tells_what_it_takes, host) {
    weft_model *model = NULL;
    weft_model_info info;
    weft_symbol_info symbol;
    weft_model_port_info port;
    assert_ok(load(&model, NODE(MATMUL), host));
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.task, WEFT_TASK_PROGRAM);
    assert_int_equal(info.parameters, 4);
    assert_ok(weft_model_get_symbol(model, 0, &symbol));
    assert_string_equal(symbol.name, "b");
    assert_int_equal(symbol.minimum, 1);
    assert_int_equal(symbol.maximum, 9);
    assert_int_equal(symbol.example, 3);
    assert_int_equal(weft_model_get_symbol(model, 1, &symbol), WEFT_NOT_FOUND);
    assert_ok(weft_model_get_port(model, 0, &port));
    assert_string_equal(port.name, "x");
    assert_string_equal(port.axes[0], "b");
    assert_string_equal(port.axes[1], "2");
    assert_false(port.is_output);
    assert_ok(weft_model_get_port(model, 1, &port));
    assert_string_equal(port.name, "y");
    assert_true(port.is_output);
    assert_true(weft_shape_equal(port.example, weft_shape_of(3, 2)));
    assert_int_equal(weft_model_get_port(model, 2, &port), WEFT_NOT_FOUND);
    weft_model_destroy(&model);
}

WEFT_TEST_ON_HOST(symbols_come_from_shapes, host) {
    weft_model *model = NULL;
    assert_ok(load(&model,
                   START "'symbols':{'b':{'max':9},'k':{},'n':{}},'inputs':["
                         "{'name':'x','dtype':'f32','shape':['2 * b','n']},"
                         "{'name':'y','dtype':'f32','shape':['b']}],'nodes':[],"
                         "'outputs':[{'name':'o','value':'x'}]}",
                   host));
    weft_symbol found[3] = {{.name = NULL}, {.name = "k", .value = 5}, {.name = NULL}};
    weft_shape shapes[2] = {weft_shape_of(6, 4), weft_shape_of(3)};
    assert_ok(weft_model_find_symbols(model, found, 3, shapes, 2));
    assert_string_equal(found[0].name, "b");
    assert_int_equal(found[0].value, 3);
    assert_int_equal(found[1].value, 5);
    assert_int_equal(found[2].value, 4);
    shapes[0].dim[0] = 7;
    found[0].name = NULL;
    WEFT_EXPECT_REFUSED(host, WEFT_SHAPE_MISMATCH,
                        weft_model_find_symbols(model, found, 3, shapes, 2), "input x",
                        "[2 * b, n]", "[7, 4]");
    shapes[1].dim[0] = 10;
    found[0].name = NULL;
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_find_symbols(model, found, 3, shapes, 2), "symbol b",
                        "expected 1 to 9, found 10");
    found[1].name = NULL;
    shapes[1].dim[0] = 3;
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_find_symbols(model, found, 3, shapes, 2), "symbol k",
                        "must be given");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_find_symbols(model, found, 3, shapes, 1), "2 inputs");
    weft_model_destroy(&model);
}

WEFT_TEST_ON_HOST(graphs_need_all_symbols, host) {
    weft_model *model = NULL;
    weft_graph *graph = NULL;
    const weft_symbol twice[] = {{"b", 1}, {"b", 2}};
    const weft_symbol other = {"c", 1};
    const weft_symbol large = {"b", 10};
    assert_ok(load(&model, NODE(MATMUL), host));
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_program_graph(&graph, model, NULL, 0), "symbol b has no value");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_program_graph(&graph, model, twice, 2), "given twice");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_program_graph(&graph, model, &other, 1),
                        "'c' is none of the program's");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_program_graph(&graph, model, &large, 1),
                        "expected 1 to 9, found 10");
    weft_plan *plan = NULL;
    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED,
                        weft_model_compile(&plan, model, (weft_device *)model, 1, 1, false, NULL),
                        "is a program");
    weft_model *headless = NULL;
    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED, weft_model_without_head(&headless, model),
                        "is a program");
    weft_model_destroy(&model);
}

/* ---- tensors and constants ---- */

/** The data of output `index` of a program's graph, which must be a weight. */
static void expect_words(const char *config, weft_dtype dtype, weft_shape shape, const void *data,
                         struct weft_test_host *host) {
    weft_model *model = NULL;
    weft_graph *graph = NULL;
    assert_ok(load(&model, config, host));
    const weft_symbol b = {"b", 4};
    assert_ok(weft_model_program_graph(&graph, model, &b, 1));
    const struct weft_value *value = &graph->values[graph->results[0].value];
    struct weft_weight_view view;
    assert_non_null(value->weight);
    assert_int_equal(value->dtype, dtype);
    assert_true(weft_shape_equal(value->shape, shape));
    assert_ok(weft_weight_view_open(&view, value->weight));
    assert_memory_equal(view.data, data, (size_t)weft_shape_elements(shape) * 4);
    weft_weight_view_close(&view, value->weight);
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
}

#define VALUE(name) \
    START SYMBOLS "'inputs':[],'nodes':[],'outputs':[{'name':'y','value':'" name "'}]}"
#define CONSTANT(text) START SYMBOLS "'inputs':[],'nodes':[" text "]," OUTPUTS

WEFT_TEST_ON_HOST(tensors_of_all_types_are_read, host) {
    static const float w[4] = {1.0F, 2.0F, -3.0F, INFINITY};
    static const float half[2] = {1.0F, -INFINITY};
    static const int32_t whole[2] = {-5, INT32_MAX};
    static const int32_t bits = 7;
    expect_words(VALUE("w"), WEFT_F32, weft_shape_of(2, 2), w, host);
    expect_words(VALUE("half"), WEFT_F32, weft_shape_of(2), half, host);
    expect_words(VALUE("whole"), WEFT_I32, weft_shape_of(2), whole, host);
    expect_words(VALUE("bits"), WEFT_I32, weft_shape_of(1), &bits, host);
}

WEFT_TEST_ON_HOST(constants_depend_on_symbols, host) {
    static const int32_t range[4] = {7, 5, 3, 1};
    static const float reals[3] = {-1.0F, 0.0F, 1.0F};
    static const float minus[2] = {-INFINITY, -INFINITY};
    static const int32_t size = 8;
    expect_words(CONSTANT("{'op':'arange','output':'v','start':'2 * b - 1','step':-2,'count':'b'}"),
                 WEFT_I32, weft_shape_of(4), range, host);
    expect_words(CONSTANT("{'op':'arange','output':'v','start':-1,'step':1,'count':3,"
                          "'dtype':'f32'}"),
                 WEFT_F32, weft_shape_of(3), reals, host);
    expect_words(CONSTANT("{'op':'full','output':'v','shape':['b // 2'],'value':'-inf'}"), WEFT_F32,
                 weft_shape_of(2), minus, host);
    expect_words(CONSTANT("{'op':'full','output':'v','shape':[],'value':'2 * b','dtype':'i32'}"),
                 WEFT_I32, (weft_shape){.rank = 0}, &size, host);
}

/* ---- what is refused ---- */

static const struct {
    const char *config, *field, *message;
    weft_status status; /* 0: WEFT_BAD_FILE */
} wrong[] = {
    {"{'model_type':'program'}", "\"format\"", "found nothing", WEFT_OK},
    {"{'model_type':'program','format':2}", "\"format\"", "found 2", WEFT_UNSUPPORTED},
    {START "'other':1}", "\"other\"", "expected no such field", WEFT_OK},
    {START "'inputs':1}", "\"inputs\"", "an array of objects", WEFT_OK},
    {START "'inputs':[],'nodes':[],'outputs':[]}", "\"outputs\"", "at least one", WEFT_OK},
    {START "'symbols':{'1':{}}," INPUTS "'nodes':[]," OUTPUTS, "\"symbols\"", "names of letters",
     WEFT_OK},
    {START "'symbols':{'.a':{}}," INPUTS "'nodes':[]," OUTPUTS, "\"symbols\"", "names of letters",
     WEFT_OK},
    {START "'symbols':{'max':{}}," INPUTS "'nodes':[]," OUTPUTS, "\"symbols\"", "names of letters",
     WEFT_OK},
    {START "'symbols':{'b':{'min':3,'max':2}}," INPUTS "'nodes':[]," OUTPUTS, "\"max\"", "found 2",
     WEFT_OK},
    {START "'symbols':{'b':{'examples':3}}," INPUTS "'nodes':[]," OUTPUTS, "\"examples\"",
     "no such field", WEFT_OK},
    {START INPUTS "'nodes':[]," OUTPUTS, "inputs[0].shape[0]",
     "no symbol of that name at character 1", WEFT_OK},
    {START SYMBOLS "'inputs':[{'name':'x','dtype':'f32','shape':[0]}],'nodes':[]," OUTPUTS,
     "inputs[0].shape[0]", "of 1 to 4294967295, found 0", WEFT_OK},
    {START SYMBOLS "'inputs':[{'name':'x','dtype':'f64','shape':[1]}],'nodes':[]," OUTPUTS,
     "inputs[0].dtype", "one of f32 i32 f16 u8, found \"f64\"", WEFT_OK},
    {START SYMBOLS "'inputs':[{'name':'w','dtype':'f32','shape':[1]}],'nodes':[]," OUTPUTS,
     "inputs[0].name", "no tensor of model.safetensors has", WEFT_OK},
    {START SYMBOLS "'inputs':[1],'nodes':[]," OUTPUTS, "inputs[0]", "an object, found 1", WEFT_OK},
    {NODE(""), "outputs[0].value", "an earlier node", WEFT_OK},
    {NODE("{'op':'softmin','inputs':['x'],'output':'v'}"), "nodes[0].op",
     "an op of this version of Weft, found \"softmin\"", WEFT_OK},
    {NODE("{'op':'cosformer_step','inputs':['x'],'output':'v'}"), "nodes[0].op",
     "an op that programs can have", WEFT_OK},
    {NODE("{'op':'toeplitz_kernel','inputs':['x'],'output':'v'}"), "nodes[0].op",
     "an op that programs can have", WEFT_OK},
    {NODE("{'op':'softmax','inputs':['x'],'output':'v','axis':1}"), "nodes[0].axis",
     "no such field", WEFT_OK},
    {NODE("{'op':'softmax','inputs':['v'],'output':'v'}"), "nodes[0].inputs[0]", "an earlier node",
     WEFT_OK},
    {NODE("{'op':'softmax','inputs':[1],'output':'v'}"), "nodes[0].inputs[0]", "found 1", WEFT_OK},
    {NODE("{'op':'softmax','inputs':'x','output':'v'}"), "nodes[0].inputs", "an array", WEFT_OK},
    {NODE("{'op':'softmax','inputs':['x'],'output':'x'}"), "nodes[0].output", "before it has",
     WEFT_OK},
    {NODE("{'op':'softmax','inputs':['x'],'output':''}"), "nodes[0].output", "a name", WEFT_OK},
    {NODE("{'op':'softmax','inputs':['x','x'],'output':'v'}"), "softmax", "takes 1 to 1 inputs",
     WEFT_INVALID_ARGUMENT},
    {NODE("{'op':'matmul','inputs':['x','w'],'output':'v'}"), "nodes[0].alpha", "found nothing",
     WEFT_OK},
    {NODE("{'op':'matmul','inputs':['x','w'],'output':'v','alpha':1e39}"), "nodes[0].alpha",
     "float32", WEFT_OK},
    {NODE("{'op':'matmul','inputs':['x','w'],'output':'v','alpha':'nan'}"), "matmul",
     "must be finite", WEFT_INVALID_ARGUMENT},
    {NODE("{'op':'matmul','inputs':['x','w'],'output':'v','alpha':1,'transpose_a':1}"),
     "nodes[0].transpose_a", "true or false, found 1", WEFT_OK},
    {NODE("{'op':'matmul','inputs':['x','half'],'output':'v','alpha':1}"), "nodes[0], \"v\"",
     "see above", WEFT_SHAPE_MISMATCH},
    {NODE("{'op':'activation','inputs':['x'],'output':'v','activation':'gelu'}"),
     "nodes[0].activation", "one of none gelu_tanh gelu_erf", WEFT_OK},
    {NODE("{'op':'reshape','inputs':['x'],'output':'v','shape':2}"), "nodes[0].shape",
     "an array of at most 8 elements", WEFT_OK},
    {NODE("{'op':'reshape','inputs':['x'],'output':'v','shape':['b * 3']}"), "reshape",
     "different numbers of elements", WEFT_SHAPE_MISMATCH},
    {NODE("{'op':'reshape','inputs':['x'],'output':'v','shape':['b - 4']}"), "nodes[0].shape[0]",
     "here it is -1", WEFT_OK},
    {NODE("{'op':'attention','inputs':['x','x','x'],'output':'v','heads':0,'scale':0}"),
     "nodes[0].heads", "of 1 to 4294967295, found 0", WEFT_OK},
    {NODE("{'op':'kernel_attention','inputs':['x','x','x'],'output':'v','heads':1,'epsilon':0,"
          "'maps':['elu1','exp'],'weights':[1]}"),
     "nodes[0].weights", "as many as others", WEFT_OK},
    {NODE("{'op':'kernel_attention','inputs':['x','x','x'],'output':'v','heads':1,'epsilon':0,"
          "'maps':[],'weights':[]}"),
     "kernel_attention", "1 … 5 kernels", WEFT_INVALID_ARGUMENT},
    {NODE("{'op':'softmax','inputs':['large'],'output':'v'}"), "\"large\"",
     "found 2147483648 at index 0", WEFT_OK},
    {NODE("{'op':'softmax','inputs':['small'],'output':'v'}"), "\"small\"", "found U8", WEFT_OK},
    {CONSTANT("{'op':'full','output':'v','shape':[65536,65536],'value':0}"), "config_json",
     "elements", WEFT_INVALID_ARGUMENT},
    {CONSTANT("{'op':'full','output':'v','shape':[16384,1025],'value':0}"), "nodes[0]",
     "at most 2^24 elements", WEFT_OK},
    {CONSTANT("{'op':'full','output':'v','shape':[1],'value':0,'dtype':'f16'}"), "nodes[0].dtype",
     "one of f32 i32", WEFT_OK},
    {CONSTANT("{'op':'arange','output':'v','start':2147483647,'step':1,'count':2}"),
     "nodes[0].step", "fit the type", WEFT_OK},
    {CONSTANT("{'op':'arange','output':'v','start':0,'step':1,'count':0}"), "nodes[0].count",
     "found 0", WEFT_OK},
    {CONSTANT("{'op':'arange','inputs':[],'output':'v','start':0,'step':1,'count':1}"),
     "nodes[0].inputs", "no such field", WEFT_OK},
    {START SYMBOLS INPUTS "'nodes':[],'outputs':[{'name':'x','value':'x'}]}", "'x'", "is taken",
     WEFT_INVALID_ARGUMENT},
};

WEFT_TEST_ON_HOST(what_is_wrong_is_named, host) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_model *model = NULL;
        weft_test_host_reset(host);
        const weft_status status = load(&model, wrong[i].config, host);
        if (status != (wrong[i].status ? wrong[i].status : WEFT_BAD_FILE)) {
            fail_msg("%s: %s\n%s", wrong[i].config, weft_status_name(status), weft_test_log(host));
        }
        weft_test_expect_log(host, wrong[i].field, wrong[i].message);
    }
}

WEFT_TEST_ON_HOST(no_memory_is_lost, host) {
    static const char *const configs[] = {NODE(MATMUL), TASK("'hidden'", "'x'")};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        weft_model *model = NULL;
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        while (weft_test_next_failure(host, status)) {
            status = load(&model, configs[i], host);
        }
        weft_model_destroy(&model);
    }
}

WEFT_TEST_ON_HOST(a_program_has_no_random_weights, host) {
    weft_model *model = NULL;
    WEFT_EXPECT_REFUSED(
        host, WEFT_UNSUPPORTED,
        weft_model_create_random(&model, weft_test_json(NODE(MATMUL)), 1, &host->host),
        "no random weights");
}

/* ---- saving ---- */

WEFT_TEST_IN_PLACE(what_cannot_be_saved_leaves_the_folder_alone, place) {
    weft_graph *graph = NULL;
    assert_ok(weft_graph_create(&graph, &place->host.host));
    WEFT_EXPECT_REFUSED(&place->host, WEFT_INVALID_ARGUMENT, weft_graph_save(graph, place->folder),
                        "no output");
    assert_int_equal(weft_test_entries(place->folder), 0);
    weft_graph_destroy(&graph);
}

static weft_status own_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                             weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status own_lower(weft_lowering *lowering, const weft_node *node) {
    (void)node;
    return weft_lower_status(lowering);
}

WEFT_TEST_IN_PLACE(ops_of_programs_and_absent_folders_are_refused, place) {
    static const weft_implementation row = {.name = "none", .lower = own_lower};
    const weft_host *host = &place->host.host;
    weft_graph *graph = NULL;
    weft_op *op = NULL;
    weft_tensor x;
    assert_ok(weft_graph_create(&graph, host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1)));
    assert_ok(weft_graph_output(graph, "y", x));
    const char *file = weft_test_write(place->folder, "file", "", 0);
    WEFT_EXPECT_REFUSED(&place->host, WEFT_NOT_FOUND, weft_graph_save(graph, file), file);
    assert_ok(weft_op_create(&op,
                             weft_op_params(.name = "own", .min_inputs = 1, .infer = own_infer,
                                            .implementations = &row, .implementation_count = 1),
                             host));
    assert_ok(weft_graph_add(&x, graph, op, &x, 1, NULL, 0));
    WEFT_EXPECT_REFUSED(&place->host, WEFT_UNSUPPORTED, weft_graph_save(graph, place->folder),
                        "the op own");
    weft_graph_destroy(&graph);
    weft_op_destroy(&op);
}

WEFT_TEST_IN_PLACE(what_is_too_large_to_load_is_not_saved, place) {
    weft_graph *graph = NULL;
    weft_tensor x;
    assert_ok(weft_graph_create(&graph, &place->host.host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1)));
    for (uint32_t i = 0; i < 60000; i++) {
        assert_ok(weft_graph_affine(&x, graph, x, 2.0F, 0.5F));
    }
    assert_ok(weft_graph_output(graph, "y", x));
    WEFT_EXPECT_REFUSED(&place->host, WEFT_UNSUPPORTED, weft_graph_save(graph, place->folder),
                        "60000 nodes are more than");
    assert_int_equal(weft_test_entries(place->folder), 0);
    weft_graph_destroy(&graph);
}

WEFT_TEST_IN_PLACE(weights_of_one_name_are_kept_apart, place) {
    const weft_host *host = &place->host.host;
    static const float data[3] = {1.0F, 2.0F, 4.0F};
    weft_graph *graph = NULL;
    weft_tensor sum;
    assert_ok(weft_graph_create(&graph, host));
    assert_ok(weft_graph_input(&sum, graph, "w", WEFT_F32, weft_shape_of(1)));
    for (uint32_t i = 0; i < 3; i++) {
        weft_tensor w;
        assert_ok(weft_graph_constant(&w, graph, "w", WEFT_F32, weft_shape_of(1), &data[i]));
        assert_ok(weft_graph_binary(&sum, graph, WEFT_BINARY_ADD, sum, w));
    }
    assert_ok(weft_graph_output(graph, "y", sum));
    assert_ok(weft_graph_save(graph, place->folder));
    assert_ok(weft_graph_save(graph, place->folder)); /* over itself */
    assert_int_equal(weft_test_entries(place->folder), 2);
    weft_graph_destroy(&graph);
    weft_model *model = NULL;
    assert_ok(weft_model_load(&model, place->folder, host));
    assert_ok(weft_model_program_graph(&graph, model, NULL, 0));
    for (uint32_t i = 0; i < 3; i++) {
        float value = 0.0F;
        const weft_weight *weight = graph->values[graph->nodes[i].input[1]].weight;
        assert_ok(weft_weight_read(weight, 0, 1, &value));
        assert_true(value == data[i]);
    }
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
}

WEFT_TEST_IN_PLACE(saving_loses_no_memory, place) {
    weft_graph *graph = NULL;
    weft_tensor x;
    assert_ok(weft_graph_create(&graph, &place->host.host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1)));
    assert_ok(weft_graph_affine(&x, graph, x, 2.0F, 0.5F));
    assert_ok(weft_graph_output(graph, "y", x));
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&place->host, status)) {
        status = weft_graph_save(graph, place->folder);
    }
    weft_graph_destroy(&graph);
}
