/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* weft-test: posix */
/* weft_plan_execute on a device that works on the program's memory: where it does so in place, and where it must not. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/host_memory.h"
#include "plan/plan.h"
#include "support_graph.h"

enum { ROWS = 37, COLUMNS = 129, COUNT = ROWS * COLUMNS, BYTES = COUNT * 4 };

/* y = softmax(x), z = x + x */
static weft_plan *compile(struct weft_test_graph *f) {
    weft_tensor y, z;
    weft_plan *plan = NULL;
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(ROWS, COLUMNS));
    assert_ok(weft_graph_softmax(&y, f->graph, x));
    assert_ok(weft_graph_binary(&z, f->graph, WEFT_BINARY_ADD, x, x));
    assert_ok(weft_graph_output(f->graph, "y", y));
    assert_ok(weft_graph_output(f->graph, "z", z));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    return plan;
}

static void run(weft_plan *plan, const float *x, float *y, float *z) {
    assert_ok(weft_plan_execute(
        plan, (weft_host_tensor[]){{"x", (float *)x, BYTES}, {"y", y, BYTES}, {"z", z, BYTES}}, 3));
}

static const struct weft_host_port *port_of(const weft_plan *plan, const char *name) {
    return &plan->host_ports[weft_plan_port_of(plan, name)];
}

struct numbers {
    float *x, *y, *z; /* what is given, and what comes of it */
};

static struct numbers find_numbers(weft_plan *plan) {
    struct numbers n = {.x = weft_test_uniform(COUNT, 7, 1),
                        .y = weft_test_keep(BYTES),
                        .z = weft_test_keep(BYTES)};
    run(plan, n.x, n.y, n.z);
    assert_true(n.z[5] == n.x[5] + n.x[5]);
    return n;
}

WEFT_TEST_ON_GRAPH(outputs_are_not_copied, f) {
    weft_plan *plan = compile(f);
    const struct numbers n = find_numbers(plan);
    if (weft_device_moves_buffers(f->device)) {
        uint8_t *room = port_of(plan, "y")->room;
        memset(room, 0xAB, BYTES);
        run(plan, n.x, n.y, n.z);
        for (size_t i = 0; i < BYTES; i++) {
            assert_int_equal(room[i], 0xAB);
        }
    } else {
        for (uint32_t i = 0; i < plan->port_count; i++) {
            assert_null(plan->host_ports[i].room);
        }
    }
    weft_plan_destroy(&plan);
    free(n.x);
}

/* All is as if inputs were copied first and outputs written last. */
WEFT_TEST_ON_GRAPH(what_is_given_may_overlap, f) {
    static const size_t places[] = {0, 1, 4, 64, 129, 4096};
    weft_plan *plan = compile(f);
    const struct numbers n = find_numbers(plan);
    float *room = weft_test_keep(2 * BYTES + 4);
    float *apart = weft_test_keep(BYTES + 4);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        float *near = room + places[i];
        memcpy(room, n.x, BYTES); /* y behind x's first element */
        run(plan, room, near, apart);
        assert_memory_equal(near, n.y, BYTES);
        assert_memory_equal(apart, n.z, BYTES);
        memcpy(near, n.x, BYTES); /* z before it */
        run(plan, near, apart + 1, room);
        assert_memory_equal(apart + 1, n.y, BYTES);
        assert_memory_equal(room, n.z, BYTES);
    }
    weft_plan_destroy(&plan);
    free(n.x);
}

WEFT_TEST_ON_GRAPH(each_run_has_its_own, f) {
    weft_plan *plan = compile(f);
    const struct numbers n = find_numbers(plan);
    float *other = weft_test_uniform(COUNT, 7, 2);
    float *y = weft_test_keep(BYTES), *z = weft_test_keep(BYTES);
    run(plan, other, y, z);
    assert_memory_not_equal(y, n.y, BYTES);
    memcpy(other, n.x, BYTES);
    memset(n.z, 0, BYTES);
    assert_ok(
        weft_plan_execute(plan, (weft_host_tensor[]){{"x", other, BYTES}, {"y", y, BYTES}}, 2));
    assert_memory_equal(y, n.y, BYTES);
    assert_true(n.z[5] == 0.0F && z[5] != 0.0F); /* what is not listed is written nowhere */
    weft_plan_destroy(&plan);
    free(other);
    free(n.x);
}

/* Whole pages with one more behind them that nobody may touch. */
struct guarded {
    uint8_t *pages;
    size_t size;    /* of the pages before that one */
    float *numbers; /* BYTES that end there, but for an alignment of 16 */
};

static struct guarded guard(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t rounded = (BYTES + 15) / 16 * 16;
    struct guarded made = {.size = (BYTES + page - 1) / page * page};
    made.pages = aligned_alloc(page, made.size + page);
    assert_non_null(made.pages);
    made.numbers = (float *)(void *)(made.pages + made.size - rounded);
    assert_int_equal(mprotect(made.pages + made.size, page, PROT_NONE), 0);
    return made;
}

static void end_guard(struct guarded *guarded) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(mprotect(guarded->pages, guarded->size + page, PROT_READ | PROT_WRITE), 0);
    free(guarded->pages);
}

WEFT_TEST_ON_GRAPH(nothing_beside_it_is_touched, f) {
    weft_plan *plan = compile(f);
    const struct numbers n = find_numbers(plan);
    struct guarded x = guard(), y = guard(), z = guard();
    memcpy(x.numbers, n.x, BYTES);
    assert_int_equal(mprotect(x.pages, x.size, PROT_READ), 0);
    run(plan, x.numbers, y.numbers, z.numbers);
    assert_memory_equal(y.numbers, n.y, BYTES);
    assert_memory_equal(z.numbers, n.z, BYTES);
    end_guard(&x);
    end_guard(&y);
    end_guard(&z);
    weft_plan_destroy(&plan);
    free(n.x);
}
