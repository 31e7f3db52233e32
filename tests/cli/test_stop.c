/* SPDX-License-Identifier: MIT */
/* weft-test: slow one driver */
/* weft-test: posix */
/* SIGINT and SIGTERM in the middle of every long command: it ends soon, keeps what is done, and leaves nothing else. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/task_models.h"
#include "core/system/clock.h"

#define MODELS WEFT_SOURCE_DIR "/api/examples/models"
#define DATA   WEFT_SOURCE_DIR "/api/examples/data"

static const double most_ms = 300000.0; /* to the end: this machine may be busy */

enum { MOST_ARGUMENTS = 20 };

/* A command that runs, with its standard output and error in files. */
struct running {
    pid_t process;
    char *folder, *out, *err;
};

static struct running start(const char *const *arguments) {
    struct running running = {.folder = weft_test_folder()};
    running.out = weft_test_path(running.folder, "stdout");
    running.err = weft_test_path(running.folder, "stderr");
    const char *argv[MOST_ARGUMENTS + 2] = {weft_command()};
    for (size_t i = 0; arguments[i]; i++) {
        assert_true(i < MOST_ARGUMENTS);
        argv[i + 1] = arguments[i];
    }
    running.process = fork();
    assert_true(running.process >= 0);
    if (running.process == 0) {
        const int out = open(running.out, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        const int err = open(running.err, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        if (out >= 0 && err >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0 &&
            chdir(running.folder) == 0) {
            execv(argv[0], (char *const *)(uintptr_t)argv);
        }
        _exit(99);
    }
    return running;
}

/* Its exit code, or 1000 and the number of a signal that ended it. */
static int wait_for(const struct running *running) {
    const double begin = weft_clock_ms();
    int status = 0;
    while (waitpid(running->process, &status, WNOHANG) == 0) {
        if (weft_clock_ms() - begin > most_ms) {
            kill(running->process, SIGKILL);
            waitpid(running->process, &status, 0);
            fail_msg("it went on for %g s after the signal", most_ms / 1000.0);
        }
        usleep(20000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static char *text_of(const char *path) {
    size_t size = 0;
    return (char *)weft_test_read(path, &size);
}

static json_t *report_in(const char *path) {
    json_error_t error;
    json_t *object = json_load_file(path, 0, &error);
    if (!object) {
        fail_msg("%s, line %d: %s", path, error.line, error.text);
    }
    return object;
}

static void expect_stopped(const struct running *running, int number) {
    const int code = wait_for(running);
    if (code != 128 + number) {
        fail_msg("exit code %d, not %d; it said:\n%s", code, 128 + number, text_of(running->err));
    }
}

/* Standard output and error, and `files` more: no temporary file. */
static void expect_files(const struct running *running, size_t files) {
    assert_int_equal(weft_test_entries(running->folder), 2 + files);
}

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Stops the command later and later, until it has begun with what it keeps: then the file of that name is not empty. */
static struct running stop_in_the_middle(const char *const *arguments, int number,
                                         const char *file) {
    for (useconds_t delay = 500000; delay < 64000000; delay *= 2) {
        const struct running running = start(arguments);
        usleep(delay);
        kill(running.process, number);
        expect_stopped(&running, number);
        const char *path = weft_test_path(running.folder, file);
        char *text = access(path, R_OK) == 0 ? text_of(path) : NULL;
        /* Before there is anything to report, JSON says that alone. */
        const bool begun =
            text && text[0] != '\0' && strcmp(text, "{\n  \"stopped\": true\n}\n") != 0;
        free(text);
        if (begun) {
            return running;
        }
        expect_files(&running, 0);
    }
    fail_msg("nothing is in %s after a minute", file);
    return (struct running){0};
}

/* ---- each command ---- */

static size_t count_status(const json_t *rows, const char *status) {
    size_t count = 0, index = 0;
    const json_t *row = NULL;
    json_array_foreach(rows, index, row) {
        count += strcmp(json_string_value(json_object_get(row, "status")), status) == 0;
    }
    return count;
}

WEFT_TEST(bench_keeps_its_rows) {
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {
            "bench",      "--suite", "ops",      "--out",    "rows.json", "--csv", "rows.csv",
            "--no-cache", "--size",  "smallest", "--rounds", "1",         NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "rows.json");
        json_t *report = report_in(weft_test_path(running.folder, "rows.json"));
        const json_t *rows = json_object_get(report, "rows");
        assert_true(
            json_is_true(json_object_get(json_object_get(report, "environment"), "interrupted")));
        assert_true(json_array_size(rows) > 0);
        assert_true(count_status(rows, "skipped") > 0);
        assert_int_equal(count_status(rows, "error"), 0);
        expect_files(&running, 2);
        json_decref(report);
    }
}

WEFT_TEST(verify_keeps_its_cases) {
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {"verify",   "--json",   "--no-cache",
                                         "--filter", "toeplitz", NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "stdout");
        json_t *report = report_in(running.out);
        assert_true(json_is_true(json_object_get(report, "stopped")));
        assert_int_equal(json_integer_value(json_object_get(report, "failed")), 0);
        assert_true(json_integer_value(json_object_get(report, "skipped")) > 0);
        json_decref(report);
        expect_files(&running, 0);
    }
}

/* So many lines that no machine is through with them before the signal. */
static char *write_many_lines(const char *folder) {
    enum { LINES = 200000, ROOM = 24 };
    char *text = weft_test_keep((size_t)LINES * ROOM + 1);
    size_t size = 0;
    for (int i = 0; i < LINES; i++) {
        size += (size_t)snprintf(text + size, ROOM, "line %d of many\n", i);
    }
    return weft_test_write(folder, "lines.txt", text, size);
}

WEFT_TEST(lines_that_were_run_are_told) {
    const char *lines = write_many_lines(weft_test_folder());
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {"run",    MODELS "/langid", "--lines", lines,
                                         "--json", "--out",          "out.npy", NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "stdout");
        json_t *report = report_in(running.out);
        assert_true(json_is_true(json_object_get(report, "stopped")));
        assert_true(json_array_size(json_object_get(report, "results")) < 200000);
        json_decref(report);
        /* Rows, if the first was among those that were run. */
        expect_files(&running,
                     access(weft_test_path(running.folder, "out.npy"), F_OK) == 0 ? 1 : 0);
    }
}

/* Answers to the first lines, each of them whole. */
WEFT_TEST(answers_that_came_stay) {
    const char *lines = write_many_lines(weft_test_folder());
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {"run", MODELS "/langid", "--lines", lines, "--tsv", NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "stdout");
        char *text = text_of(running.out);
        size_t count = 0;
        for (const char *at = text; *at; at++) {
            count += *at == '\n';
        }
        assert_true(count > 0 && count < 200000);
        assert_int_equal(text[strlen(text) - 1], '\n');
        free(text);
        expect_files(&running, 0);
    }
}

WEFT_TEST(eval_tells_what_was_scored) {
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {"eval",
                                         MODELS "/listops-transformer",
                                         DATA "/listops.npz",
                                         "--batch",
                                         "1",
                                         "--json",
                                         "--out",
                                         "out.npy",
                                         NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "stdout");
        json_t *report = report_in(running.out);
        assert_true(json_is_true(json_object_get(report, "stopped")));
        assert_true(json_integer_value(json_object_get(report, "scored")) <
                    json_integer_value(json_object_get(report, "examples")));
        assert_true(json_integer_value(json_object_get(report, "correct")) <=
                    json_integer_value(json_object_get(report, "scored")));
        json_decref(report);
        /* Rows, if the first was among those that were run. */
        expect_files(&running,
                     access(weft_test_path(running.folder, "out.npy"), F_OK) == 0 ? 1 : 0);
    }
}

WEFT_TEST(generated_text_stays) {
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *const arguments[] = {"generate", MODELS "/text-fmmformer", "--text",
                                         "The ",     "--reevaluate",           NULL};
        const struct running running = stop_in_the_middle(arguments, signals[i], "stdout");
        expect_files(&running, 0);
    }
}

/* coreutils' timeout sends each signal twice. */
WEFT_TEST(a_signal_that_comes_twice_is_one) {
    const char *const arguments[] = {"verify",   "--json",   "--no-cache",
                                     "--filter", "toeplitz", NULL};
    const struct running running = start(arguments);
    usleep(500000);
    kill(running.process, SIGTERM);
    usleep(2000); /* so that both are delivered */
    kill(running.process, SIGTERM);
    expect_stopped(&running, SIGTERM);
}

/* A second signal ends it at once, as if nobody watched. */
WEFT_TEST(a_second_signal_ends_it) {
    const char *const arguments[] = {"generate", MODELS "/text-fmmformer", "--file", "-", NULL};
    int ends[2];
    assert_int_equal(pipe(ends), 0); /* standard input, on which nothing ever comes */
    const int before = dup(0);
    assert_true(dup2(ends[0], 0) == 0);
    const struct running running = start(arguments);
    assert_true(dup2(before, 0) == 0);
    usleep(1000000);
    kill(running.process, SIGTERM);
    usleep(300000);
    kill(running.process, SIGTERM);
    const int code = wait_for(&running);
    assert_true(code == 1000 + SIGTERM || code == 128 + SIGTERM);
    close(ends[0]);
    close(ends[1]);
    close(before);
}
