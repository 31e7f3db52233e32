/* SPDX-License-Identifier: MIT */
/*
 * A network on libplacebo's device. libplacebo makes the VkDevice, uploads photographs and scales them; Weft adopts the device and
 * reads and writes libplacebo's own textures:
 *
 *     pl_render_image      a photograph to a picture of 112 by 112, and that to the network's 28 by 28, f32
 *     pl_vulkan_hold       both textures are ours
 *     copy texture → input, weft_plan_record, copy output → texture
 *     pl_vulkan_release    they are libplacebo's again
 *     pl_tex_download      the logits, as any texture
 *
 * libplacebo has one queue. Another thread runs the whole plan for comparison, on the same queue and at the same time: whoever
 * submits holds libplacebo's lock, Weft included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include <libplacebo/renderer.h>
#include <libplacebo/vulkan.h>

#include "classifier.h"
#include "photos.h"

enum {
    PICTURE = 112, /* pixels of a side */
    LABELS = 16,   /* the most of a model here */
    PHOTOS = 20
};

typedef struct placebo {
    pl_log log;
    pl_vulkan vulkan;
    pl_renderer renderer;
    pl_tex photo;   /* r8, 28 by 28: from the host */
    pl_tex picture; /* r8, 112 by 112 */
    pl_tex pixels;  /* r32f, 28 by 28: the network's input */
    pl_tex logits;  /* r32f, as many as labels: its output */
} placebo;

typedef struct answer {
    float patches[PHOTO_VALUES]; /* what the network read */
    float logits[LABELS];
    bool right, same_bits;
} answer;

typedef struct program {
    placebo p;
    gpu g;
    classifier c;
    photos photos;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore semaphores[3]; /* timelines: pixels held, logits held, plan done */
    uint64_t count;            /* the value that they have reached */
    answer answers[PHOTOS];
    uint32_t answered, checked; /* so many of them: by the first thread, and by the other */
    bool fine;
    pthread_mutex_t mutex; /* of the three above */
    pthread_cond_t changed;
    pthread_mutex_t weft; /* one thread at a time */
} program;

/* ---- libplacebo ---- */

static pl_tex make_texture(const placebo *p, const char *format, int width, int height) {
    pl_fmt found = pl_find_named_fmt(p->vulkan->gpu, format);
    if (!found) {
        fprintf(stderr, "libplacebo has no format %s here\n", format);
        return NULL;
    }
    const pl_tex made =
        pl_tex_create(p->vulkan->gpu, pl_tex_params(.w = width, .h = height, .format = found,
                                                    .sampleable = true, .renderable = true,
                                                    .host_writable = true, .host_readable = true));
    if (!made) {
        fprintf(stderr, "libplacebo makes no texture %s of %d by %d\n", format, width, height);
    }
    return made;
}

static bool make_placebo(placebo *p) {
    p->log =
        pl_log_create(PL_API_VER, pl_log_params(.log_cb = pl_log_simple, .log_level = PL_LOG_WARN));
    /* libplacebo names its objects where it finds the functions for that, enabled or not. */
    const char *const names[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const struct pl_vk_inst_params instance = {.opt_extensions = names, .num_opt_extensions = 1};
    p->vulkan = pl_vulkan_create(
        p->log, pl_vulkan_params(.allow_software = true, .instance_params = &instance));
    if (!p->vulkan) {
        return false;
    }
    p->renderer = pl_renderer_create(p->log, p->vulkan->gpu);
    p->photo = make_texture(p, "r8", PHOTO_SIDE, PHOTO_SIDE);
    p->picture = make_texture(p, "r8", PICTURE, PICTURE);
    p->pixels = make_texture(p, "r32f", PHOTO_SIDE, PHOTO_SIDE);
    return p->renderer && p->photo && p->picture && p->pixels;
}

static void destroy_placebo(placebo *p) {
    if (p->vulkan) {
        pl_tex_destroy(p->vulkan->gpu, &p->photo);
        pl_tex_destroy(p->vulkan->gpu, &p->picture);
        pl_tex_destroy(p->vulkan->gpu, &p->pixels);
        pl_tex_destroy(p->vulkan->gpu, &p->logits);
    }
    pl_renderer_destroy(&p->renderer);
    pl_vulkan_destroy(&p->vulkan);
    pl_log_destroy(&p->log);
}

static struct pl_frame grey_frame(pl_tex texture) {
    return (struct pl_frame){
        .num_planes = 1,
        .planes = {{.texture = texture, .components = 1, .component_mapping = {PL_CHANNEL_R}}},
        .repr = {.sys = PL_COLOR_SYSTEM_RGB, .levels = PL_COLOR_LEVELS_FULL},
        .color = pl_color_space_srgb};
}

/* Scales, and changes no color. */
static bool scale(pl_renderer renderer, pl_tex from, pl_tex to) {
    const struct pl_frame image = grey_frame(from), target = grey_frame(to);
    struct pl_render_params params = pl_render_fast_params;
    params.upscaler = &pl_filter_lanczos;
    params.downscaler = &pl_filter_mitchell;
    params.disable_linear_scaling = true;
    return pl_render_image(renderer, &image, &target, &params);
}

static bool show_photo(const program *m, uint32_t index) {
    const placebo *p = &m->p;
    uint8_t rows[PHOTO_SIDE * PHOTO_SIDE];
    for (uint32_t i = 0; i < PHOTO_SIDE * PHOTO_SIDE; i++) {
        rows[i] =
            m->photos
                .pixels[(size_t)index * PHOTO_VALUES + photo_place(i % PHOTO_SIDE, i / PHOTO_SIDE)];
    }
    return pl_tex_upload(p->vulkan->gpu, pl_tex_transfer_params(.tex = p->photo, .ptr = rows)) &&
           scale(p->renderer, p->photo, p->picture) && scale(p->renderer, p->picture, p->pixels);
}

/* ---- Weft on its device ---- */

static void lock_queue(void *user) {
    const pl_vulkan vulkan = ((const placebo *)user)->vulkan;
    vulkan->lock_queue(vulkan, (int)vulkan->queue_compute.index, 0);
}

static void unlock_queue(void *user) {
    const pl_vulkan vulkan = ((const placebo *)user)->vulkan;
    vulkan->unlock_queue(vulkan, (int)vulkan->queue_compute.index, 0);
}

static bool make_network(program *m, const char *folder) {
    const pl_vulkan vulkan = m->p.vulkan;
    m->g = (gpu){.instance = vulkan->instance,
                 .physical = vulkan->phys_device,
                 .device = vulkan->device,
                 .family = vulkan->queue_compute.index};
    vkGetDeviceQueue(m->g.device, m->g.family, 0, &m->g.queue);
    const queue_lock lock = {lock_queue, unlock_queue, &m->p};
    if (!classifier_open(&m->c, &m->g, lock, folder) ||
        weft_model_compile(&m->c.plan, m->c.model, m->c.device, 1, PHOTO_TOKENS, false, NULL) !=
            WEFT_OK ||
        !classifier_bind(&m->c)) {
        return false;
    }
    if (m->c.labels > LABELS) {
        fprintf(stderr, "%s has more than %d labels\n", folder, LABELS);
        return false;
    }
    m->p.logits = make_texture(&m->p, "r32f", (int)m->c.labels, 1);
    return m->p.logits != NULL;
}

static bool make_synchronization(program *m) {
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &timeline};
    bool fine = gpu_make_commands(&m->g, &m->pool, &m->commands, 1);
    for (int i = 0; i < 3 && fine; i++) {
        fine = gpu_check(vkCreateSemaphore(m->g.device, &info, NULL, &m->semaphores[i]),
                         "vkCreateSemaphore");
    }
    return fine;
}

/* Tokens are patches of 4 by 4 pixels: a region for each puts them in their order, without a shader. */
static void copy_patches(VkCommandBuffer commands, VkImage from, VkBuffer to) {
    VkBufferImageCopy patches[PHOTO_TOKENS];
    for (uint32_t i = 0; i < PHOTO_TOKENS; i++) {
        const int32_t across = PHOTO_SIDE / PHOTO_PATCH, token = (int32_t)i;
        patches[i] = (VkBufferImageCopy){
            .bufferOffset = (VkDeviceSize)i * PHOTO_CHANNELS * sizeof(float),
            .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
            .imageOffset = {token % across * PHOTO_PATCH, token / across * PHOTO_PATCH, 0},
            .imageExtent = {PHOTO_PATCH, PHOTO_PATCH, 1}};
    }
    vkCmdCopyImageToBuffer(commands, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to, PHOTO_TOKENS,
                           patches);
}

/* The plan between a copy from one texture and a copy to the other. */
static bool record(program *m, VkImage pixels, VkImage logits) {
    const VkBufferImageCopy row = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {m->c.labels, 1, 1}};
    if (!gpu_begin(m->commands)) {
        return false;
    }
    copy_patches(m->commands, pixels, m->c.input.handle);
    gpu_barrier(m->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                WEFT_PLAN_STAGE, WEFT_PLAN_ACCESS);
    pthread_mutex_lock(&m->weft);
    const weft_status status = weft_plan_record(m->c.plan, m->commands, m->c.bindings);
    pthread_mutex_unlock(&m->weft);
    if (status != WEFT_OK) {
        return false;
    }
    gpu_barrier(m->commands, WEFT_PLAN_STAGE, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    vkCmdCopyBufferToImage(m->commands, m->c.output.handle, logits,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &row);
    return gpu_check(vkEndCommandBuffer(m->commands), "vkEndCommandBuffer");
}

/* Behind both textures' semaphores, on the queue that the other thread renders on. */
static bool submit(program *m) {
    const VkPipelineStageFlags stages[2] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
                                            VK_PIPELINE_STAGE_TRANSFER_BIT};
    const uint64_t values[2] = {m->count, m->count};
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 2,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &m->count};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &timeline,
                               .waitSemaphoreCount = 2,
                               .pWaitSemaphores = m->semaphores,
                               .pWaitDstStageMask = stages,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &m->commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &m->semaphores[2]};
    lock_queue(&m->p);
    const VkResult result = vkQueueSubmit(m->g.queue, 1, &info, VK_NULL_HANDLE);
    unlock_queue(&m->p);
    return gpu_check(result, "vkQueueSubmit");
}

/* From one texture to the other. Downloads wait for what came before, so the command buffer is free again by then. */
static bool classify(program *m) {
    const pl_gpu host = m->p.vulkan->gpu;
    const pl_tex pixels = m->p.pixels, logits = m->p.logits;
    m->count++;
    if (!pl_vulkan_hold(host, pixels, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                        (pl_vulkan_sem){m->semaphores[0], m->count}) ||
        !pl_vulkan_hold(host, logits, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                        (pl_vulkan_sem){m->semaphores[1], m->count}) ||
        !record(m, pl_vulkan_unwrap(host, pixels, NULL, NULL),
                pl_vulkan_unwrap(host, logits, NULL, NULL)) ||
        !submit(m)) {
        return false;
    }
    const pl_vulkan_sem done = {m->semaphores[2], m->count};
    pl_vulkan_release(host, pixels, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, done);
    pl_vulkan_release(host, logits, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, done);
    return true;
}

/* ---- the other thread ---- */

/* The plan as a whole on the same pixels, by way of the host: Weft submits by itself, with libplacebo's lock. */
static void *check(void *user) {
    program *m = user;
    pthread_mutex_lock(&m->mutex);
    while (m->fine && m->checked < PHOTOS) {
        if (m->checked == m->answered) {
            pthread_cond_wait(&m->changed, &m->mutex);
            continue;
        }
        answer *a = &m->answers[m->checked];
        float logits[LABELS];
        pthread_mutex_unlock(&m->mutex);
        pthread_mutex_lock(&m->weft);
        const bool fine = classifier_execute(m->c.plan, a->patches, logits);
        pthread_mutex_unlock(&m->weft);
        a->same_bits = fine && memcmp(logits, a->logits, m->c.labels * sizeof logits[0]) == 0;
        pthread_mutex_lock(&m->mutex);
        m->fine = m->fine && fine;
        m->checked++;
    }
    pthread_mutex_unlock(&m->mutex);
    return NULL;
}

/* For the other thread: there is one more, or there will be no more. */
static void tell(program *m, bool fine) {
    pthread_mutex_lock(&m->mutex);
    m->fine = m->fine && fine;
    m->answered += fine;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->mutex);
}

/* ---- all photographs ---- */

static bool download(const program *m, pl_tex from, float *to) {
    return pl_tex_download(m->p.vulkan->gpu, pl_tex_transfer_params(.tex = from, .ptr = to));
}

static bool answer_one(program *m, uint32_t index, answer *a) {
    float rows[PHOTO_VALUES];
    if (!show_photo(m, index) || !classify(m) || !download(m, m->p.logits, a->logits) ||
        !download(m, m->p.pixels, rows)) {
        return false;
    }
    for (uint32_t i = 0; i < PHOTO_VALUES; i++) {
        a->patches[photo_place(i % PHOTO_SIDE, i / PHOTO_SIDE)] = rows[i];
    }
    float probability;
    const uint32_t label = photo_answer(a->logits, m->c.labels, &probability);
    printf("%3u: %-12s %5.1f %%\n", index, weft_model_label(m->c.model, label),
           100.0 * (double)probability);
    a->right = label == m->photos.labels[index];
    return true;
}

static bool report(const program *m) {
    unsigned right = 0, same = 0;
    for (uint32_t i = 0; i < m->checked; i++) {
        right += m->answers[i].right;
        same += m->answers[i].same_bits;
    }
    printf("%d photographs, %u right, %u with the bits of weft_plan_execute\n", PHOTOS, right,
           same);
    return m->fine && same == PHOTOS;
}

static bool run(program *m) {
    pthread_t thread;
    m->fine = true;
    if (pthread_create(&thread, NULL, check, m) != 0) {
        fprintf(stderr, "no second thread\n");
        return false;
    }
    bool fine = true;
    for (uint32_t i = 0; i < PHOTOS && fine; i++) {
        fine = answer_one(m, (uint32_t)((uint64_t)i * m->photos.count / PHOTOS), &m->answers[i]);
        tell(m, fine);
    }
    pthread_join(thread, NULL);
    return report(m);
}

static void destroy(program *m) {
    if (m->g.device) {
        pl_gpu_finish(m->p.vulkan->gpu);
        for (int i = 0; i < 3; i++) {
            vkDestroySemaphore(m->g.device, m->semaphores[i], NULL);
        }
        vkDestroyCommandPool(m->g.device, m->pool, NULL);
    }
    classifier_destroy(&m->c);
    destroy_placebo(&m->p);
    photos_free(&m->photos);
}

int main(int count, char **words) {
    static program m = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER,
                        .weft = PTHREAD_MUTEX_INITIALIZER};
    if (count > 3) {
        fputs("usage: libplacebo [MODEL [DATA.npz]]\n", stderr);
        return 2;
    }
    const char *model = count > 1 ? words[1] : "api/examples/models/fashion-fmmformer";
    const char *data = count > 2 ? words[2] : "api/examples/data/fashion.npz";
    const bool fine = photos_read(&m.photos, data) && make_placebo(&m.p) &&
                      make_network(&m, model) && make_synchronization(&m) && run(&m);
    destroy(&m);
    return fine ? 0 : 1;
}
