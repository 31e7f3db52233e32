/* SPDX-License-Identifier: MIT */
/*
 * Null for each pointer of each public function, one at a time, all other objects being alive: the call returns
 * WEFT_INVALID_ARGUMENT, and the message names the parameter; what returns no status returns. The calls are made in a
 * child. Where one crashes it is named, and another child goes on behind it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    weft_device *device;
    weft_graph *graph;
    weft_plan *plan;
    weft_bindings *bindings;
    weft_weight *weight;
    weft_buffer *buffer;
    weft_model *model;
    weft_decoder *decoder;
    weft_generator *generator;
    weft_texts *texts;
    weft_model *speech;
    weft_transcriber *transcriber;
    weft_search *search;
    weft_receipt *receipt;
    weft_proof *proof;
    weft_frame_queue *queue;
    weft_op *op;
    weft_node *node;
    weft_lowering *lowering;
} made;

/* In memory that the child shares: which call it is at, and how many were not as they should be. */
struct progress {
    int call;
    int at;
    int failed;
};

static struct progress *progress;
static int crashes, functions, calls;
static char line[2048]; /* the newest error */

/* The processor device has no semaphores. This stands for one that is not exportable, begins with its device as all do, and
 * comes no further. */
static struct {
    weft_device *device;
    char rest[64];
} semaphore;

static _Alignas(64) char zeros[1 << 16];
static void *addresses[WEFT_NULL_PARAMETERS];
static struct { void *table[64]; } handle;
void *weft_null_handle = &handle;

void weft_null_function(void) {
}

static void keep_line(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level == WEFT_LOG_ERROR) {
        snprintf(line, sizeof line, "%s", message);
    }
}

static const weft_host host = {.log = keep_line};

void *weft_null_object(const char *type) {
    const struct {
        const char *type;
        const void *object;
    } known[] = {{"weft_device", made.device},
                 {"weft_graph", made.graph},
                 {"weft_plan", made.plan},
                 {"weft_bindings", made.bindings},
                 {"weft_weight", made.weight},
                 {"weft_buffer", made.buffer},
                 {"weft_model", made.model},
                 {"weft_decoder", made.decoder},
                 {"weft_generator", made.generator},
                 {"weft_texts", made.texts},
                 {"weft_transcriber", made.transcriber},
                 {"weft_search", made.search},
                 {"weft_receipt", made.receipt},
                 {"weft_proof", made.proof},
                 {"weft_frame_queue", made.queue},
                 {"weft_op", made.op},
                 {"weft_semaphore", &semaphore},
                 {"weft_node", made.node},
                 {"weft_lowering", made.lowering},
                 {"weft_host", &host},
                 {"char", "x"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].type, type) == 0) {
            return (void *)known[i].object;
        }
    }
    return zeros;
}

void *weft_null_address(const char *type, int index) {
    (void)type;
    return &addresses[index];
}

/* ---- one call ---- */

static bool has_word(const char *text, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const bool begins = at == text || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]);
        if (begins && !strchr("abcdefghijklmnopqrstuvwxyz_", at[size] ? at[size] : ' ')) {
            return true;
        }
    }
    return false;
}

static void fail(const char *name, const char *what, int status) {
    progress->failed++;
    fprintf(stderr, "%s, %s null: status %d, message: %s\n", name, what, status, line);
}

/* What earlier calls wrote is gone. */
static void begin_call(void) {
    line[0] = '\0';
    memset(zeros, 0, sizeof zeros);
    memset(addresses, 0, sizeof addresses);
}

static void call_with_null(const struct weft_null_call *call, int null, uint64_t number) {
    begin_call();
    const int status = call->call(null, number);
    const enum weft_null_kind kind = call->parameters[null].kind;
    const char *name = call->parameters[null].name;
    const bool told = has_word(line, name) && strstr(line, "null");
    for (int i = 0; i < WEFT_NULL_PARAMETERS; i++) {
        if (addresses[i] && status > 0) {
            fail(call->name, "an out-parameter was set, with one", status);
        }
    }
    if (status < 0 || (kind == LIST && number == 0)) {
        return; /* it came back */
    }
    if (kind == OPTIONAL ? told && status == WEFT_INVALID_ARGUMENT
                         : status != WEFT_INVALID_ARGUMENT || (kind != OBJECT && !told)) {
        fail(call->name, name, status);
    }
}

/* ---- all calls, in a child ---- */

static const uint64_t numbers[] = {1, 0, UINT64_MAX};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* What may be null is no reason to stop, lists are not as long as all numbers, and in `lower` the first error sticks. */
static int numbers_of(const struct weft_null_call *call, int null) {
    const enum weft_null_kind kind = call->parameters[null].kind;
    if (kind == NO_POINTER) {
        return 0;
    }
    return kind == OPTIONAL || call->where == IN_LOWER ? 1 : NUMBERS;
}

/* Of one function; progress->at says which parameter and number it is at. */
static void call_from(const struct weft_null_call *call, int begin) {
    for (progress->at = begin; progress->at < call->count * NUMBERS; progress->at++) {
        const int null = progress->at / NUMBERS, which = progress->at % NUMBERS;
        if (which < numbers_of(call, null)) {
            call_with_null(call, null, numbers[which]);
        }
    }
}

static void list_from(const struct weft_null_list *list, int begin) {
    for (progress->at = begin; progress->at < NUMBERS; progress->at++) {
        begin_call();
        const uint64_t number = numbers[progress->at];
        if (list->call(-1, number) == WEFT_OK && number > 0) {
            fail(list->name, "a list with a count", WEFT_OK);
        }
    }
}

/* From there on; in `lower` those of one function, as the first error sticks. */
static void calls_from(enum weft_null_where where, int call, int at) {
    for (progress->call = call; weft_null_calls[progress->call].name; progress->call++, at = 0) {
        if (weft_null_calls[progress->call].where == where) {
            alarm(60);
            call_from(&weft_null_calls[progress->call], at);
            if (where == IN_LOWER) {
                progress->call++;
                return;
            }
        }
    }
}

static void lists_from(int list, int at) {
    for (progress->call = list; weft_null_lists[progress->call].name; progress->call++, at = 0) {
        alarm(60);
        list_from(&weft_null_lists[progress->call], at);
    }
}

/* Whether it went to its end; else it was ended at progress->call and progress->at. */
static bool in_child(enum weft_null_where where, bool lists, int call, int at) {
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0) {
        if (lists) {
            lists_from(call, at);
        } else {
            calls_from(where, call, at);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void report_crash(bool lists) {
    const uint64_t number = numbers[progress->at % NUMBERS];
    crashes++;
    if (lists) {
        fprintf(stderr, "CRASH: %s without its list, count %llu\n",
                weft_null_lists[progress->call].name, (unsigned long long)number);
    } else {
        const struct weft_null_call *call = &weft_null_calls[progress->call];
        fprintf(stderr, "CRASH: %s, %s null, numbers %llu\n", call->name,
                call->parameters[progress->at / NUMBERS].name, (unsigned long long)number);
    }
}

static void call_all(enum weft_null_where where, bool lists) {
    int call = 0, at = 0;
    while (lists ? weft_null_lists[call].name : weft_null_calls[call].name) {
        at = 0;
        while (!in_child(where, lists, call, at)) {
            report_crash(lists);
            call = progress->call;
            at = progress->at + 1;
        }
        call = progress->call;
    }
    for (call = 0; !lists && weft_null_calls[call].name; call++) {
        for (int i = 0; weft_null_calls[call].where == where && i < weft_null_calls[call].count;
             i++) {
            calls += numbers_of(&weft_null_calls[call], i);
        }
        functions += weft_null_calls[call].where == where;
    }
}

/* ---- the objects ---- */

static void expect(weft_status status, const char *what) {
    if (status != WEFT_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, weft_status_name(status), line);
        exit(1);
    }
}

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    weft_graph *before = made.graph;
    made.graph = (weft_graph *)graph;
    made.node = node;
    call_all(IN_INFER, false);
    made.graph = before;
    made.node = NULL;
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    made.lowering = lowering;
    made.node = (weft_node *)node;
    call_all(IN_LOWER, false);
    made.lowering = NULL;
    made.node = NULL;
    return weft_lower_fail(lowering, WEFT_UNSUPPORTED);
}

static void make_plan(void) {
    static const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    weft_tensor x, y;
    expect(weft_graph_create(&made.graph, &host), "graph");
    expect(weft_weight_create(&made.weight,
                              weft_weight_params(.shape = weft_shape_of(8), .data = ones), &host),
           "weight");
    expect(weft_graph_input(&x, made.graph, "x", WEFT_F32, weft_shape_of(1, 4, 8)), "input");
    expect(weft_graph_fourier(&y, made.graph, x), "op");
    expect(weft_graph_output(made.graph, "y", y), "output");
    expect(weft_plan_compile(&made.plan, made.device, made.graph,
                             weft_plan_params(.timestamps = true)),
           "plan");
    expect(weft_bindings_create(&made.bindings, made.plan), "bindings");
    expect(weft_frame_queue_create(&made.queue, made.device), "frame queue");
    expect(weft_buffer_create(&made.buffer, made.device, 1024), "buffer");
}

static void make_transcriber(const char *folder) {
    expect(weft_model_load(&made.speech, folder, &host), "model of speech");
    expect(weft_transcriber_create(&made.transcriber, made.speech, made.device, NULL),
           "transcriber");
}

static void make_model(const char *folder) {
    static const int32_t token = 1;
    static const float query[] = {1, 2};
    static const weft_prompt prompt = {.tokens = &token, .count = 1};
    expect(weft_model_load(&made.model, folder, &host), "model");
    expect(weft_decoder_create(&made.decoder, made.model, made.device, NULL), "decoder");
    expect(weft_generator_create(&made.generator, made.model, made.device,
                                 weft_generator_params(.prompts = &prompt, .prompt_count = 1)),
           "generator");
    expect(weft_texts_create(&made.texts, made.model, made.device, NULL), "texts");
    expect(weft_search_create(
               &made.search, weft_search_params(.queries = query, .count = 1, .width = 2, .top = 1),
               &host),
           "search");
    expect(weft_receipt_create(&made.receipt, made.device, NULL), "receipt");
    expect(weft_receipt_note(made.receipt, WEFT_RECORD_DATA, "note", "1 byte", "x", 1), "note");
    char root[WEFT_RECORD_HASH_SIZE];
    snprintf(root, sizeof root, "%s", weft_receipt_root(made.receipt));
    const char *json = weft_receipt_proof(made.receipt, 0);
    expect(weft_proof_read(&made.proof, json, strlen(json), root, &host), "proof");
}

/* Their callbacks call the functions that are for callbacks. */
static void use_op(void) {
    static const weft_implementation way = {.name = "way", .lower = lower};
    weft_graph *graph = NULL;
    weft_tensor x, y;
    weft_plan *plan = NULL;
    expect(weft_op_create(&made.op,
                          weft_op_params(.name = "own", .min_inputs = 1, .infer = infer,
                                         .implementations = &way, .implementation_count = 1),
                          &host),
           "op of one's own");
    expect(weft_graph_create(&graph, &host), "graph");
    expect(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, 4, 8)), "input");
    expect(weft_graph_add(&y, graph, made.op, &x, 1, NULL, 0), "node");
    expect(weft_graph_output(graph, "y", y), "output");
    if (weft_plan_compile(&plan, made.device, graph, NULL) != WEFT_UNSUPPORTED) {
        expect(WEFT_UNSUPPORTED, "lower was not called");
    }
    weft_graph_destroy(&graph);
}

static void destroy_all(void) {
    weft_proof_destroy(&made.proof);
    weft_receipt_destroy(&made.receipt);
    weft_search_destroy(&made.search);
    weft_transcriber_destroy(&made.transcriber);
    weft_model_destroy(&made.speech);
    weft_texts_destroy(&made.texts);
    weft_generator_destroy(&made.generator);
    weft_decoder_destroy(&made.decoder);
    weft_model_destroy(&made.model);
    weft_buffer_destroy(&made.buffer);
    weft_frame_queue_destroy(&made.queue);
    weft_bindings_destroy(&made.bindings);
    weft_plan_destroy(&made.plan);
    weft_weight_destroy(&made.weight);
    weft_graph_destroy(&made.graph);
    weft_op_destroy(&made.op);
    weft_device_destroy(&made.device);
}

/* null FOLDER SPEECH: of a causal language model, and of one that reads speech. */
int main(int argc, char **argv) {
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc != 3 || progress == MAP_FAILED) {
        return 2;
    }
    expect(weft_device_open(&made.device, weft_device_params(.host = host, .select = "processor",
                                                             .cache_dir = "", .threads = 1)),
           "device");
    semaphore.device = made.device;
    make_plan();
    make_model(argv[1]);
    make_transcriber(argv[2]);
    use_op();
    call_all(ANYWHERE, false);
    call_all(ANYWHERE, true);
    destroy_all();
    printf("%d functions, %d calls, %d crashes, %d other failures\n", functions, calls, crashes,
           progress->failed);
    return crashes + progress->failed > 0 || functions < 200;
}
