/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Calls that end before their time: because the host is asked and says so, or because the device is given up. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/op.h>

#include "device/device.h"
#include "device/host_memory.h"
#include "opencl/opencl.h"
#include "support_frames.h"

enum { N = 64, D = 32, COUNT = N * D, BYTES = COUNT * 4, LAYERS = 4, NEVER = 1 << 30 };

/* ---- who is asked ---- */

/* The driver that is tested, and the processor device in this process. */
static const char *const selects[] = {NULL, "processor"};

struct asked {
    pthread_t thread; /* that alone may be asked */
    atomic_uint times;
    atomic_uint yes_at; /* from this time on the answer is yes */
    atomic_bool wrong_thread;
};

static bool answer(void *user) {
    struct asked *asked = user;
    if (!pthread_equal(asked->thread, pthread_self())) {
        atomic_store(&asked->wrong_thread, true);
    }
    return atomic_fetch_add(&asked->times, 1) + 1 >= atomic_load(&asked->yes_at);
}

static void yes_at(struct asked *asked, unsigned time) {
    atomic_store(&asked->times, 0);
    atomic_store(&asked->yes_at, time);
}

struct fixture {
    struct weft_test_host host;
    struct asked asked;
    const char *select;
    weft_device *device;
    weft_plan *plan;
    float *x, *y, *expected;
};

static weft_host asking_host(struct fixture *f) {
    weft_host host = f->host.host;
    host.interrupted = answer;
    host.interrupted_user = &f->asked;
    return host;
}

static void open_device(struct fixture *f, const weft_host *host) {
    weft_test_set_variable("WEFT_PROCESSOR", f->select ? "1" : "0");
    /* So that a plan has several submissions where it must. */
    assert_ok(weft_device_open(&f->device, weft_device_params(.host = *host, .select = f->select,
                                                              .submission_limit_ms = 1)));
}

static weft_status compile(weft_plan **plan, weft_device *device) {
    weft_graph *graph = NULL;
    weft_tensor x = {0};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, N, D)));
    for (int i = 0; i < LAYERS; i++) {
        assert_ok(weft_graph_attention(&x, graph, x, x, x, NULL));
    }
    assert_ok(weft_graph_output(graph, "y", x));
    const weft_status status = weft_plan_compile(plan, device, graph, NULL);
    weft_graph_destroy(&graph);
    return status;
}

static weft_status execute(struct fixture *f) {
    const weft_host_tensor tensors[] = {{.name = "x", .data = f->x, .bytes = BYTES},
                                        {.name = "y", .data = f->y, .bytes = BYTES}};
    memset(f->y, 0xff, BYTES);
    return weft_plan_execute(f->plan, tensors, 2);
}

static void expect_right(struct fixture *f) {
    assert_ok(execute(f));
    assert_memory_equal(f->y, f->expected, BYTES);
}

static void set_up(struct fixture *f, const char *select, bool asks) {
    *f = (struct fixture){.select = select};
    weft_test_host_begin(&f->host);
    f->asked.thread = pthread_self();
    yes_at(&f->asked, NEVER);
    f->x = weft_test_uniform(COUNT, 7, 0);
    f->y = malloc(BYTES);
    f->expected = malloc(BYTES);
    assert_true(f->y && f->expected);
    const weft_host host = asks ? asking_host(f) : f->host.host;
    open_device(f, &host);
    assert_ok(compile(&f->plan, f->device));
    assert_ok(execute(f));
    memcpy(f->expected, f->y, BYTES);
}

static void tear_down(struct fixture *f) {
    assert_false(atomic_load(&f->asked.wrong_thread));
    weft_plan_destroy(&f->plan);
    weft_device_destroy(&f->device);
    free(f->x);
    free(f->y);
    free(f->expected);
    weft_test_host_end(&f->host);
}

/* ---- the host is asked ---- */

/* At each of the first times; then the same plan gives the same bits. */
static void try_cancelled_runs_leave_the_plan_good(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    /* Before the input is copied, before the run, before the output is copied. In place there are no copies. */
    const unsigned times = weft_device_moves_buffers(f.device) ? 1 : 3;
    for (unsigned time = 1; time <= times; time++) {
        yes_at(&f.asked, time);
        WEFT_EXPECT_REFUSED(&f.host, WEFT_CANCELLED, execute(&f), "interrupted");
        assert_int_equal(atomic_load(&f.asked.times), time);
        yes_at(&f.asked, NEVER);
        expect_right(&f);
    }
    tear_down(&f);
}

static void try_cancelled_compiles_leave_the_device_good(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    weft_plan_destroy(&f.plan);
    weft_device_destroy(&f.device);
    const weft_host host = asking_host(&f);
    open_device(&f, &host);
    weft_status status = WEFT_CANCELLED;
    unsigned time = 0;
    while (status == WEFT_CANCELLED && time < 1000) {
        yes_at(&f.asked, ++time);
        status = compile(&f.plan, f.device);
    }
    assert_ok(status);
    assert_true(time > LAYERS); /* once for each node at least */
    yes_at(&f.asked, NEVER);
    expect_right(&f);
    tear_down(&f);
}

static void try_a_wait_may_be_cancelled(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    weft_bindings *bindings = NULL;
    weft_buffer *x = NULL, *y = NULL;
    assert_ok(weft_buffer_create(&x, f.device, BYTES));
    assert_ok(weft_buffer_create(&y, f.device, BYTES));
    assert_ok(weft_buffer_write(x, 0, f.x, BYTES));
    assert_ok(weft_bindings_create(&bindings, f.plan));
    assert_ok(weft_bindings_set(bindings, "x", x));
    assert_ok(weft_bindings_set(bindings, "y", y));
    uint64_t ticket = 0;
    for (int i = 0; i < 40; i++) {
        assert_ok(weft_plan_submit(f.plan, bindings, &ticket));
    }
    yes_at(&f.asked, 1);
    const weft_status status = weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL);
    assert_true(status == WEFT_CANCELLED || status == WEFT_OK); /* a device may be so fast */
    yes_at(&f.asked, NEVER);
    assert_ok(weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL));
    assert_ok(weft_plan_run(f.plan, bindings));
    assert_ok(weft_buffer_read(y, 0, f.y, BYTES));
    assert_memory_equal(f.y, f.expected, BYTES);
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    tear_down(&f);
}

WEFT_TEST_ON_HOST(loads_may_be_cancelled, host) {
    struct asked asked = {.thread = pthread_self()};
    weft_host asking = host->host;
    weft_model *model = NULL;
    weft_status status = WEFT_CANCELLED;
    unsigned time = 0;
    asking.interrupted = answer;
    asking.interrupted_user = &asked;
    while (status == WEFT_CANCELLED && time < 1000) {
        yes_at(&asked, ++time);
        status = weft_model_load(
            &model, WEFT_SOURCE_DIR "/api/examples/models/langid1024-fmmformer", &asking);
    }
    assert_ok(status);
    assert_true(time > 10); /* once for each tensor */
    weft_model_destroy(&model);
}

/* ---- the device is given up ---- */

static void *cancel_soon(void *device) {
    usleep(30000);
    weft_device_cancel(device);
    return NULL;
}

static void expect_lost(struct fixture *f) {
    weft_plan *plan = NULL;
    weft_buffer *buffer = NULL;
    assert_status(execute(f), WEFT_DEVICE_LOST);
    weft_test_expect_log(&f->host, "weft_device_cancel");
    assert_status(compile(&plan, f->device), WEFT_DEVICE_LOST);
    assert_status(weft_buffer_create(&buffer, f->device, 16), WEFT_DEVICE_LOST);
}

static void try_what_comes_after_is_lost(const char *select) {
    struct fixture f;
    set_up(&f, select, false);
    weft_device_cancel(NULL);
    weft_device_cancel(f.device);
    weft_device_cancel(f.device);
    expect_lost(&f);
    tear_down(&f);
}

static void try_runs_end_when_another_thread_cancels(const char *select) {
    for (int asks = 0; asks < 2; asks++) {
        struct fixture f;
        set_up(&f, select, asks);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.device), 0);
        weft_status status = WEFT_OK;
        while (status == WEFT_OK) {
            status = execute(&f);
        }
        assert_status(status, WEFT_DEVICE_LOST);
        pthread_join(thread, NULL);
        expect_lost(&f);
        tear_down(&f);
    }
}

static void try_a_device_goes_with_runs_in_flight(const char *select) {
    struct fixture f;
    set_up(&f, select, false);
    weft_bindings *bindings = NULL;
    weft_buffer *x = NULL, *y = NULL;
    uint64_t ticket = 0;
    assert_ok(weft_buffer_create(&x, f.device, BYTES));
    assert_ok(weft_buffer_create(&y, f.device, BYTES));
    assert_ok(weft_bindings_create(&bindings, f.plan));
    assert_ok(weft_bindings_set(bindings, "x", x));
    assert_ok(weft_bindings_set(bindings, "y", y));
    for (int i = 0; i < 20; i++) {
        assert_ok(weft_plan_submit(f.plan, bindings, &ticket));
    }
    weft_device_cancel(f.device);
    assert_status(weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL), WEFT_DEVICE_LOST);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    weft_bindings_destroy(&bindings);
    tear_down(&f);
}

/* ---- frame queues ---- */

/* Two jobs with arenas of their own, one of which is under way. */
struct jobs {
    struct weft_test_graph graph;
    struct weft_test_frames frames;
    struct weft_test_lane lanes[2];
    weft_frame_queue *queue;
    uint64_t job[2];
};

static void begin_jobs(struct jobs *j, struct fixture *f) {
    *j = (struct jobs){.graph = {.device = f->device}};
    assert_ok(weft_graph_create(&j->graph.graph, NULL));
    weft_test_frames_begin_layers(&j->frames, &j->graph, NULL, 0);
    assert_ok(weft_frame_queue_create(&j->queue, f->device));
    for (uint32_t i = 0; i < 2; i++) {
        weft_test_lane_begin(&j->lanes[i], &j->frames, weft_bindings_create_concurrent, i + 1);
        weft_test_lane_forget(&j->lanes[i]);
        assert_ok(
            weft_frame_queue_add(j->queue, j->frames.plan, j->lanes[i].bindings, 0, &j->job[i]));
    }
    weft_test_frame_start(&j->frames);
    assert_ok(weft_frame_queue_record(j->queue, j->frames.commands, 1e-9, NULL));
    weft_test_frame_finish(&j->frames);
}

static void end_jobs(struct jobs *j) {
    weft_frame_queue_destroy(&j->queue);
    weft_test_lane_end(&j->lanes[0]);
    weft_test_lane_end(&j->lanes[1]);
    weft_test_frames_end(&j->frames);
    weft_graph_destroy(&j->graph.graph);
}

static weft_frame_job_state state_of(const struct jobs *j, uint32_t job) {
    weft_frame_job_info info;
    assert_ok(weft_frame_queue_get_job(j->queue, j->job[job], &info));
    return info.state;
}

/* False on an OpenCL device, whose plans are not recorded into Vulkan's command buffers. */
static bool records(const struct fixture *f) {
    return strcmp(f->device->info.driver, WEFT_OPENCL_DRIVER_NAME) != 0;
}

/* The jobs are the host's memory: they can be asked for and given up, and nothing of them is recorded any more. */
static void try_frame_queues_of_a_device_that_is_given_up(const char *select) {
    struct fixture f;
    struct jobs j;
    uint64_t job = 77;
    set_up(&f, select, false);
    if (!records(&f)) {
        tear_down(&f);
        return;
    }
    begin_jobs(&j, &f);
    weft_test_frame_start(&j.frames);
    assert_ok(weft_frame_queue_record(j.queue, j.frames.commands, 1e-9, NULL));
    weft_device_cancel(f.device);
    weft_test_host_reset(&f.host);
    assert_status(weft_frame_queue_record(j.queue, j.frames.commands, 1.0, NULL), WEFT_DEVICE_LOST);
    weft_test_expect_log(&f.host, "weft_device_cancel");
    assert_status(weft_frame_queue_add(j.queue, j.frames.plan, j.lanes[0].bindings, 0, &job),
                  WEFT_DEVICE_LOST);
    assert_int_equal(job, 77);
    assert_int_equal(state_of(&j, 0), WEFT_FRAME_JOB_RUNNING);
    assert_int_equal(state_of(&j, 1), WEFT_FRAME_JOB_WAITING);
    assert_ok(weft_frame_queue_cancel(j.queue, j.job[0]));
    assert_int_equal(state_of(&j, 0), WEFT_FRAME_JOB_CANCELLED);
    assert_status(weft_device_submit(f.device, &j.frames.commands, 1, &job), WEFT_DEVICE_LOST);
    end_jobs(&j);
    tear_down(&f);
}

/* Recording waits for nothing, so that nobody is asked; a wait for a frame ends alone, and the frame goes on. */
static void try_interrupted_frames_go_on(const char *select) {
    struct fixture f;
    struct jobs j;
    weft_frame_info info = {.jobs_left = 1};
    set_up(&f, select, true);
    if (!records(&f)) {
        tear_down(&f);
        return;
    }
    begin_jobs(&j, &f);
    for (uint32_t frames = 0; info.jobs_left > 0; frames++) {
        uint64_t ticket = 0;
        assert_true(frames < 16);
        weft_test_frame_start(&j.frames);
        yes_at(&f.asked, 1);
        assert_ok(weft_frame_queue_record(j.queue, j.frames.commands, 1e-9, &info));
        assert_int_equal(f.device->vk.EndCommandBuffer(j.frames.commands), VK_SUCCESS);
        assert_ok(weft_device_submit(f.device, &j.frames.commands, 1, &ticket));
        const weft_status status = weft_device_wait(f.device, ticket, UINT64_MAX, NULL);
        assert_true(status == WEFT_CANCELLED || status == WEFT_OK); /* a device may be so fast */
        yes_at(&f.asked, NEVER);
        assert_ok(weft_device_wait(f.device, ticket, UINT64_MAX, NULL));
    }
    weft_test_lane_expect(&j.lanes[0], "frames whose waits were interrupted");
    weft_test_lane_expect(&j.lanes[1], "frames whose waits were interrupted");
    end_jobs(&j);
    tear_down(&f);
}

/* ---- semaphores and events that nobody sets ---- */

struct held {
    weft_bindings *bindings;
    weft_buffer *x, *y;
    VkSemaphore semaphore;
    uint64_t ticket;
};

/* Submits a run that waits for the semaphore's value 1; false where the device has no such semaphores. */
static bool begin_held(struct held *h, struct fixture *f) {
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    const struct weft_vk_device *vk = &f->device->vk;
    *h = (struct held){0};
    if (!f->device->has_timeline) {
        return false;
    }
    assert_int_equal(vk->CreateSemaphore(vk->handle, &info, NULL, &h->semaphore), VK_SUCCESS);
    assert_ok(weft_buffer_create(&h->x, f->device, BYTES));
    assert_ok(weft_buffer_create(&h->y, f->device, BYTES));
    assert_ok(weft_buffer_write(h->x, 0, f->x, BYTES));
    assert_ok(weft_bindings_create(&h->bindings, f->plan));
    assert_ok(weft_bindings_set(h->bindings, "x", h->x));
    assert_ok(weft_bindings_set(h->bindings, "y", h->y));
    const weft_semaphore_point wait = {h->semaphore, 1};
    assert_ok(weft_plan_submit_with(
        f->plan, h->bindings, weft_submit_params(.waits = &wait, .wait_count = 1), &h->ticket));
    return true;
}

static void end_held(struct held *h, struct fixture *f) {
    weft_bindings_destroy(&h->bindings);
    weft_buffer_destroy(&h->x);
    weft_buffer_destroy(&h->y);
    if (h->semaphore != VK_NULL_HANDLE) {
        f->device->vk.DestroySemaphore(f->device->vk.handle, h->semaphore, NULL);
    }
    tear_down(f);
}

static void try_waits_for_a_held_run_may_be_cancelled(const char *select) {
    struct fixture f;
    struct held h;
    set_up(&f, select, true);
    if (begin_held(&h, &f)) {
        for (unsigned time = 1; time <= 3; time++) {
            yes_at(&f.asked, time);
            WEFT_EXPECT_REFUSED(&f.host, WEFT_CANCELLED,
                                weft_plan_wait(f.plan, h.ticket, UINT64_MAX, NULL), "interrupted");
        }
        yes_at(&f.asked, NEVER);
        weft_test_signal(f.device, h.semaphore, 1);
        assert_ok(weft_plan_wait(f.plan, h.ticket, UINT64_MAX, NULL));
        assert_ok(weft_plan_run(f.plan, h.bindings));
        assert_ok(weft_buffer_read(h.y, 0, f.y, BYTES));
        assert_memory_equal(f.y, f.expected, BYTES);
    }
    end_held(&h, &f);
}

/* On the processor it ends without the signal, on others whoever destroys waits for it. */
static void try_held_runs_of_a_device_that_is_given_up(const char *select) {
    for (int asks = 0; asks < 2; asks++) {
        struct fixture f;
        struct held h;
        pthread_t thread;
        set_up(&f, select, asks);
        if (begin_held(&h, &f)) {
            assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.device), 0);
            assert_status(weft_plan_wait(f.plan, h.ticket, UINT64_MAX, NULL), WEFT_DEVICE_LOST);
            pthread_join(thread, NULL);
            expect_lost(&f);
            if (!f.device->in_process) {
                weft_test_signal(f.device, h.semaphore, 1);
            }
        }
        end_held(&h, &f);
    }
}

#define FUNCTION(f, name) ((PFN_vk##name)weft_test_function((f)->device, "vk" #name))

/* Commands of the caller's that wait for an event: on the processor they end with the device. */
static void submit_a_wait_for(struct fixture *f, VkCommandPool *pool, VkEvent *event,
                              uint64_t *ticket) {
    const struct weft_vk_device *vk = &f->device->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_ok(weft_command_pool_create(pool, f->device));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .commandBufferCount = 1};
    assert_int_equal(vk->AllocateCommandBuffers(vk->handle, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(FUNCTION(f, CreateEvent)(vk->handle, &info, NULL, event), VK_SUCCESS);
    assert_int_equal(vk->BeginCommandBuffer(commands, &begin), VK_SUCCESS);
    FUNCTION(f, CmdWaitEvents)
    (commands, 1, event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, NULL,
     0, NULL, 0, NULL);
    assert_int_equal(vk->EndCommandBuffer(commands), VK_SUCCESS);
    assert_ok(weft_device_submit(f->device, &commands, 1, ticket));
}

WEFT_TEST(events_that_nobody_sets) {
    for (int how = 0; how < 2; how++) {
        struct fixture f;
        VkCommandPool pool = VK_NULL_HANDLE;
        VkEvent event = VK_NULL_HANDLE;
        uint64_t ticket = 0;
        pthread_t thread;
        set_up(&f, "processor", true);
        submit_a_wait_for(&f, &pool, &event, &ticket);
        if (how == 0) { /* the wait ends alone, and then somebody sets it */
            yes_at(&f.asked, 2);
            assert_status(weft_device_wait(f.device, ticket, UINT64_MAX, NULL), WEFT_CANCELLED);
            yes_at(&f.asked, NEVER);
            assert_int_equal(FUNCTION(&f, SetEvent)(f.device->vk.handle, event), VK_SUCCESS);
            assert_ok(weft_device_wait(f.device, ticket, UINT64_MAX, NULL));
            expect_right(&f);
        } else {
            assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.device), 0);
            assert_status(weft_device_wait(f.device, ticket, UINT64_MAX, NULL), WEFT_DEVICE_LOST);
            pthread_join(thread, NULL);
            expect_lost(&f);
            if (!f.device->in_process) { /* it is this library's, but as a driver */
                assert_int_equal(FUNCTION(&f, SetEvent)(f.device->vk.handle, event), VK_SUCCESS);
            }
            weft_device_settle(f.device, ticket);
        }
        FUNCTION(&f, DestroyEvent)(f.device->vk.handle, event, NULL);
        f.device->vk.DestroyCommandPool(f.device->vk.handle, pool, NULL);
        tear_down(&f);
    }
}

/* ---- decoders ---- */

#define DECODED "/tests/data/models/transformer_rms_causal_lm_tied"

enum { STEPS = 6 };

struct decoding {
    weft_model *model;
    weft_decoder *decoder;
    uint32_t vocabulary;
    float *logits, *expected; /* [STEPS, vocabulary] */
};

static weft_status decode_one(struct decoding *d, uint32_t step) {
    const int32_t token = (int32_t)(5 + step * 2);
    return weft_decoder_step(d->decoder, &token, d->logits + (size_t)step * d->vocabulary);
}

/* From the beginning: the first two tokens as a prompt, and the others one by one. */
static weft_status decode(struct decoding *d) {
    static const int32_t prompt[] = {5, 7};
    weft_decoder_reset(d->decoder);
    weft_status status =
        weft_decoder_prompt(d->decoder, prompt, 2, d->logits + (size_t)d->vocabulary);
    for (uint32_t step = 2; step < STEPS && status == WEFT_OK; step++) {
        status = decode_one(d, step);
    }
    return status;
}

static void begin_decoding(struct decoding *d, struct fixture *f, bool reevaluate) {
    weft_decoder_info info;
    *d = (struct decoding){0};
    assert_ok(weft_model_load(&d->model, WEFT_SOURCE_DIR DECODED, &f->host.host));
    assert_ok(weft_decoder_create(&d->decoder, d->model, f->device,
                                  weft_decoder_params(.batch = 1, .reevaluate = reevaluate)));
    assert_ok(weft_decoder_get_info(d->decoder, &info));
    d->vocabulary = info.vocabulary;
    d->logits = calloc((size_t)STEPS * info.vocabulary, sizeof *d->logits);
    d->expected = calloc((size_t)STEPS * info.vocabulary, sizeof *d->expected);
    assert_true(d->logits && d->expected);
    assert_ok(decode(d));
    memcpy(d->expected, d->logits, (size_t)STEPS * info.vocabulary * sizeof *d->logits);
}

static void end_decoding(struct decoding *d) {
    weft_decoder_destroy(&d->decoder);
    weft_model_destroy(&d->model);
    free(d->logits);
    free(d->expected);
}

/* What was cut short is begun anew. */
static void try_cancelled_decoding_begins_anew(const char *select) {
    for (int reevaluate = 0; reevaluate < 2; reevaluate++) {
        struct fixture f;
        struct decoding d;
        unsigned cancelled = 0;
        set_up(&f, select, true);
        begin_decoding(&d, &f, reevaluate);
        const size_t bytes = (size_t)STEPS * d.vocabulary * sizeof *d.logits;
        weft_status status = WEFT_CANCELLED;
        for (unsigned time = 1; status == WEFT_CANCELLED; time++, cancelled++) {
            assert_true(time < 1000);
            yes_at(&f.asked, time);
            status = decode(&d);
            yes_at(&f.asked, NEVER);
            if (status == WEFT_CANCELLED) {
                memset(d.logits, 0xff, bytes);
                assert_ok(decode(&d));
            }
            assert_memory_equal(d.logits + d.vocabulary, d.expected + d.vocabulary,
                                bytes - d.vocabulary * sizeof *d.logits);
        }
        assert_ok(status);
        assert_true(cancelled >= STEPS - 1); /* once at least in each call */
        end_decoding(&d);
        tear_down(&f);
    }
}

static void try_decoders_of_a_device_that_is_given_up(const char *select) {
    for (int reevaluate = 0; reevaluate < 2; reevaluate++) {
        struct fixture f;
        struct decoding d;
        pthread_t thread;
        set_up(&f, select, false);
        begin_decoding(&d, &f, reevaluate);
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.device), 0);
        weft_status status = WEFT_OK;
        while (status == WEFT_OK) {
            status = decode(&d);
        }
        assert_status(status, WEFT_DEVICE_LOST);
        pthread_join(thread, NULL);
        assert_status(decode(&d), WEFT_DEVICE_LOST);
        expect_lost(&f);
        end_decoding(&d);
        tear_down(&f);
    }
}

/* ---- on both ---- */

#define ON_BOTH(name)                                \
    WEFT_TEST(name) {                                \
        for (size_t which = 0; which < 2; which++) { \
            try_##name(selects[which]);              \
        }                                            \
    }

ON_BOTH(cancelled_runs_leave_the_plan_good)
ON_BOTH(cancelled_compiles_leave_the_device_good)
ON_BOTH(a_wait_may_be_cancelled)
ON_BOTH(what_comes_after_is_lost)
ON_BOTH(runs_end_when_another_thread_cancels)
ON_BOTH(a_device_goes_with_runs_in_flight)
ON_BOTH(frame_queues_of_a_device_that_is_given_up)
ON_BOTH(interrupted_frames_go_on)
ON_BOTH(waits_for_a_held_run_may_be_cancelled)
ON_BOTH(held_runs_of_a_device_that_is_given_up)
ON_BOTH(cancelled_decoding_begins_anew)
ON_BOTH(decoders_of_a_device_that_is_given_up)
