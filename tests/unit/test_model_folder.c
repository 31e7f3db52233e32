/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Model folders that others write, too: savers at the same time, savers that end, and links that lead out. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <sys/stat.h>
#include <weft/model.h>

#include "core/system/beside.h"
#include "core/system/file.h"
#include "graph/graph.h"
#include "support_child.h"

/* ---- saving ---- */

enum { ROWS = 512, COLUMNS = 64, ROUNDS = 60 };

/* A graph whose config says the same as its weights: the output is called "y1" where all weights are 1. */
static weft_graph *graph_of(int number) {
    static float data[ROWS * COLUMNS];
    char name[8];
    weft_graph *graph = NULL;
    weft_tensor x, w;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        data[i] = (float)number;
    }
    snprintf(name, sizeof name, "y%d", number);
    const bool made =
        weft_graph_create(&graph, NULL) == WEFT_OK &&
        weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, COLUMNS)) == WEFT_OK &&
        weft_graph_constant(&w, graph, "w", WEFT_F32, weft_shape_of(ROWS, COLUMNS), data) ==
            WEFT_OK &&
        weft_graph_matmul(&x, graph, x, w, &(weft_matmul_params){.transpose_b = true}) == WEFT_OK &&
        weft_graph_output(graph, name, x) == WEFT_OK;
    return made ? graph : NULL;
}

/* The number that a folder's config and weights agree on; 0 where there is no model, or it changes; -1 for a mixture. */
static int number_in(const char *folder) {
    weft_model *model = NULL;
    weft_graph *graph = NULL;
    float value = 0.0F;
    int number = 0;
    if (weft_model_load(&model, folder, NULL) == WEFT_OK &&
        weft_model_program_graph(&graph, model, NULL, 0) == WEFT_OK &&
        weft_weight_read(graph->values[graph->nodes[0].input[1]].weight, 0, 1, &value) == WEFT_OK) {
        number = graph->results[0].name[1] - '0';
        number = (float)number == value ? number : -1;
    }
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
    return number;
}

struct saver {
    const char *folder;
    int number, rounds;
};

static bool save_often(void *user) {
    const struct saver *saver = user;
    weft_graph *graph = graph_of(saver->number);
    WEFT_CHILD_EXPECT(graph);
    for (int i = 0; i < saver->rounds; i++) {
        WEFT_CHILD_EXPECT(weft_graph_save(graph, saver->folder) == WEFT_OK);
    }
    weft_graph_destroy(&graph);
    return true;
}

static pid_t start_saver(struct saver saver) {
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(WEFT_CHILD_PATIENCE_S);
        _exit(save_often(&saver) ? 0 : 1);
    }
    assert_true(child > 0);
    return child;
}

WEFT_TEST(savers_at_the_same_time_mix_nothing) {
    char *folder = weft_test_folder();
    int running = 2, seen[3] = {0};
    for (int number = 1; number <= 2; number++) {
        (void)start_saver((struct saver){folder, number, ROUNDS});
    }
    while (running > 0) {
        int status = 0;
        const int number = number_in(folder);
        assert_true(number >= 0);
        seen[number]++;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            assert_int_equal(status, 0);
            running--;
        }
    }
    assert_true(number_in(folder) > 0);
    assert_true(seen[1] + seen[2] > 0);
    assert_int_equal(weft_test_entries(folder), 2);
}

WEFT_TEST(what_ended_savers_left_goes_with_the_next) {
    char *folder = weft_test_folder();
    for (int i = 0; i < 20; i++) {
        int status = 0;
        const pid_t child = start_saver((struct saver){folder, 1 + i % 2, 1000000});
        usleep((useconds_t)(2000 + i * 700));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(number_in(folder) >= 0);
    }
    struct saver last = {folder, 2, 1};
    weft_test_in_child(save_often, &last);
    assert_int_equal(number_in(folder), 2);
    assert_int_equal(weft_test_entries(folder), 2);
}

WEFT_TEST_ON_HOST(a_lock_that_somebody_has_is_waited_for, test) {
    char *folder = weft_test_folder();
    int lock = -1, status = 0;
    char *name = weft_test_path(folder, ".weft-save.lock");
    assert_int_equal(weft_beside_lock(&lock, name), 0);
    const pid_t child = start_saver((struct saver){folder, 1, 1});
    usleep(300000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    assert_int_equal(number_in(folder), 0);
    weft_beside_unlock(lock, name);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(number_in(folder), 1);
    assert_int_equal(weft_test_entries(folder), 2);
}

/* ---- links ---- */

#define HASH "0123456789abcdef0123456789abcdef01234567"

static char *make_folder(const char *folder, const char *name) {
    char *path = weft_test_path(folder, name);
    assert_ok(weft_make_folders(path, NULL));
    return path;
}

static char *make_model(const char *folder, const char *name) {
    char *path = make_folder(folder, name);
    struct saver saver = {path, 1, 1};
    assert_true(save_often(&saver));
    return path;
}

static void link_to(const char *target, const char *folder, const char *name) {
    assert_int_equal(symlink(target, weft_test_path(folder, name)), 0);
}

static bool is_there(const char *folder, const char *name) {
    struct stat about;
    return lstat(weft_test_path(folder, name), &about) == 0;
}

static weft_status quantize(const char *model, const char *out, struct weft_test_host *test) {
    return weft_model_quantize(NULL, model, out, WEFT_QUANTIZE_I8, &test->host);
}

WEFT_TEST_ON_HOST(links_out_of_the_folder_are_refused, test) {
    static const char *const ways[][2] = {{"id.txt", "notes.txt"}, {"", "docs"}, {"..", "above"}};
    char *folder = weft_test_folder();
    char *private = make_folder(folder, "model-private"); /* begins as the model's own name */
    weft_test_write(private, "id.txt", "private key", 11);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char *model = make_model(folder, "model");
        char *out = weft_test_path(folder, "out");
        link_to(weft_test_path(private, ways[i][0]), model, ways[i][1]);
        weft_test_host_reset(test);
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, quantize(model, out, test),
                            weft_test_path(model, ways[i][1]), "found a link out of it");
        assert_int_equal(is_there(folder, "out"), i > 0); /* of the round before */
        assert_int_equal(remove(weft_test_path(model, ways[i][1])), 0);
        assert_ok(quantize(model, out, test));
        assert_int_equal(number_in(out), 1);
    }
}

WEFT_TEST_ON_HOST(links_within_the_folder_are_followed, test) {
    char *folder = weft_test_folder();
    char *model = make_model(folder, "model");
    char *inner = make_folder(model, "inner");
    weft_test_write(inner, "notes.txt", "kept", 4);
    link_to("inner/notes.txt", model, "notes.txt");
    link_to("nowhere", model, "gone.txt");
    link_to("inner", model, "other");
    link_to("/etc", model, ".hidden");
    link_to("/etc/passwd", model, "passwd"); /* of a name that is not copied */
    link_to("model", folder, "link");
    char *out = weft_test_path(folder, "out");
    assert_ok(quantize(weft_test_path(folder, "link"), out, test));
    assert_true(is_there(out, "notes.txt") && is_there(out, "inner/notes.txt") &&
                is_there(out, "other/notes.txt"));
    assert_false(is_there(out, "gone.txt") || is_there(out, ".hidden") || is_there(out, "passwd"));
}

/* The layout of the Hub's cache: models--NAME/snapshots/REVISION/FILE -> ../../blobs/HASH. */
static char *make_hub(const char *folder) {
    char *hub = make_folder(folder, "models--a--b");
    char *blobs = make_folder(hub, "blobs");
    make_folder(hub, "snapshots");
    char *snapshot = make_model(hub, "snapshots/abc");
    static const char *const names[] = {"config.json", "model.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        char blob[64], target[96];
        snprintf(blob, sizeof blob, "%s%zu", HASH, i);
        snprintf(target, sizeof target, "../../blobs/%s", blob);
        assert_int_equal(rename(weft_test_path(snapshot, names[i]), weft_test_path(blobs, blob)),
                         0);
        link_to(target, snapshot, names[i]);
    }
    weft_test_write(blobs, HASH "a", "text", 4);
    link_to("../../blobs/" HASH "a", snapshot, "README.md");
    make_folder(snapshot, "1_Pooling");
    link_to("../../../blobs/" HASH "a", snapshot, "1_Pooling/notes.txt");
    return hub;
}

WEFT_TEST_ON_HOST(the_hubs_cache_is_a_model_folder, test) {
    char *folder = weft_test_folder();
    char *hub = make_hub(folder);
    char *snapshot = weft_test_path(hub, "snapshots/abc");
    char *out = weft_test_path(folder, "out");
    assert_int_equal(number_in(snapshot), 1);
    assert_ok(quantize(snapshot, out, test));
    assert_int_equal(number_in(out), 1);
    assert_true(is_there(out, "README.md") && is_there(out, "1_Pooling/notes.txt"));

    /* What only looks so: another name than a hash, another folder, blobs that are a link themselves. */
    weft_test_write(weft_test_path(hub, "blobs"), "id.txt", "private", 7);
    link_to("../../blobs/id.txt", snapshot, "id.txt");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, quantize(snapshot, out, test), "id.txt");
    assert_int_equal(remove(weft_test_path(snapshot, "id.txt")), 0);
    weft_test_write(make_folder(hub, "refs"), HASH, "private", 7);
    link_to("../../refs/" HASH, snapshot, "ref.txt");
    weft_test_host_reset(test);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, quantize(snapshot, out, test), "ref.txt");
    assert_int_equal(remove(weft_test_path(snapshot, "ref.txt")), 0);
    assert_int_equal(rename(weft_test_path(hub, "blobs"), weft_test_path(folder, "blobs")), 0);
    link_to("../blobs", hub, "blobs");
    weft_test_host_reset(test);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, quantize(snapshot, out, test), "found a link out");
}
