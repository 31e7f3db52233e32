/* SPDX-License-Identifier: MIT */
/*
 * A video's frames in, labels out: FFmpeg decodes and puts frames on a Vulkan device, Weft reads them there.
 *
 *     av_hwframe_transfer_data    a decoded frame to an AVVkFrame
 *     weft_bindings_set_image     its first plane, as bytes, is the plan's input
 *     weft_plan_submit_with       waits for the frame's semaphore, and signals it
 *
 * The device is FFmpeg's, adopted by Weft, or with --ours one of this program, given to both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>

#include "classifier.h"
#include "luma.h"
#include "video.h"

typedef struct program {
    gpu g; /* with --ours instance and device are to be destroyed */
    bool ours;
    AVBufferRef *device, *frames; /* FFmpeg's contexts on it */
    video v;
    AVFrame *decoded, *on_device;
    luma l;
    classifier c;
    weft_plan *whole; /* the model alone, for comparison */
    float *logits;
    uint32_t count, same_bits;
} program;

/* ---- the device ---- */

static bool adopt_ffmpegs(program *p) {
    if (!video_check(av_hwdevice_ctx_create(&p->device, AV_HWDEVICE_TYPE_VULKAN, NULL, NULL, 0),
                     "av_hwdevice_ctx_create")) {
        return false;
    }
    const AVVulkanDeviceContext *made = ((AVHWDeviceContext *)(void *)p->device->data)->hwctx;
    p->g = (gpu){.instance = made->inst,
                 .physical = made->phys_dev,
                 .device = made->act_dev,
                 .family = (uint32_t)made->queue_family_comp_index};
    vkGetDeviceQueue(p->g.device, p->g.family, 0, &p->g.queue);
    return true;
}

static bool make_instance(gpu *g) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "weft ffmpeg example",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    uint32_t one = 1;
    if (!gpu_check(vkCreateInstance(&info, NULL, &g->instance), "vkCreateInstance")) {
        return false;
    }
    const VkResult result = vkEnumeratePhysicalDevices(g->instance, &one, &g->physical);
    return (one == 1 && result == VK_INCOMPLETE) || gpu_check(result, "vkEnumeratePhysicalDevices");
}

static bool find_compute(gpu *g) {
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof families[0];
    vkGetPhysicalDeviceQueueFamilyProperties(g->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            g->family = i;
            return true;
        }
    }
    fprintf(stderr, "no queue that computes\n");
    return false;
}

/* FFmpeg 5.1 wants timeline semaphores, as Weft does. The one queue does everything. */
static bool give_ours(program *p) {
    if (!make_instance(&p->g) || !find_compute(&p->g) || !gpu_make_device(&p->g, NULL)) {
        return false;
    }
    p->device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VULKAN);
    if (!p->device) {
        fprintf(stderr, "this FFmpeg knows no Vulkan\n");
        return false;
    }
    AVVulkanDeviceContext *ours = ((AVHWDeviceContext *)(void *)p->device->data)->hwctx;
    const int family = (int)p->g.family;
    ours->get_proc_addr = vkGetInstanceProcAddr;
    ours->inst = p->g.instance;
    ours->phys_dev = p->g.physical;
    ours->act_dev = p->g.device;
    ours->device_features =
        (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    ours->queue_family_index = ours->queue_family_tx_index = ours->queue_family_comp_index = family;
    ours->nb_graphics_queues = ours->nb_tx_queues = ours->nb_comp_queues = 1;
    ours->queue_family_encode_index = ours->queue_family_decode_index = -1;
    return video_check(av_hwdevice_ctx_init(p->device), "av_hwdevice_ctx_init");
}

/* ---- the video and its frames on the device ---- */

static bool open_video(program *p, const char *path) {
    if (!video_open(&p->v, path)) {
        return false;
    }
    const AVCodecContext *decoder = p->v.decoder;
    const VkFormat *formats = av_vkfmt_from_pixfmt(decoder->pix_fmt);
    if (!formats || formats[0] != VK_FORMAT_R8_UNORM) {
        fprintf(stderr, "%s: not a video whose first plane is light in bytes\n", path);
        return false;
    }
    p->decoded = av_frame_alloc();
    p->on_device = av_frame_alloc();
    p->frames = av_hwframe_ctx_alloc(p->device);
    if (!p->decoded || !p->on_device || !p->frames) {
        return false;
    }
    AVHWFramesContext *frames = (AVHWFramesContext *)(void *)p->frames->data;
    frames->format = AV_PIX_FMT_VULKAN;
    frames->sw_format = decoder->pix_fmt;
    frames->width = decoder->width;
    frames->height = decoder->height;
    return luma_of(&p->l, decoder->width, decoder->height,
                   decoder->color_range == AVCOL_RANGE_JPEG) &&
           video_check(av_hwframe_ctx_init(p->frames), "av_hwframe_ctx_init");
}

/* ---- the network ---- */

static weft_status build(const program *p, weft_graph *graph) {
    weft_tensor plane = {0}, features = {0}, logits = {0};
    weft_status status =
        weft_graph_input(&plane, graph, "plane", WEFT_U8, weft_shape_of(p->l.height, p->l.width));
    status = status ? status : weft_graph_convert(&plane, graph, plane, WEFT_F32);
    status = status ? status : graph_luma(&features, graph, plane, &p->l);
    status = status ? status
                    : weft_model_build(&logits, p->c.model, graph,
                                       weft_model_inputs(.features = features));
    return status ? status : weft_graph_output(graph, "logits", logits);
}

static size_t logits_size(const program *p) {
    return p->c.labels * sizeof(float);
}

static weft_status bind(program *p) {
    weft_status status = weft_bindings_create(&p->c.bindings, p->c.plan);
    status = status ? status : weft_buffer_create(&p->c.output_port, p->c.device, logits_size(p));
    return status ? status : weft_bindings_set(p->c.bindings, "logits", p->c.output_port);
}

static bool make_network(program *p, const char *folder) {
    weft_graph *graph = NULL;
    if (!classifier_open(&p->c, &p->g, (queue_lock){0}, folder)) {
        return false;
    }
    weft_status status = weft_graph_create(&graph, &classifier_host);
    status = status ? status : build(p, graph);
    status = status ? status : weft_plan_compile(&p->c.plan, p->c.device, graph, NULL);
    weft_graph_destroy(&graph);
    status = status ? status
                    : weft_model_compile(&p->whole, p->c.model, p->c.device, 1, PHOTO_TOKENS, false,
                                         NULL);
    p->logits = malloc(logits_size(p));
    return status == WEFT_OK && p->logits && bind(p) == WEFT_OK;
}

/* ---- one frame ---- */

/*
 * The frame says what its image went through last, and is told what it went through here. FFmpeg and this program use the queue
 * in turns, in one thread: FFmpeg 5.1 has no lock for it.
 */
static bool classify_image(program *p, AVVkFrame *frame) {
    const weft_semaphore_point filled = {frame->sem[0], frame->sem_value[0]};
    const weft_semaphore_point read = {frame->sem[0], frame->sem_value[0] + 1};
    uint64_t ticket = 0;
    weft_status status = weft_bindings_set_image(
        p->c.bindings, "plane",
        weft_image_params(.image = frame->img[0], .format = VK_FORMAT_R8_UNORM, .width = p->l.width,
                          .height = p->l.height, .layout = frame->layout[0],
                          .final_layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL));
    status =
        status
            ? status
            : weft_plan_submit_with(p->c.plan, p->c.bindings,
                                    weft_submit_params(.waits = &filled, .wait_count = 1,
                                                       .signal_points = &read, .signal_count = 1),
                                    &ticket);
    if (status != WEFT_OK) {
        return false;
    }
    frame->sem_value[0] = read.value;
    frame->layout[0] = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    frame->access[0] = VK_ACCESS_TRANSFER_READ_BIT;
    return weft_plan_wait(p->c.plan, ticket, UINT64_MAX, NULL) == WEFT_OK &&
           weft_buffer_read(p->c.output_port, 0, p->logits, logits_size(p)) == WEFT_OK;
}

/* FFmpeg 5.1 decodes to the host's memory and copies to the device; a frame that is on the device already would begin below. */
static AVVkFrame *to_device(program *p) {
    if (p->decoded->width != (int)p->l.width || p->decoded->height != (int)p->l.height) {
        fprintf(stderr, "the video's size changes from %u by %u to %d by %d\n", p->l.width,
                p->l.height, p->decoded->width, p->decoded->height);
        return NULL;
    }
    av_frame_unref(p->on_device);
    if (!video_check(av_hwframe_get_buffer(p->frames, p->on_device, 0), "av_hwframe_get_buffer") ||
        !video_check(av_hwframe_transfer_data(p->on_device, p->decoded, 0),
                     "av_hwframe_transfer_data")) {
        return NULL;
    }
    return (AVVkFrame *)(void *)p->on_device->data[0];
}

/* The same on the host, from what was decoded: the bits must be equal. */
static bool compare(program *p) {
    float features[PHOTO_VALUES];
    float *logits = malloc(logits_size(p));
    luma_on_host(&p->l, p->decoded->data[0], p->decoded->linesize[0], features);
    const bool fine = logits && classifier_execute(p->whole, features, logits);
    p->same_bits += fine && memcmp(logits, p->logits, logits_size(p)) == 0;
    free(logits);
    return fine;
}

static bool run_frame(program *p) {
    AVVkFrame *image = to_device(p);
    if (!image || !classify_image(p, image)) {
        return false;
    }
    float probability;
    const uint32_t label = photo_answer(p->logits, p->c.labels, &probability);
    printf("frame %3u: %-12s %5.1f %%\n", p->count, weft_model_label(p->c.model, label),
           100.0 * (double)probability);
    p->count++;
    return compare(p);
}

static bool run(program *p) {
    bool fine = true, end = false;
    while (fine && !end) {
        av_frame_unref(p->decoded);
        fine = video_read(&p->v, p->decoded, &end) && (end || run_frame(p));
    }
    printf("%u frames, %u with the bits of the host's frames\n", p->count, p->same_bits);
    return fine && p->same_bits == p->count;
}

/* ---- all of it ---- */

static void destroy(program *p) {
    weft_plan_destroy(&p->whole);
    classifier_destroy(&p->c);
    free(p->logits);
    av_frame_free(&p->decoded);
    av_frame_free(&p->on_device);
    video_close(&p->v);
    av_buffer_unref(&p->frames);
    av_buffer_unref(&p->device);
    if (p->ours && p->g.device) {
        vkDestroyDevice(p->g.device, NULL);
    }
    if (p->ours && p->g.instance) {
        vkDestroyInstance(p->g.instance, NULL);
    }
}

static bool classify(program *p, const char *path, const char *model) {
    const bool fine = (p->ours ? give_ours(p) : adopt_ffmpegs(p)) && open_video(p, path) &&
                      make_network(p, model) && run(p);
    destroy(p);
    return fine;
}

static bool make(const char *path, const char *data) {
    photos from;
    const bool fine = photos_read(&from, data) && video_make(path, &from, 40);
    photos_free(&from);
    return fine;
}

static int usage(void) {
    fputs("usage: ffmpeg VIDEO [MODEL]            labels of its frames, on FFmpeg's device\n"
          "       ffmpeg --ours VIDEO [MODEL]     the same on a device that FFmpeg is given\n"
          "       ffmpeg --make VIDEO.mkv [DATA]  a video of 40 photographs\n",
          stderr);
    return 2;
}

int main(int count, char **words) {
    program p = {0};
    const bool makes = count > 1 && strcmp(words[1], "--make") == 0;
    p.ours = count > 1 && strcmp(words[1], "--ours") == 0;
    const int path = makes || p.ours ? 2 : 1;
    if (count <= path || count > path + 2 || words[path][0] == '-') {
        return usage();
    }
    const char *more = count > path + 1 ? words[path + 1]
                       : makes          ? "api/examples/data/fashion.npz"
                                        : "api/examples/models/fashion-fmmformer";
    const bool fine = makes ? make(words[path], more) : classify(&p, words[path], more);
    return fine ? 0 : 1;
}
