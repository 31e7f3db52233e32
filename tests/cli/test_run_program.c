/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft run and weft inspect on a program: its inputs and outputs as files, sizes by shapes or --symbol. */
#include "cli/command.h"
#include "cli/place.h"
#include "core/formats/npy.h"
#include "support_model.h"

/* y = x w + bias of x [batch, 2] and z = 0, 1, … count. */
static const char config[] =
    "{'model_type':'program','format':1,"
    "'symbols':{'batch':{'max':8,'example':2},'count':{'example':3}},"
    "'inputs':[{'name':'x','dtype':'f32','shape':['batch',2]},"
    "{'name':'bias','dtype':'f32','shape':[2]}],"
    "'nodes':[{'op':'matmul','inputs':['x','w'],'output':'h','alpha':1},"
    "{'op':'binary','inputs':['h','bias'],'output':'y','kind':'add'},"
    "{'op':'arange','output':'r','start':0,'step':1,'count':'count'}],"
    "'outputs':[{'name':'sum','value':'y'},{'name':'numbers','value':'r'}]}";

struct program {
    char *folder, *x, *bias, *out;
};

static struct program make(const struct place *place) {
    struct weft_test_model model;
    weft_test_model_begin(&model);
    float *w = weft_test_model_add(&model, "w", weft_shape_of(2, 2));
    memcpy(w, (float[]){1.0F, 0.0F, 0.0F, 2.0F}, 4 * sizeof *w);
    weft_test_model_write(&model, config);
    const struct program program = {.folder = model.folder,
                                    .x = weft_test_path(place->folder, "x.npy"),
                                    .bias = weft_test_path(place->folder, "bias.npy"),
                                    .out = weft_test_path(place->folder, "numbers.npy")};
    weft_test_model_end(&model);
    assert_ok(weft_npy_write_f32(program.x, (float[]){1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F},
                                 weft_shape_of(3, 2), NULL));
    assert_ok(weft_npy_write_f32(program.bias, (float[]){0.5F, -1.0F}, weft_shape_of(2), NULL));
    return program;
}

static void expect_array(const char *path, weft_npy_dtype dtype, const void *data, size_t count) {
    weft_npy npy = {0};
    assert_ok(weft_npy_open(&npy, path, NULL));
    assert_int_equal(npy.dtype, dtype);
    assert_int_equal(npy.elements, count);
    assert_memory_equal(npy.data, data, count * 4);
    weft_npy_close(&npy);
}

PLACE_TEST(inputs_and_outputs_are_files, place) {
    static const float sum[] = {1.5F, 3.0F, 3.5F, 7.0F, 5.5F, 11.0F};
    static const int32_t numbers[] = {0, 1, 2, 3};
    const struct program p = make(place);
    struct outcome outcome =
        expect_weft(0,
                    "run '%s' --input bias='%s' --input '%s' --symbol count=4 --out '%s' "
                    "--out numbers='%s' --json",
                    p.folder, p.bias, p.x, place->out, p.out);
    expect_array(place->out, WEFT_NPY_F32, sum, 6);
    expect_array(p.out, WEFT_NPY_I32, numbers, 4);
    json_t *report = json_of(&outcome);
    const json_t *symbols = json_object_get(report, "symbols");
    assert_int_equal(json_integer_value(json_object_get(symbols, "batch")), 3);
    assert_int_equal(json_integer_value(json_object_get(symbols, "count")), 4);
    const json_t *first = json_array_get(json_object_get(report, "outputs"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "sum");
    assert_int_equal(json_array_size(json_object_get(first, "shape")), 2);
    json_decref(report);
    outcome_clear(&outcome);
    expect_says(0,
                weft_test_text("run '%s' --input '%s' --input '%s' --symbol count=1", p.folder, p.x,
                               p.bias),
                "sum f32 [3, 2], SHA-256 ", "numbers i32 [1]", "batch 3, count 1", NULL);
}

PLACE_TEST(what_does_not_fit_is_named, place) {
    const struct program p = make(place);
    const char *start = weft_test_text("run '%s'", p.folder);
    const char *both = weft_test_text("%s --input '%s' --input '%s'", start, p.x, p.bias);
    expect_refused(2, weft_test_text("%s --text hallo", start), "is a program", "--input", NULL);
    expect_refused(2, weft_test_text("%s --input '%s'", start, p.x), "--input bias=FILE", NULL);
    expect_refused(2, weft_test_text("%s --input '%s'", both, p.x), "the model has 2", NULL);
    expect_refused(2, weft_test_text("%s --symbol n=1", both), "--symbol n=1", "batch=2", NULL);
    expect_refused(2, weft_test_text("%s --symbol count=x", both), "a whole number behind =", NULL);
    expect_refused(2, weft_test_text("%s --symbol count=1 --symbol count=1", both),
                   "each symbol once", NULL);
    expect_refused(4, both, "symbol count", "must be given", NULL);
    expect_refused(4, weft_test_text("%s --symbol count=1 --symbol batch=2", both), "input x",
                   "expected shape [batch, 2], found [3, 2]", NULL);
    expect_refused(
        4, weft_test_text("%s --input '%s' --input '%s' --symbol count=1", start, p.bias, p.x),
        "input x", "found [2]", NULL);
    expect_refused(
        4, weft_test_text("%s --input '%s' --input nothing.npy --symbol count=1", start, p.x),
        "nothing.npy", NULL);
}

PLACE_TEST(inspect_shows_ports_and_nodes, place) {
    const struct program p = make(place);
    expect_says(0, weft_test_text("inspect '%s'", p.folder), "symbol batch: 1 to 8, for example 2",
                "input x f32 [batch, 2]", "output sum f32 [2, 2]", "plan for batch 2, count 3",
                NULL);
    expect_says(0, weft_test_text("inspect '%s' --symbol batch=5 --pass graph", p.folder),
                "matmul(x, w)", "[5, 2]", "binary[add]", "output sum", NULL);
    expect_refused(2, weft_test_text("inspect '%s' --batch 2", p.folder), "--symbol NAME=N", NULL);
}
