/* SPDX-License-Identifier: MIT */
/*
 * Programs over a file with some tensors: loaded, built, planned and run at three sizes, between pages that nobody may touch. Bytes
 * that begin with { are a config.json; others choose one by a grammar (program_grammar.h), with a task or without.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <weft/device.h>
#include <weft/model.h>

#include "fuzz.h"
#include "model/network/architecture.h"
#include "program_grammar.h"

#define MEMORY       ((size_t)4 << 20) /* of a config that is given as it is */
#define SIZES        3
#define MOST_BYTES   ((uint64_t)64 << 20) /* of a plan, and of its inputs and outputs */
#define MOST_PORTS   16U
#define MOST_SECONDS 1.0

/*
 * What a program's load may take: so many times the file, and the constants that it describes (WEFT_PROGRAM_MAX_CONSTANT), twice while
 * they are copied.
 */
#define LOAD_TIMES 64
#define LOAD_BYTES ((size_t)160 << 20)

static double seconds(void) {
    struct timespec now;
    fuzz_expect(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- memory that ends where the next page begins, which nobody may touch ---- */

struct guarded {
    uint8_t *pages;
    size_t size; /* of all pages */
    void *data;
};

static struct guarded take(uint64_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = ((size_t)bytes + page - 1) / page * page;
    struct guarded taken = {.size = inner + 2 * page};
    void *pages = mmap(NULL, taken.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fuzz_expect(pages != MAP_FAILED);
    taken.pages = pages;
    fuzz_expect(inner == 0 || mprotect(taken.pages + page, inner, PROT_READ | PROT_WRITE) == 0);
    taken.data = taken.pages + page + (inner - (size_t)bytes);
    return taken;
}

static void drop(struct guarded *taken) {
    fuzz_expect(munmap(taken->pages, taken->size) == 0);
}

/* ---- running ---- */

struct run {
    weft_model *model;
    weft_device *device;
    struct fuzz_choices *choices;
    uint32_t batch, length; /* of a program with a task; else 0 */
};

static void fill(const weft_port_info *port, void *data, struct fuzz_choices *choices) {
    static const uint32_t odd[] = {0, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fc00000, 8};
    const uint32_t kind = fuzz_choose(choices, 4);
    uint32_t state = fuzz_choose(choices, 256) + 1;
    uint32_t *words = data;
    for (uint64_t i = 0; i < port->bytes / sizeof *words; i++) {
        state = state * 1664525U + 1013904223U;
        const float real = (float)(state >> 8) / (float)(1 << 23) - 1.0F;
        const bool is_length = strcmp(port->name, "lengths") == 0;
        words[i] = is_length ? 1 : (state >> 8) % 7;
        if (kind == 0) {
            words[i] = odd[(state >> 8) % (sizeof odd / sizeof *odd)];
        } else if (port->dtype == WEFT_F32) {
            memcpy(&words[i], &real, sizeof real);
        }
    }
}

/* What reads outputs has the shape from the model. */
static void read_entities(const struct run *run, const weft_port_info *port, const float *output) {
    weft_model_info info;
    fuzz_expect(weft_model_get_info(run->model, &info) == WEFT_OK);
    fuzz_expect(
        weft_shape_equal(port->shape, weft_model_output_shape(&info, run->batch, run->length)));
    if (info.task != WEFT_TASK_CLASSIFY_TOKENS) {
        return;
    }
    uint32_t *places = calloc(run->length, sizeof *places);
    uint8_t *sequences = calloc(run->length, 1);
    fuzz_expect(places && sequences);
    const weft_encoding encoding = {
        .begins = places, .ends = places, .sequences = sequences, .count = run->length};
    weft_text_span *spans = NULL;
    uint32_t count = 0;
    fuzz_expect(weft_model_find_entities(&spans, &count, run->model, &encoding, output) == WEFT_OK);
    for (uint32_t i = 0; i < count; i++) {
        fuzz_expect(spans[i].label != NULL);
    }
    weft_spans_free(run->model, &spans);
    free(places);
    free(sequences);
}

static void execute(const struct run *run, weft_plan *plan) {
    weft_host_tensor tensors[MOST_PORTS];
    weft_port_info ports[MOST_PORTS];
    struct guarded memory[MOST_PORTS];
    uint64_t all = 0;
    uint32_t count = 0;
    while (count < MOST_PORTS && weft_plan_get_port(plan, count, &ports[count]) == WEFT_OK) {
        all += ports[count++].bytes;
    }
    if (all > MOST_BYTES) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memory[i] = take(ports[i].bytes);
        tensors[i] = (weft_host_tensor){ports[i].name, memory[i].data, ports[i].bytes};
        fill(&ports[i], memory[i].data, run->choices);
    }
    const weft_status status = weft_plan_execute(plan, tensors, count);
    for (uint32_t i = 0; i < count; i++) {
        if (status == WEFT_OK && ports[i].is_output && run->batch > 0) {
            read_entities(run, &ports[i], memory[i].data);
        }
        drop(&memory[i]);
    }
}

static uint32_t choose_value(const weft_symbol_info *info, uint32_t size,
                             struct fuzz_choices *choices) {
    const uint32_t room = info->maximum - info->minimum < 69 ? info->maximum - info->minimum : 69;
    return size == 0   ? info->example
           : size == 1 ? info->minimum
                       : info->minimum + fuzz_choose(choices, room + 1);
}

static weft_status compile(weft_plan **plan, struct run *run, const weft_symbol *symbols,
                           uint32_t count) {
    weft_model_info info;
    fuzz_expect(weft_model_get_info(run->model, &info) == WEFT_OK);
    if (info.task == WEFT_TASK_PROGRAM) {
        return weft_model_compile_program(plan, run->model, run->device, symbols, count, NULL);
    }
    const bool is_batch = strcmp(symbols[0].name, "batch") == 0;
    run->batch = symbols[is_batch ? 0 : 1].value;
    run->length = symbols[is_batch ? 1 : 0].value;
    return weft_model_compile_shape(
        plan, run->model, run->device,
        weft_model_shape(.batch = run->batch, .length = run->length,
                         .with_types = info.takes_types && fuzz_choose(run->choices, 2),
                         .with_lengths = info.takes_lengths && fuzz_choose(run->choices, 2)),
        NULL);
}

/* Once where every symbol is the example, the smallest, and anything. */
static void run_sizes(weft_model *model, struct fuzz_choices *choices) {
    const bool processor = fuzz_choose(choices, 32) == 1; /* its kernels take longest */
    for (uint32_t size = 0; size < SIZES; size++) {
        struct run run = {
            .model = model, .device = fuzz_device(processor, 4 * MOST_BYTES), .choices = choices};
        weft_symbol symbols[16];
        weft_symbol_info info;
        uint32_t count = 0;
        while (count < 16 && weft_model_get_symbol(model, count, &info) == WEFT_OK) {
            symbols[count++] = (weft_symbol){info.name, choose_value(&info, size, choices)};
        }
        weft_plan *plan = NULL;
        const weft_status status = compile(&plan, &run, symbols, count);
        fuzz_expect((status == WEFT_OK) == (plan != NULL));
        if (plan) {
            execute(&run, plan);
        }
        weft_plan_destroy(&plan);
    }
}

/* ---- loading ---- */

/* Ports of sound shapes. */
static void look(const weft_model *model) {
    weft_model_port_info port;
    uint32_t outputs = 0;
    for (uint32_t i = 0; weft_model_get_port(model, i, &port) == WEFT_OK; i++) {
        fuzz_expect(port.name[0] != '\0' && port.example.rank <= WEFT_MAX_RANK);
        for (uint32_t axis = 0; axis < port.example.rank; axis++) {
            fuzz_expect(port.example.dim[axis] > 0 && (port.is_output || port.axes[axis]));
        }
        outputs += port.is_output;
    }
    fuzz_expect(outputs > 0);
}

static weft_status load(weft_model **model, const char *config, const weft_host *host) {
    static uint8_t *weights;
    static size_t size;
    if (!weights) {
        weights = fuzz_program_weights(&size);
    }
    const double begin = seconds();
    const weft_model_memory memory = {
        .config_json = config, .weights = weights, .weights_size = size};
    const weft_status status = weft_model_load_memory(model, &memory, host);
    fuzz_expect((status == WEFT_OK) == (*model != NULL));
    fuzz_expect(seconds() - begin < MOST_SECONDS);
    return status;
}

static size_t load_limit(const char *config) {
    return LOAD_BYTES + strlen(config) * LOAD_TIMES;
}

/* With as much memory as the file pays for, no load runs out of it. */
static bool accepts(void *user, const char *config) {
    (void)user;
    size_t left = 0;
    const size_t limit = load_limit(config);
    const weft_host host = fuzz_small_host(&left, limit);
    weft_model *model = NULL;
    const weft_status status = load(&model, config, &host);
    fuzz_expect(status != WEFT_OUT_OF_HOST_MEMORY);
    weft_model_destroy(&model);
    fuzz_expect(left == limit); /* nothing was lost on the way */
    return status == WEFT_OK;
}

static void fuzz_config(const char *config, size_t limit, struct fuzz_choices *choices) {
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, limit);
    weft_model *model = NULL;
    if (load(&model, config, &host) == WEFT_OK) {
        weft_model_info info;
        if (weft_model_get_info(model, &info) == WEFT_OK &&
            strcmp(info.architecture, "program") == 0) {
            look(model);
            run_sizes(model, choices);
        }
    }
    weft_model_destroy(&model);
    fuzz_expect(left == limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_choices choices = {.data = data, .size = size};
    if (size > 0 && data[0] == '{') {
        char *text = malloc(size + 1);
        fuzz_expect(text != NULL);
        memcpy(text, data, size);
        text[size] = '\0';
        fuzz_config(text, MEMORY, &choices);
        free(text);
        return 0;
    }
    char *config = fuzz_program_make(&choices, accepts, NULL);
    fuzz_expect(config != NULL);
    if (getenv("WEFT_FUZZ_SHOW")) {
        fprintf(stderr, "%s\n", config);
    }
    fuzz_config(config, load_limit(config), &choices);
    free(config);
    return 0;
}
