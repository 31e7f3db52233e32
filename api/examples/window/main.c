/* SPDX-License-Identifier: MIT */
/*
 * A window of one's own that draws so many frames a second, and a network that runs in what is left of each:
 *
 *     acquire an image
 *     submit the drawing, and present it          ours
 *     submit parts of a run, as many as fit       weft_plan_record_frame
 *     wait for both, read their time stamps
 *     wait for the next frame's time
 *
 * What is left is the budget less what the slowest of the newest frames took beside the network, and less what
 * parts took beyond what was expected of them: see pace.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

enum {
    STAMPS = 4,
    WARM_UP = 30
}; /* frames that are not counted: drivers compile in the first ones */

typedef struct options {
    const char *model, *data, *device, *report, *screenshot;
    long frames; /* 0: until the window is closed */
    long fps;
    long batch;
} options;

typedef struct program {
    options o;
    host h;
    network n;
    scene s;
    pace p;
    photos photos;
    uint32_t *labels;
    float *features;
    VkCommandPool pool;
    VkCommandBuffer drawing, parts;
    VkQueryPool queries;
    VkFence fence;
    gpu_buffer picture;
    uint32_t recorded_frames; /* with parts of a run */
} program;

/* ---- options ---- */

static bool read_number(const char *text, long least, long most, long *number) {
    char *end = NULL;
    *number = strtol(text, &end, 10);
    if (*end || end == text || *number < least || *number > most) {
        fprintf(stderr, "%s: expected a number from %ld to %ld\n", text, least, most);
        return false;
    }
    return true;
}

static int usage(void) {
    fputs("usage: window [--model FOLDER] [--data FILE.npz] [--device NAME] [--fps N] [--batch N]\n"
          "              [--frames N] [--report FILE.json] [--screenshot FILE.ppm]\n"
          "\n"
          "Draws N frames a second (60) while the model classifies photographs, --batch (12) a "
          "run, in\n"
          "what is left of each frame. With --frames it ends by itself; --report and --screenshot "
          "say\n"
          "what was measured, and show the last frame.\n",
          stderr);
    return 2;
}

static bool read_option(options *o, const char *name, const char *value) {
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"--model", &o->model},
                 {"--data", &o->data},
                 {"--device", &o->device},
                 {"--report", &o->report},
                 {"--screenshot", &o->screenshot}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].to = value;
            return true;
        }
    }
    if (strcmp(name, "--frames") == 0) {
        return read_number(value, 1, 10000000, &o->frames);
    }
    if (strcmp(name, "--fps") == 0) {
        return read_number(value, 1, 1000, &o->fps);
    }
    return strcmp(name, "--batch") == 0 && read_number(value, SCENE_ROWS, 60, &o->batch);
}

static bool read_options(options *o, int count, char **words) {
    *o = (options){.model = "api/examples/models/fashion-fmmformer",
                   .data = "api/examples/data/fashion.npz",
                   .fps = 60,
                   .batch = 12};
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count || !read_option(o, words[i], words[i + 1])) {
            return false;
        }
    }
    return true;
}

/* ---- what there is before the first frame ---- */

/* The classes of the test set mixed, in whole batches. */
static bool read_photos(program *p, uint32_t *batches) {
    if (!photos_read(&p->photos, p->o.data)) {
        return false;
    }
    const uint32_t batch = (uint32_t)p->o.batch, stride = 271; /* a prime */
    *batches = p->photos.count / batch;
    const uint32_t count = *batches * batch;
    p->features = malloc((size_t)count * PHOTO_VALUES * sizeof *p->features);
    p->labels = malloc(count * sizeof *p->labels);
    if (count == 0 || !p->features || !p->labels) {
        fprintf(stderr, "%u photographs do not make a batch of %u\n", p->photos.count, batch);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = (uint32_t)((uint64_t)i * stride % p->photos.count);
        p->labels[i] = p->photos.labels[from];
        for (size_t j = 0; j < PHOTO_VALUES; j++) {
            p->features[(size_t)i * PHOTO_VALUES + j] =
                photo_value(p->photos.pixels[(size_t)from * PHOTO_VALUES + j]);
        }
    }
    return true;
}

static bool make_frame_objects(program *p) {
    const gpu *g = &p->h.g;
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = STAMPS};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkCommandBuffer commands[2];
    if (!gpu_make_commands(g, &p->pool, commands, 2)) {
        return false;
    }
    p->drawing = commands[0];
    p->parts = commands[1];
    return gpu_check(vkCreateQueryPool(g->device, &queries, NULL, &p->queries),
                     "vkCreateQueryPool") &&
           gpu_check(vkCreateFence(g->device, &fence, NULL, &p->fence), "vkCreateFence") &&
           gpu_make_buffer(g, &p->picture, 4 * (VkDeviceSize)p->h.size.width * p->h.size.height,
                           true);
}

static bool create(program *p) {
    uint32_t batches = 0;
    p->p = (pace){.budget = 1000.0 / (double)p->o.fps, .safety = 0.65};
    /* An eighth of a frame: cuts fine enough to fill what is left, coarse enough that dispatches are worth their start. */
    if (!read_photos(p, &batches) || !host_create(&p->h, SCENE_WIDTH, SCENE_HEIGHT, p->o.device) ||
        !network_create(&p->n, &p->h.g, p->o.model, p->features, (uint32_t)p->o.batch, batches,
                        p->p.budget / 8.0) ||
        !draw_create(&p->s.d, &p->h, &p->n.photos) || !make_frame_objects(p)) {
        return false;
    }
    p->s.n = &p->n;
    p->s.p = &p->p;
    p->s.labels = p->labels;
    return true;
}

static void destroy(program *p) {
    VkDevice device = p->h.g.device;
    if (device) {
        vkDeviceWaitIdle(device);
        draw_destroy(&p->s.d);
        gpu_destroy_buffer(&p->h.g, &p->picture);
        vkDestroyFence(device, p->fence, NULL);
        vkDestroyQueryPool(device, p->queries, NULL);
        vkDestroyCommandPool(device, p->pool, NULL);
    }
    network_destroy(&p->n);
    host_destroy(&p->h);
    photos_free(&p->photos);
    pace_free(&p->p);
    free(p->labels);
    free(p->features);
}

/* ---- one frame ---- */

static void stamp(const program *p, VkCommandBuffer commands, uint32_t index) {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, p->queries, index);
}

static bool submit_drawing(program *p, bool with_picture) {
    scene_draw(&p->s);
    if (!gpu_begin(p->drawing)) {
        return false;
    }
    vkCmdResetQueryPool(p->drawing, p->queries, 0, STAMPS);
    stamp(p, p->drawing, 0);
    draw_record(&p->s.d, p->drawing);
    stamp(p, p->drawing, 1);
    if (with_picture && !host_record_screenshot(&p->h, p->drawing, &p->picture)) {
        return false;
    }
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &p->h.acquired,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &p->drawing,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &p->h.drawn[p->h.image]};
    return gpu_check(vkEndCommandBuffer(p->drawing), "vkEndCommandBuffer") &&
           gpu_check(vkQueueSubmit(p->h.g.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

static bool submit_parts(program *p, bool *recorded) {
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &p->parts};
    if (!gpu_begin(p->parts)) {
        return false;
    }
    stamp(p, p->parts, 2);
    if (!network_record(&p->n, p->parts, pace_left(&p->p), recorded)) {
        return false;
    }
    stamp(p, p->parts, 3);
    return gpu_check(vkEndCommandBuffer(p->parts), "vkEndCommandBuffer") &&
           gpu_check(vkQueueSubmit(p->h.g.queue, 1, &submit, p->fence), "vkQueueSubmit");
}

static bool wait_for_all(const program *p) {
    VkDevice device = p->h.g.device;
    return gpu_check(vkWaitForFences(device, 1, &p->fence, VK_TRUE, UINT64_MAX),
                     "vkWaitForFences") &&
           gpu_check(vkResetFences(device, 1, &p->fence), "vkResetFences");
}

static bool read_stamps(const program *p, frame_times *times, bool recorded) {
    uint64_t stamps[STAMPS];
    if (!gpu_check(vkGetQueryPoolResults(p->h.g.device, p->queries, 0, STAMPS, sizeof stamps,
                                         stamps, sizeof stamps[0], VK_QUERY_RESULT_64_BIT),
                   "vkGetQueryPoolResults")) {
        return false;
    }
    times->drawing = (double)(stamps[1] - stamps[0]) * p->h.timestamp_ms;
    times->network = recorded ? (double)(stamps[3] - stamps[2]) * p->h.timestamp_ms : 0.0;
    times->expected = recorded ? p->n.cursor.ms : 0.0;
    return true;
}

static bool frame(program *p, bool with_picture, bool counted) {
    bool recorded = false;
    if (!host_acquire(&p->h)) {
        return false;
    }
    const double begin = glfwGetTime();
    if (!submit_drawing(p, with_picture) || !host_present(&p->h) || !submit_parts(p, &recorded) ||
        !wait_for_all(p)) {
        return false;
    }
    frame_times times = {.frame = (glfwGetTime() - begin) * 1e3};
    if (!read_stamps(p, &times, recorded)) {
        return false;
    }
    const float *logits = network_finish(&p->n, recorded);
    if (logits) {
        scene_answer(&p->s, p->n.runs - 1, logits);
    }
    p->recorded_frames += recorded;
    scene_add(&p->s, times);
    return pace_add(&p->p, times, counted);
}

/* Sleeps and looks after the window until it is time. Frames that were missed are not made up for. */
static void wait_until(double *next, double interval) {
    glfwPollEvents();
    double now = glfwGetTime();
    while (now < *next) {
        glfwWaitEventsTimeout(*next - now);
        now = glfwGetTime();
    }
    *next = now > *next + interval ? now + interval : *next + interval;
}

static bool run(program *p) {
    const double interval = 1.0 / (double)p->o.fps;
    double next = glfwGetTime();
    bool fine = true;
    const long last = p->o.frames + WARM_UP;
    for (long i = 0; fine && (p->o.frames == 0 || i < last); i++) {
        wait_until(&next, interval);
        if (glfwWindowShouldClose(p->h.window)) {
            break;
        }
        fine = frame(p, p->o.screenshot && i + 1 == last, i >= WARM_UP);
    }
    return fine;
}

/* ---- the report ---- */

static void write_summary(FILE *file, const pace *p, const char *name, size_t at) {
    const pace_summary s = pace_summarize(p, at);
    fprintf(file, "  \"%s\": {\"median\": %.3f, \"p99\": %.3f, \"worst\": %.3f},\n", name, s.median,
            s.p99, s.worst);
}

static void write_times(const program *p, FILE *file) {
    const network *n = &p->n;
    fprintf(file, "{\n  \"device\": \"%s\",\n", p->h.device_name);
    fprintf(file, "  \"frames\": %zu,\n  \"fps\": %ld,\n  \"budget_ms\": %.3f,\n", p->p.count,
            p->o.fps, p->p.budget);
    write_summary(file, &p->p, "frame_ms", offsetof(frame_times, frame));
    write_summary(file, &p->p, "drawing_ms", offsetof(frame_times, drawing));
    write_summary(file, &p->p, "network_ms", offsetof(frame_times, network));
    fprintf(file, "  \"frames_over_budget\": %zu,\n  \"frames_without_room\": %u,\n",
            pace_over(&p->p), n->skipped);
    fprintf(file, "  \"parts_forced\": %u,\n  \"frames_with_parts\": %u,\n", n->forced,
            p->recorded_frames);
    fprintf(file, "  \"parts_of_a_run\": %u,\n  \"parts\": %u,\n  \"next_part\": %u,\n",
            n->info.parts, n->parts_recorded, n->cursor.next);
    fprintf(file, "  \"runs\": %u,\n  \"runs_with_equal_bits\": %u,\n", n->runs, n->same_bits);
    fprintf(file, "  \"photographs\": %u,\n  \"photographs_right\": %u\n}\n", p->s.answered,
            p->s.right);
}

static bool report(const program *p) {
    write_times(p, stdout);
    if (p->o.screenshot && !host_write_screenshot(&p->h, &p->picture, p->o.screenshot)) {
        return false;
    }
    FILE *file = p->o.report ? fopen(p->o.report, "w") : NULL;
    if (file) {
        write_times(p, file);
    }
    if (p->o.report && (!file || fclose(file) != 0)) {
        perror(p->o.report);
        return false;
    }
    return true;
}

int main(int count, char **words) {
    program p = {0};
    if (!read_options(&p.o, count, words) || (p.o.screenshot && p.o.frames == 0)) {
        return usage();
    }
    const bool fine = create(&p) && run(&p) && report(&p) && p.n.same_bits == p.n.runs;
    destroy(&p);
    return fine ? 0 : 1;
}
