/* SPDX-License-Identifier: MIT */
/* What the weft command says about bad files. No device is needed to find that they are bad. */
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/place.h"
#include "core/formats/npy.h"

#define GOLDEN WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define HIDDEN WEFT_SOURCE_DIR "/tests/data/fnet/base_d24_l2_gelu_new"
#define TOKENS GOLDEN "/cases/n9_b1/tokens.npy"
#define VALUES GOLDEN "/cases/n9_b1/expected.npy"

/* Runs `weft` with formatted arguments that name a bad file; the last argument is what it says. */
static void expect_bad(const char *part, const char *other, const char *format, ...) {
    char arguments[4096];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    assert_in_range(length, 0, sizeof arguments - 1);
    expect_refused(4, arguments, part, other, NULL);
}

/* ---- models ---- */

/* Copies the golden model, each file cut to a part of its size (1.0: whole). */
static void copy_model(const struct place *place, double config_part, double tensors_part) {
    static const char *const names[] = {"config.json", "model.safetensors"};
    const double parts[] = {config_part, tensors_part};
    for (size_t i = 0; i < 2; i++) {
        char *from = weft_test_path(GOLDEN, names[i]);
        size_t size = 0;
        uint8_t *data = weft_test_read(from, &size);
        weft_test_write(place->folder, names[i], data, (size_t)((double)size * parts[i]));
        free(data);
    }
}

PLACE_TEST(missing_model_is_named, place) {
    const char *absent = weft_test_absent("model");
    const char *config = weft_test_path(absent, "config.json");
    expect_bad(config, "cannot open", "run %s --tokens " TOKENS, absent);
    expect_bad(config, "cannot open", "eval %s " TOKENS, absent);
    expect_bad(config, "cannot open", "inspect %s", absent);
    copy_model(place, 1.0, 1.0);
    char *tensors = weft_test_path(place->folder, "model.safetensors");
    assert_int_equal(remove(tensors), 0);
    expect_bad(tensors, "cannot open", "run %s --tokens " TOKENS, place->folder);
}

PLACE_TEST(cut_tensors_are_named, place) {
    static const double parts[] = {0.0, 0.00002, 0.01, 0.5, 0.999};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        copy_model(place, 1.0, parts[i]);
        expect_bad("model.safetensors", place->folder, "run %s --tokens " TOKENS, place->folder);
        expect_bad("model.safetensors", place->folder, "inspect %s", place->folder);
    }
}

PLACE_TEST(bad_config_is_named, place) {
    copy_model(place, 0.5, 1.0);
    expect_bad("config.json", place->folder, "run %s --tokens " TOKENS, place->folder);
    static const struct {
        const char *text;
        const char *named;
    } configs[] = {
        {"", "config.json"},
        {"[]", "config.json"},
        {"{\"architectures\": [\"FNetModel\"]}", "model_type"},
        {"{\"model_type\": \"wav2vec2\", \"architectures\": [\"BertModel\"]}", "model_type"},
        {"{\"model_type\": \"fnet\", \"architectures\": [\"Other\"]}", "architectures"},
        {"{\"model_type\": \"fnet\", \"architectures\": [\"FNetModel\"], \"hidden_size\": -1}",
         "hidden_size"},
        {"{\"model_type\": \"fnet\", \"architectures\": [\"FNetModel\"], \"hidden_size\": \"x\"}",
         "hidden_size"},
    };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        weft_test_write(place->folder, "config.json", configs[i].text, strlen(configs[i].text));
        expect_bad("config.json", configs[i].named, "inspect %s", place->folder);
    }
}

/* ---- inputs of run ---- */

static char *write_tokens(const struct place *place, const int32_t *values, weft_shape shape) {
    char *path = weft_test_path(place->folder, "tokens.npy");
    assert_ok(weft_npy_write_i32(path, values, shape, NULL));
    return path;
}

PLACE_TEST(bad_tokens_are_named, place) {
    static int32_t values[4096];
    values[5] = 100000;
    char *path = write_tokens(place, values, weft_shape_of(2, 4));
    expect_bad(path, "sequence 1, position 1", "run " GOLDEN " --tokens %s", path);
    values[5] = -1;
    path = write_tokens(place, values, weft_shape_of(8));
    expect_bad(path, "found -1", "run " GOLDEN " --tokens %s", path);
    values[5] = 0;
    path = write_tokens(place, values, weft_shape_of(1, 4096));
    expect_bad(path, "found 4096", "run " GOLDEN " --tokens %s", path);
    path = write_tokens(place, values, weft_shape_of(2, 2, 2));
    expect_bad(path, "found <i4 [2, 2, 2]", "run " GOLDEN " --tokens %s", path);
    expect_bad(VALUES, "<f4", "run " GOLDEN " --tokens " VALUES);
    expect_bad(GOLDEN "/config.json", "", "run " GOLDEN " --tokens " GOLDEN "/config.json");
    path = weft_test_absent("tokens.npy");
    expect_bad(path, "cannot open", "run " GOLDEN " --tokens %s", path);
}

PLACE_TEST(wide_tokens_are_range_checked, place) {
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    static const char text[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }";
    memcpy(header + 10, text, strlen(text));
    header[127] = '\n';
    char data[sizeof header + 8];
    memcpy(data, header, sizeof header);
    memcpy(data + sizeof header, "\x01\x00\x00\x00\x01\x00\x00\x00", 8); /* 2^32 + 1 */
    char *path = weft_test_write(place->folder, "wide.npy", data, sizeof data);
    expect_bad(path, "4294967297", "run " GOLDEN " --tokens %s", path);
}

PLACE_TEST(bad_token_types_are_named, place) {
    static const int32_t values[9] = {0};
    char *path = write_tokens(place, values, weft_shape_of(1, 8));
    expect_bad(path, "expected the tokens' shape [1, 9], found [1, 8]",
               "run " GOLDEN " --tokens " TOKENS " --token-types %s", path);
}

PLACE_TEST(bad_texts_are_named, place) {
    const char *model = WEFT_SOURCE_DIR "/api/examples/models/langid";
    const char *absent = weft_test_absent("text");
    expect_bad(absent, "cannot open", "run %s --file %s", model, absent);
    expect_bad(place->folder, "cannot read", "run %s --file %s", model, place->folder);
    char *empty = weft_test_write(place->folder, "empty.txt", "", 0);
    expect_bad(empty, "empty", "run %s --file %s", model, empty);
    expect_bad("standard input", "empty", "run %s --file - </dev/null", model);
    /* This model has no tokenizer. */
    char *text = weft_test_write(place->folder, "text.txt", "x", 1);
    expect_bad("text.txt", "token", "run " GOLDEN " --file %s", text);
}

/* ---- inputs of eval ---- */

PLACE_TEST(bad_data_is_named, place) {
    const char *model = WEFT_SOURCE_DIR "/api/examples/models/langid";
    expect_bad("FNetModel", "labels", "eval " HIDDEN " " TOKENS);
    const char *absent = weft_test_absent("data.npz");
    expect_bad(absent, "", "eval %s %s", model, absent);
    expect_bad(TOKENS, "", "eval %s " TOKENS, model);
    expect_bad(place->folder, "found none", "eval %s %s", model, place->folder);
    char *folder = weft_test_path(place->folder, "klingon");
    assert_int_equal(mkdir(folder, 0777), 0);
    weft_test_write(folder, "a.txt", "nuqneH", 6);
    expect_bad("klingon", "labels", "eval %s %s", model, place->folder);
}

WEFT_TEST(archive_without_a_member_is_named) {
    const char *model = WEFT_SOURCE_DIR "/api/examples/models/langid";
    /* It has logits and labels, but no tokens. */
    expect_bad("pytorch.npz", "tokens", "eval %s %s/pytorch.npz", model, model);
    /* And this has tokens and labels, but no logits. */
    expect_bad("test.npz", "logits", "eval %s %s/test.npz --expect %s/test.npz", model, model,
               model);
}

/* ---- weights in other forms ---- */

/* A folder with a config, if it is to have one, and a file. */
static char *folder_with(bool config, const char *name, const char *start) {
    char *folder = weft_test_folder();
    if (config) {
        size_t size = 0;
        uint8_t *text = weft_test_read(GOLDEN "/config.json", &size);
        weft_test_write(folder, "config.json", text, size);
        free(text);
    }
    weft_test_write(folder, name, start, strlen(start));
    return folder;
}

/* A file that is no weights of Weft's: its name and beginning, what the message calls it, and the way out. */
struct other_file {
    const char *name, *start, *is, *way;
};

static void expect_each_named(bool config, const struct other_file *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *folder = folder_with(config, rows[i].name, rows[i].start);
        expect_refused(4, weft_test_text("inspect %s", folder), rows[i].name, rows[i].is,
                       rows[i].way, NULL);
    }
}

/* A folder has a config, and something in place of model.safetensors, which is named with the way out. */
PLACE_TEST(other_weights_are_named_as_what_they_are, place) {
    static const struct other_file rows[] = {
        {"model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n",
         "a Git LFS pointer", "git lfs pull"},
        {"model.safetensors", "\n<!DOCTYPE html><html><head><title>Sign in</title></head></html>",
         "HTML", "login"},
        {"model.safetensors", "PK\x03\x04 archive/data.pkl and more of it", "archive",
         "save them as safetensors"},
        {"model.safetensors", "\x80\x02}q\x01(X\x05 and more of this pickle", "pickle",
         "save them as safetensors"},
        {"model.safetensors", "GGUF\x03 and what else such a file has", "GGUF", "not safetensors"},
        {"model.safetensors.index.json", "<html>", "HTML", "login"},
        {"pytorch_model.bin", "PK", "PyTorch", "save_pretrained"},
        {"pytorch_model-00001-of-00002.bin", "PK", "PyTorch", "safe_serialization"},
        {"best.pt", "PK", "PyTorch", "save_pretrained"},
        {"model-00001-of-00002.safetensors", "x", "no model.safetensors.index.json", "the rest"},
        {"model-q4.gguf", "GGUF", "GGUF", "name that file"},
        {"model.onnx", "x", "ONNX", "weft.from_onnx"},
        {"tf_model.h5", "x", "TensorFlow", "save_pretrained"},
        {"adapter_model.safetensors", "x", "an adapter", "merge_and_unload"},
    };
    expect_each_named(true, rows, sizeof rows / sizeof rows[0]);
}

PLACE_TEST(what_is_no_model_folder_is_named_as_what_it_is, place) {
    static const struct other_file rows[] = {
        {"config.json", "version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer",
         "git lfs pull"},
        {"config.json", "<html>", "HTML", "login"},
        {"model-q4.gguf", "GGUF", "the version", "until the file's end"},
        {"model.onnx", "x", "ONNX", "weft.from_onnx"},
        {"adapter_config.json", "{}", "an adapter", "merge_and_unload"},
    };
    expect_each_named(false, rows, sizeof rows / sizeof rows[0]);
    const char *folder = folder_with(false, "model.gguf", "GGUF");
    expect_refused(4, weft_test_text("inspect %s/model.gguf", folder), "the file's end", NULL);
    folder = folder_with(false, "net.onnx", "\x08\x07");
    expect_refused(4, weft_test_text("inspect %s/net.onnx", folder), "weft.from_onnx", NULL);
    expect_refused(4, weft_test_text("run %s/net.onnx --text a", folder),
                   "python3 -m weft.onnx FILE --out FOLDER", NULL);
    expect_refused(2, weft_test_text("run %s/net.onnx", folder), "net.onnx --out FOLDER", NULL);
    folder = folder_with(false, "notes.txt", "x");
    expect_refused(4, weft_test_text("inspect %s/notes.txt", folder), "this is a file", NULL);
}

WEFT_TEST(names_of_the_hub_are_told_how_to_be_fetched) {
    expect_refused(4, "inspect some-nobody/there_is-no.such-folder", "Hugging Face Hub",
                   "hf download some-nobody/there_is-no.such-folder", NULL);
    struct outcome outcome = expect_weft(4, "inspect ./some-nobody/no-folder");
    assert_null(strstr(outcome.err, "Hub"));
    outcome_clear(&outcome);
}

/* ---- standard streams and limits ---- */

#define TEXT_MODEL WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer"

/* A file of the command's own would have been read in its place. */
WEFT_TEST(missing_standard_streams_are_no_files) {
    expect_refused(4, "run " TEXT_MODEL " --file - <&-", "standard input", "cannot read", NULL);
    expect_refused(4, "run " TEXT_MODEL " --lines - <&-", "standard input", "cannot read", NULL);
    expect_says(4, "run " TEXT_MODEL " --text a >&-", "standard output could not be written", NULL);
    struct outcome outcome = expect_weft(4, "run " TEXT_MODEL " --file - <&- >&- 2>&-");
    outcome_clear(&outcome);
}

PLACE_TEST(a_limit_of_files_is_an_error_that_names_the_file, place) {
    char *out = weft_test_path(place->folder, "model");
    char *line = weft_test_text("quantize " TEXT_MODEL " %s", out);
    struct outcome outcome = run_weft("ulimit -f 16;", line);
    assert_int_equal(outcome.exit_code, 4);
    expect_part(&outcome, outcome.err, "model.safetensors: cannot write: File too large");
    outcome_clear(&outcome);
    assert_int_equal(weft_test_entries(out), 0);
    line = weft_test_text("inspect " TEXT_MODEL " --json > %s/report", place->folder);
    outcome = run_weft("ulimit -f 1;", line);
    assert_int_equal(outcome.exit_code, 4);
    expect_part(&outcome, outcome.err, "standard output could not be written");
    outcome_clear(&outcome);
}

PLACE_TEST(an_output_keeps_the_rights_of_what_it_replaces, place) {
    char *out = weft_test_write(place->folder, "receipt.json", "", 0);
    assert_int_equal(chmod(out, 0600), 0);
    struct outcome outcome = expect_weft(0, "run " TEXT_MODEL " --text a --receipt %s", out);
    outcome_clear(&outcome);
    struct stat about;
    assert_int_equal(stat(out, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_true(about.st_size > 0);
}
