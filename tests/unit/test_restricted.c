/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* The processor device in processes that may do little: execute what they have written, start threads, have large stacks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include <weft/external.h>

#include "support_child.h"
#include "support_graph.h"

#include "jobs/thread.h"
#include "native/kernel.h"
#include "shader/glsl.h"

#ifdef __linux__

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1UL
#endif

enum { N = 64, COUNT = N * N };

static float x[COUNT], expected[COUNT];

/* Without assertions: also for children. */
static weft_status run(float *y, weft_device *device) {
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof x}};
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor t = {0};
    weft_status status = weft_graph_create(&graph, NULL);
    status = status ? status : weft_graph_input(&t, graph, "x", WEFT_F32, weft_shape_of(1, N, N));
    status = status ? status : weft_graph_softmax(&t, graph, t);
    status = status ? status : weft_graph_output(graph, "y", t);
    status = status ? status : weft_plan_compile(&plan, device, graph, NULL);
    status = status ? status : weft_plan_execute(plan, tensors, 2);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return status;
}

static weft_status open_and_run(float *y, struct weft_test_host *host, const char *select) {
    weft_device *device = NULL;
    weft_status status = weft_device_open(
        &device, weft_device_params(.host = host->host, .select = select, .cache_dir = ""));
    status = status ? status : run(y, device);
    weft_device_destroy(&device);
    return status;
}

/* The processor is the last device. */
static bool lists(struct weft_test_host *host, bool usable, const char *reason) {
    weft_device_info infos[16];
    uint32_t count = sizeof infos / sizeof infos[0];
    WEFT_CHILD_EXPECT(weft_device_list(infos, &count, &host->host) == WEFT_OK);
    WEFT_CHILD_EXPECT(count > 0 && infos[count - 1].type == WEFT_DEVICE_PROCESSOR);
    WEFT_CHILD_EXPECT(infos[count - 1].usable == usable && infos[count - 1].compiles == usable);
    WEFT_CHILD_EXPECT(strstr(infos[count - 1].reason, reason) != NULL);
    /* Drivers that compute on the processor write their code where they execute it, and crash. */
    for (uint32_t i = 0; i + 1 < count; i++) {
        WEFT_CHILD_EXPECT(infos[i].type != WEFT_DEVICE_SOFTWARE || !infos[i].usable);
    }
    return true;
}

static bool works(struct weft_test_host *host) {
    float y[COUNT] = {0};
    WEFT_CHILD_EXPECT(lists(host, true, ""));
    WEFT_CHILD_EXPECT(open_and_run(y, host, "processor") == WEFT_OK);
    WEFT_CHILD_EXPECT(memcmp(y, expected, sizeof y) == 0);
    WEFT_CHILD_EXPECT(open_and_run(y, host, NULL) == WEFT_OK);
    return true;
}

/* ---- what forbids it ---- */

static void must(bool holds) {
    if (!holds) {
        print_message("this system has no such restriction (errno %d)\n", errno);
        _exit(WEFT_CHILD_SKIPS);
    }
}

/* What was written cannot be executed afterwards: else the test would say nothing. */
static bool is_forbidden(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0;
}

#define REFUSE          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define LOAD(field)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(call, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, n)

/* As MemoryDenyWriteExecute of systemd; and no memfd_create, where that is asked for. */
static void filter_calls(bool files) {
    struct sock_filter filter[] = {
        LOAD(nr),
        UNLESS(files ? SYS_memfd_create : UINT32_MAX, 1),
        REFUSE,
        UNLESS(SYS_mprotect, 3),
        LOAD(args[2]), /* the lower half, on machines with the lower byte first */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        REFUSE,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static bool works_under_mdwe(void *host) {
    must(prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0);
    WEFT_CHILD_EXPECT(is_forbidden());
    return works(host);
}

static bool works_under_a_filter(void *host) {
    filter_calls(false);
    WEFT_CHILD_EXPECT(is_forbidden());
    return works(host);
}

static bool is_refused_without_files(void *host) {
    float y[COUNT];
    filter_calls(true);
    WEFT_CHILD_EXPECT(is_forbidden());
    WEFT_CHILD_EXPECT(lists(host, false, "execute"));
    WEFT_CHILD_EXPECT(open_and_run(y, host, "processor") == WEFT_UNSUPPORTED);
    WEFT_CHILD_EXPECT(weft_test_log_has(host, "execute"));
    /* Of the devices that tests have, all compute on the processor. */
    WEFT_CHILD_EXPECT(open_and_run(y, host, NULL) == WEFT_NO_DEVICE);
    return true;
}

static void check(struct weft_test_host *host, bool (*in_child)(void *host)) {
    if (!weft_native_can_compile()) {
        skip();
    }
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 17) * 0.125F - 1.0F;
    }
    assert_ok(open_and_run(expected, host, "processor"));
    assert_true(expected[0] > 0.0F && expected[0] < 1.0F);
    weft_test_in_child(in_child, host);
}

WEFT_TEST_ON_HOST(the_processor_works_under_pr_set_mdwe, host) {
    check(host, works_under_mdwe);
}

WEFT_TEST_ON_HOST(the_processor_works_under_memory_deny_write_execute, host) {
    check(host, works_under_a_filter);
}

WEFT_TEST_ON_HOST(where_files_are_forbidden_too_the_processor_is_not_usable, host) {
    check(host, is_refused_without_files);
}

/* ---- files ---- */

/* Memory for others counts as a file: beyond the limit of these the system would end the process. */
static bool shares_no_more_than_a_file_may_have(void *user) {
    struct weft_test_host *host = user;
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = host->host, .select = "processor",
                                                     .cache_dir = "", .threads = 1)) == WEFT_OK);
    must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8192, 8192}) == 0);
    WEFT_CHILD_EXPECT(
        weft_buffer_create_exportable(&buffer, device, 1 << 20, WEFT_EXTERNAL_OPAQUE) ==
        WEFT_OUT_OF_DEVICE_MEMORY);
    WEFT_CHILD_EXPECT(!buffer);
    WEFT_CHILD_EXPECT(weft_buffer_create_exportable(&buffer, device, 4096, WEFT_EXTERNAL_OPAQUE) ==
                      WEFT_OK);
    weft_buffer_destroy(&buffer);
    weft_device_destroy(&device);
    return true;
}

WEFT_TEST_ON_HOST(memory_for_others_heeds_the_limit_of_files, host) {
    check(host, shares_no_more_than_a_file_may_have);
}

/* ---- threads ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which take terabytes */

/* Nobody may have more processes than there are: no thread can be started. */
static bool works_alone(void *user) {
    struct weft_test_host *host = user;
    const struct rlimit limit = {1, 1};
    weft_device *device = NULL;
    float y[COUNT];
    if (setgid(65534) != 0 || setuid(65534) != 0 || setrlimit(RLIMIT_NPROC, &limit) != 0) {
        _exit(WEFT_CHILD_SKIPS); /* not root, or no such user */
    }
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = host->host, .select = "processor",
                                                     .cache_dir = "", .threads = 4)) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_test_log_has(host, "only 1 of 4 threads could be started"));
    WEFT_CHILD_EXPECT(run(y, device) == WEFT_OK);
    WEFT_CHILD_EXPECT(memcmp(y, expected, sizeof y) == 0);
    weft_device_destroy(&device);
    return true;
}

WEFT_TEST_ON_HOST(threads_that_cannot_be_started_are_done_without, host) {
    check(host, works_alone);
}

/* ---- memory that glslang asks for, which is C++ ---- */

struct compilation {
    struct weft_test_host *host;
    weft_device *device;
    const char *text;
    size_t room; /* MiB */
};

/* A shader of many statements, so that its trees take tens of MiB. */
static const char *long_shader(void) {
    enum { STATEMENTS = 20000, SIZE = 64 };
    static const char head[] = "#version 450\nlayout(local_size_x = 1) in;\n"
                               "layout(binding = 0) buffer A { float a[]; };\nvoid main() {\n";
    char *text = weft_test_keep(sizeof head + STATEMENTS * SIZE + 2);
    size_t at = (size_t)sprintf(text, "%s", head);
    for (int i = 0; i < STATEMENTS; i++) {
        at += (size_t)sprintf(text + at, "a[%d] = a[%d] * %d.5 + a[%d];\n", i, i + 1, i, i + 2);
    }
    (void)sprintf(text + at, "}");
    return text;
}

static bool is_compiled_or_refused(void *user) {
    struct compilation *c = user;
    uint32_t *words = NULL;
    size_t size = 0;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    must(file && fscanf(file, "%lu", &pages) == 1);
    (void)fclose(file);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (c->room << 20);
    must(setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) == 0);
    const weft_status status = weft_glsl_compile(&words, &size, c->device, "long.glsl", c->text);
    WEFT_CHILD_EXPECT(status == WEFT_OUT_OF_HOST_MEMORY && !words);
    WEFT_CHILD_EXPECT(weft_test_log_has(c->host, "long.glsl"));
    return true;
}

WEFT_TEST_ON_HOST(what_glslang_throws_is_an_error, host) {
    struct compilation c = {.host = host, .text = long_shader()};
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    assert_ok(weft_device_open(
        &c.device, weft_device_params(.host = host->host, .cache_dir = "", .select = "processor",
                                      .math = WEFT_MATH_FAST, .threads = 1)));
    for (c.room = 1; c.room <= 16; c.room *= 2) {
        weft_test_in_child(is_compiled_or_refused, &c);
    }
    weft_device_destroy(&c.device);
}

#endif

#ifdef __GLIBC__

static void *use_a_mebibyte(void *sum) {
    volatile unsigned char room[1 << 20];
    for (size_t i = 0; i < sizeof room; i += 1024) {
        room[i] = 1;
        *(unsigned *)sum += room[i];
    }
    return NULL;
}

static bool has_room(void *user) {
    pthread_attr_t small;
    pthread_t thread;
    unsigned sum = 0;
    (void)user;
    WEFT_CHILD_EXPECT(pthread_attr_init(&small) == 0);
    WEFT_CHILD_EXPECT(pthread_attr_setstacksize(&small, 64 << 10) == 0);
    WEFT_CHILD_EXPECT(pthread_setattr_default_np(&small) == 0);
    WEFT_CHILD_EXPECT(weft_thread_start(&thread, use_a_mebibyte, &sum));
    WEFT_CHILD_EXPECT(pthread_join(thread, NULL) == 0);
    WEFT_CHILD_EXPECT(sum == 1024);
    return true;
}

/* The system's size is RLIMIT_STACK's, as it was when the program began. */
WEFT_TEST(threads_have_room_where_stacks_are_small) {
    weft_test_in_child(has_room, NULL);
}

#endif

#else

WEFT_TEST(nothing_forbids_it) {
    assert_true(weft_native_can_execute(true));
}

#endif
