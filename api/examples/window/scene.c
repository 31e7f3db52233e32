/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const color white = {0.93f, 0.94f, 0.96f, 1.0f}, grey = {0.55f, 0.58f, 0.64f, 1.0f},
                   dark = {0.11f, 0.12f, 0.15f, 1.0f}, blue = {0.35f, 0.62f, 0.95f, 1.0f},
                   orange = {0.98f, 0.62f, 0.22f, 1.0f}, green = {0.40f, 0.80f, 0.48f, 1.0f},
                   red = {0.95f, 0.38f, 0.36f, 1.0f};

#define CELL_WIDTH  80.0f
#define CELL_HEIGHT 92.0f
#define PHOTO_SHOWN 64.0f /* pixels */
#define BELT_TOP    34.0f
#define CHART_TOP   322.0f
#define CHART_LEFT  16.0f
#define CHART_WIDTH 480.0f
#define CHART_TALL  100.0f

#ifdef __GNUC__
__attribute__((format(printf, 6, 7)))
#endif
static float
print(draw *d, float x, float y, float dot, color ink, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return draw_text(d, x, y, dot, ink, text);
}

/* ---- the belt ---- */

void scene_answer(scene *s, uint32_t run, const float *logits) {
    const network *n = s->n;
    for (uint32_t i = 0; i < n->batch; i++) {
        const uint32_t photo = run * n->batch + i;
        answer *to = &s->answers[photo % SCENE_KEPT];
        to->photo = photo + 1;
        to->label = photo_answer(logits + (size_t)i * n->c.labels, n->c.labels, &to->probability);
        s->answered++;
        s->right += to->label == s->labels[photo % (n->batches * n->batch)];
    }
}

static void draw_answer(scene *s, float x, float y, uint32_t photo) {
    const answer *found = &s->answers[photo % SCENE_KEPT];
    if (found->photo != photo + 1) {
        return;
    }
    const bool right = found->label == s->labels[photo % (s->n->batches * s->n->batch)];
    const color ink = right ? green : red;
    draw_box(&s->d, x, y + PHOTO_SHOWN + 2.0f, PHOTO_SHOWN, 3.0f, dark);
    draw_box(&s->d, x, y + PHOTO_SHOWN + 2.0f, PHOTO_SHOWN * found->probability, 3.0f, ink);
    draw_text(&s->d, x, y + PHOTO_SHOWN + 9.0f, 1.0f, ink,
              weft_model_label(s->n->c.model, found->label));
}

static void draw_column(scene *s, uint32_t column, float x) {
    const uint32_t working = s->n->runs;
    for (uint32_t row = 0; row < SCENE_ROWS; row++) {
        const uint32_t photo = column * SCENE_ROWS + row;
        const float y = BELT_TOP + (float)row * CELL_HEIGHT;
        const uint32_t run = photo / s->n->batch;
        const float shade = run > working ? 0.55f : 1.0f; /* what the network has not come to yet */
        if (run == working) {
            draw_box(&s->d, x - 3.0f, y - 3.0f, PHOTO_SHOWN + 6.0f, PHOTO_SHOWN + 6.0f, orange);
        }
        draw_photo(&s->d, x, y, PHOTO_SHOWN, photo % (s->n->batches * s->n->batch),
                   (color){shade, shade, shade, 1.0f});
        draw_answer(s, x, y, photo);
    }
}

/* It goes as fast as the network does: what is in work stays right of the middle. */
static void draw_belt(scene *s) {
    const float columns = (float)s->n->batch / (float)SCENE_ROWS;
    const float wanted = ((float)s->n->runs + network_progress(s->n)) * columns * CELL_WIDTH;
    const float middle = 0.55f * (float)SCENE_WIDTH;
    s->place += (wanted - s->place) * 0.2f;
    for (uint32_t column = 0;; column++) {
        const float x = (float)column * CELL_WIDTH - s->place + middle;
        if (x > (float)SCENE_WIDTH) {
            return;
        }
        if (x > -CELL_WIDTH) {
            draw_column(s, column, x);
        }
    }
}

/* ---- the cost ---- */

void scene_add(scene *s, frame_times times) {
    s->newest[s->frames++ % SCENE_FRAMES] = times;
}

/* A bar for each frame, the newest one on the right: drawing, the network, and the rest of the frame's work. */
static void draw_chart(scene *s) {
    const float width = CHART_WIDTH / SCENE_FRAMES;
    const float scale = CHART_TALL / ((float)s->p->budget * 1.2f); /* pixels of a millisecond */
    const float bottom = CHART_TOP + CHART_TALL;
    draw_box(&s->d, CHART_LEFT, CHART_TOP, CHART_WIDTH, CHART_TALL, dark);
    for (uint32_t i = 0; i < SCENE_FRAMES && i < s->frames; i++) {
        const frame_times *t = &s->newest[(s->frames - 1 - i) % SCENE_FRAMES];
        const float x = CHART_LEFT + CHART_WIDTH - (float)(i + 1) * width;
        const float draws = (float)t->drawing * scale, net = (float)t->network * scale;
        const float tall =
            (float)t->frame * scale < CHART_TALL ? (float)t->frame * scale : CHART_TALL;
        draw_box(&s->d, x, bottom - tall, width, tall, t->frame > s->p->budget ? red : grey);
        if (draws + net <= tall) {
            draw_box(&s->d, x, bottom - draws, width, draws, blue);
            draw_box(&s->d, x, bottom - draws - net, width, net, orange);
        }
    }
    const float line = bottom - (float)s->p->budget * scale;
    draw_box(&s->d, CHART_LEFT, line, CHART_WIDTH, 1.0f, white);
    print(&s->d, CHART_LEFT + 4.0f, line - 10.0f, 1.0f, white, "budget %.1f ms", s->p->budget);
}

static double largest(const scene *s, size_t at) {
    double most = 0.0;
    for (uint32_t i = 0; i < SCENE_FRAMES && i < s->frames; i++) {
        const double *value = (const double *)(const void *)((const char *)&s->newest[i] + at);
        most = *value > most ? *value : most;
    }
    return most;
}

static void draw_time(scene *s, float y, color ink, const char *name, size_t at) {
    const frame_times *t = &s->newest[(s->frames - 1) % SCENE_FRAMES];
    const double now = *(const double *)(const void *)((const char *)t + at);
    const float x = CHART_LEFT + CHART_WIDTH + 16.0f;
    draw_box(&s->d, x, y, 10.0f, 14.0f, ink);
    print(&s->d, x + 18.0f, y, 2.0f, ink, "%-8s%5.1f ms", name, now);
    print(&s->d, x + 214.0f, y + 7.0f, 1.0f, grey, "max %.1f", largest(s, at));
}

static void draw_cost(scene *s) {
    if (s->frames == 0) {
        return;
    }
    const float x = CHART_LEFT + CHART_WIDTH + 16.0f;
    draw_chart(s);
    draw_time(s, CHART_TOP, white, "frame", offsetof(frame_times, frame));
    draw_time(s, CHART_TOP + 20.0f, blue, "drawing", offsetof(frame_times, drawing));
    draw_time(s, CHART_TOP + 40.0f, orange, "weft", offsetof(frame_times, network));
    const float done = network_progress(s->n);
    draw_box(&s->d, x, CHART_TOP + 62.0f, 256.0f, 10.0f, dark);
    draw_box(&s->d, x, CHART_TOP + 62.0f, 256.0f * done, 10.0f, orange);
    print(&s->d, x, CHART_TOP + 78.0f, 1.0f, white, "run %u: part %u of %u", s->n->runs + 1,
          s->n->cursor.next, s->n->info.parts);
    print(&s->d, x, CHART_TOP + 90.0f, 1.0f, white, "%u of %u photographs right (%.1f %%)",
          s->right, s->answered,
          s->answered > 0 ? 100.0 * (double)s->right / (double)s->answered : 0.0);
    weft_plan_stats stats;
    if (weft_plan_get_stats(s->n->c.plan, &stats) == WEFT_OK) {
        print(&s->d, x, CHART_TOP - 12.0f, 1.0f, grey, "%.1f MB of arenas, %.1f of weights",
              (double)stats.arena_bytes * 1e-6, (double)stats.weight_bytes * 1e-6);
    }
    print(&s->d, CHART_LEFT, 432.0f, 1.0f, s->n->same_bits == s->n->runs ? green : red,
          "%u of %u runs with the bits of a run in one piece", s->n->same_bits, s->n->runs);
}

void scene_draw(scene *s) {
    weft_model_info model;
    draw_belt(s);
    draw_box(&s->d, 0.0f, 0.0f, (float)SCENE_WIDTH, 24.0f, dark);
    if (weft_model_get_info(s->n->c.model, &model) == WEFT_OK) {
        print(&s->d, 16.0f, 5.0f, 2.0f, white, "%s: %u layers, %u photographs a run", model.mixing,
              model.layers, s->n->batch);
    }
    const char *device = s->d.h->device_name; /* ends where the window does */
    print(&s->d, (float)SCENE_WIDTH - 16.0f - 6.0f * (float)strlen(device), 432.0f, 1.0f, grey,
          "%s", device);
    draw_cost(s);
}
