/* SPDX-License-Identifier: MIT */
/*
 * A command that SIGTERM or Ctrl-C ends at random moments: whenever it looks whether to stop, from loading to writing, is one. It
 * runs in a child of the test's process, where memory that nobody has written holds a pattern. For one file of a program.
 */
#ifndef WEFT_TESTS_CLI_INTERRUPT_H
#define WEFT_TESTS_CLI_INTERRUPT_H

#ifndef _DEFAULT_SOURCE
#error "_DEFAULT_SOURCE must be defined before all headers: MAP_ANONYMOUS"
#endif
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/stop.h"
#include "cli/task_models.h"

int weft_test_command(int argc, char **argv); /* main of api/cli/main.c */

enum { MOMENTS = 20, MOST_ARGUMENTS = 24, STOPPED = 128 };

static uint64_t seed;
static uint32_t drawn;

/* From 1 to `most`. */
static inline uint64_t draw(uint64_t most) {
    const char *given = getenv("WEFT_TEST_SEED");
    if (seed == 0) {
        seed = given ? strtoull(given, NULL, 10) : (uint64_t)getpid() * 2654435761U + 1;
        print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return 1 + weft_philox_u32(seed, 0, drawn++) % most;
}

/* ---- a command in a child ---- */

struct run {
    char *folder, *out, *err; /* what it said, in malloc's memory */
    int code;
    int stop;      /* the signal that came, if one did */
    int fine_code; /* what the command ends with when it has done all */
};

/* Made by the parent before its first child. */
static inline const char *cache_folder(void) {
    static char folder[1024];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s", weft_test_folder());
    }
    return folder;
}

static inline void run_child(const char *folder, const char *const *arguments, uint64_t look,
                             int stop, uint64_t *looks) {
    char *argv[MOST_ARGUMENTS + 2] = {(char *)(uintptr_t) "weft"};
    int argc = 1;
    for (; arguments[argc - 1] && argc <= MOST_ARGUMENTS; argc++) {
        argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
    }
    const int out = open(weft_test_path(folder, "stdout"), O_CREAT | O_WRONLY, 0600);
    const int err = open(weft_test_path(folder, "stderr"), O_CREAT | O_WRONLY, 0600);
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || chdir(folder) != 0) {
        _exit(99);
    }
    /* The processor device, whatever else there is, with kernels that are compiled once for all children. */
    if (setenv("VK_DRIVER_FILES", "/dev/null", 1) != 0 ||
        setenv("XDG_CACHE_HOME", cache_folder(), 1) != 0) {
        _exit(99);
    }
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5A);
#endif
    weft_cli_stop_at(look, stop);
    const int code = weft_test_command(argc, argv);
    *looks = weft_cli_stop_looks();
    fflush(NULL);
    _exit(code);
}

/* In that folder; SIGTERM or SIGINT, by turns, comes at the `look`-th look whether to stop. *looks is how many there were. */
static inline struct run run_in(char *folder, const char *const *arguments, uint64_t look,
                                uint64_t *looks) {
    uint64_t *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    const int stop = drawn % 2 == 0 ? SIGTERM : SIGINT;
    size_t size = 0;
    int status = 0;
    (void)cache_folder();
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_child(folder, arguments, look, stop, shared);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    char *out = weft_test_path(folder, "stdout");
    char *err = weft_test_path(folder, "stderr");
    struct run run = {.folder = folder,
                      .out = (char *)weft_test_read(out, &size),
                      .err = (char *)weft_test_read(err, &size),
                      .stop = stop};
    if (!WIFEXITED(status)) {
        fail_msg("%s: status %d at look %llu: %s", arguments[0], status, (unsigned long long)look,
                 run.err);
    }
    run.code = WEXITSTATUS(status);
    *looks = *shared;
    assert_int_equal(munmap(shared, sizeof *shared), 0);
    assert_int_equal(unlink(out), 0);
    assert_int_equal(unlink(err), 0);
    return run;
}

static inline void clear(struct run *run) {
    free(run->out);
    free(run->err);
}

static inline bool was_stopped(const struct run *run) {
    const int stopped = STOPPED + run->stop;
    if (run->code != 0 && run->code != run->fine_code && run->code != stopped) {
        fail_msg("exit code %d; it said:\n%s", run->code, run->err);
    }
    if (run->code == stopped && strstr(run->err, "error:")) {
        fail_msg("it was stopped, and said:\n%s", run->err);
    }
    return run->code == stopped;
}

static inline json_t *report_of(const struct run *run) {
    json_error_t error;
    json_t *report = json_loads(run->out, JSON_REJECT_DUPLICATES, &error);
    if (!report) {
        fail_msg("no JSON: %s\n%s", error.text, run->out);
    }
    return report;
}

/* The field of a report, or null of one that says nothing but that the command was stopped. */
static inline json_t *part(const json_t *report, const char *name) {
    return json_object_get(report, name);
}

/* ---- each command, at many moments ---- */

/* Looks at what a run left, beside what the uninterrupted one did. */
typedef void check(const struct run *whole, const struct run *run);

static inline void expect_report(const struct run *run) {
    if (run->out[0] == '{' && strchr(run->out, '\n') && run->out[1] == '\n') {
        json_t *report = report_of(run);
        assert_int_equal(json_is_true(part(report, "stopped")), was_stopped(run));
        json_decref(report);
    }
}

/* From each part of the time one moment, so that loading and tokenizing have theirs. `fine_code`: as struct run's. */
static inline void interrupt_with(const char *const *arguments, int fine_code, check *look_at) {
    uint64_t looks = 0;
    uint64_t ignored = 0;
    uint32_t stopped = 0;
    struct run whole = run_in(weft_test_folder(), arguments, 0, &looks);
    if (whole.code != 0 && whole.code != fine_code) {
        fail_msg("%s: exit code %d: %s", arguments[0], whole.code, whole.err);
    }
    assert_true(looks > 0);
    for (uint64_t i = 0; i < MOMENTS; i++) {
        const uint64_t look = i * looks / MOMENTS + draw((looks + MOMENTS - 1) / MOMENTS);
        struct run run = run_in(weft_test_folder(), arguments, look, &ignored);
        run.fine_code = fine_code;
        stopped += was_stopped(&run);
        expect_report(&run);
        look_at(&whole, &run);
        if (!was_stopped(&run)) {
            assert_int_equal(weft_test_entries(run.folder), weft_test_entries(whole.folder));
        }
        clear(&run);
    }
    print_message("%s: %llu looks, %u of %d stopped\n", arguments[0], (unsigned long long)looks,
                  stopped, MOMENTS);
    assert_true(stopped > 0);
    clear(&whole);
}

static inline void interrupt(const char *const *arguments, check *look_at) {
    interrupt_with(arguments, 0, look_at);
}

#endif
