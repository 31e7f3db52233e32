/* SPDX-License-Identifier: MIT */
/*
 * Times VkFFT by itself (D. Tolmachev, doi:10.1109/ACCESS.2023.3242240) on one Vulkan device, without Weft:
 *
 *   vkfft_raw --device NAME --rows R --columns C --rank 1|2 --back 0|1 --pinned 0|1 --seconds S --input FILE --output FILE
 *
 * Transforms R rows of C real float32 numbers of FILE, each row by itself (rank 1) or the whole array (rank 2), writes the
 * half spectra [R, C/2 + 1] of one transform as pairs of float32, and prints as JSON the times of many: of the forward
 * transform, or with --back 1 of it and the inverse, [[device ms, host ms, CPU ms], ...]. --pinned 1: VkFFT's numbers for a
 * device are those that Weft always gives it, and not what it finds itself. `--version` prints VkFFT's. Nothing but the
 * transforms is timed.
 */
#define VOLK_IMPLEMENTATION
#include "vulkan_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslang_c_interface.h>

#define VKFFT_BACKEND 0
#include <vkFFT.h>

#define MIN_RUNS 5
#define MAX_RUNS 200

struct options {
    const char *device, *input, *output;
    uint64_t rows, columns;
    bool whole; /* rank 2 */
    bool back, pinned;
    double seconds;
};

struct transform {
    struct options options;
    struct peer_device device;
    struct peer_buffer input, work;
    uint64_t row_bytes; /* of half a spectrum */
    VkFFTApplication app;
    float *source; /* as it is in the input buffer, or padded as in the work buffer */
    size_t source_bytes;
};

/* ---- the command line ---- */

static double number_of(const char *text, const char *name) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || value < 0.0) {
        peer_fail("%s: expected a number, found '%s'", name, text);
    }
    return value;
}

static void set_option(struct options *options, const char *name, const char *value) {
    if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--input") == 0) {
        options->input = value;
    } else if (strcmp(name, "--output") == 0) {
        options->output = value;
    } else if (strcmp(name, "--rows") == 0) {
        options->rows = (uint64_t)number_of(value, name);
    } else if (strcmp(name, "--columns") == 0) {
        options->columns = (uint64_t)number_of(value, name);
    } else if (strcmp(name, "--rank") == 0) {
        options->whole = number_of(value, name) == 2.0;
    } else if (strcmp(name, "--back") == 0) {
        options->back = number_of(value, name) == 1.0;
    } else if (strcmp(name, "--pinned") == 0) {
        options->pinned = number_of(value, name) == 1.0;
    } else if (strcmp(name, "--seconds") == 0) {
        options->seconds = number_of(value, name);
    } else {
        peer_fail("no such option: %s", name);
    }
}

static struct options read_options(int count, char **arguments) {
    struct options options = {0};
    for (int i = 1; i + 1 < count; i += 2) {
        set_option(&options, arguments[i], arguments[i + 1]);
    }
    if (count % 2 == 0 || !options.device || !options.input || !options.output ||
        options.rows == 0 || options.columns == 0) {
        peer_fail("usage: vkfft_raw --device NAME --rows R --columns C --rank 1|2 --back 0|1 "
                  "--pinned 0|1 --seconds S --input FILE --output FILE");
    }
    return options;
}

/* ---- files ---- */

/**
 * The numbers of the input file. A transform there and back is in place, in rows padded to their spectrum; the other one has
 * an input of its own.
 */
static void read_source(struct transform *transform) {
    const struct options *options = &transform->options;
    uint64_t row = options->back ? transform->row_bytes / sizeof(float) : options->columns;
    transform->source_bytes = (size_t)(options->rows * row) * sizeof(float);
    transform->source = calloc(1, transform->source_bytes);
    FILE *file = fopen(options->input, "rb");
    if (!file || !transform->source) {
        peer_fail("%s: cannot be read", options->input);
    }
    for (uint64_t i = 0; i < options->rows; i++) {
        if (fread(transform->source + i * row, sizeof(float), options->columns, file) !=
            options->columns) {
            peer_fail("%s: holds less than %llu x %llu float32", options->input,
                      (unsigned long long)options->rows, (unsigned long long)options->columns);
        }
    }
    (void)fclose(file);
}

static void write_spectrum(struct transform *transform) {
    const struct options *options = &transform->options;
    size_t size = (size_t)(options->rows * transform->row_bytes);
    void *data = malloc(size);
    FILE *file = fopen(options->output, "wb");
    if (!file || !data) {
        peer_fail("%s: cannot be written", options->output);
    }
    peer_buffer_read(&transform->device, &transform->work, data, size);
    if (fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        peer_fail("%s: cannot be written", options->output);
    }
    free(data);
}

/* ---- VkFFT ---- */

/** As runtime/mixers/vkfft/vkfft_unit.c gives them, in reproducible mode. */
static void pin(VkFFTConfiguration *configuration) {
    configuration->useLUT = 1;
    configuration->useLUT_4step = 1;
    configuration->coalescedMemory = 32;
    configuration->aimThreads = 128;
    configuration->maxThreadsNum = 128;
    configuration->sharedMemorySize = 16384;
    configuration->numSharedBanks = 32;
    configuration->registerBoost = 1;
    configuration->swapTo2Stage4Step = 524288;
    configuration->swapTo3Stage4Step = 524288;
    configuration->fixMinRaderPrimeMult = 17;
    configuration->fixMaxRaderPrimeMult = 17;
    configuration->fixMinRaderPrimeFFT = 17;
    configuration->fixMaxRaderPrimeFFT = 16384;
}

static void describe(VkFFTConfiguration *configuration, struct transform *transform) {
    const struct options *options = &transform->options;
    configuration->physicalDevice = &transform->device.physical;
    configuration->device = &transform->device.device;
    configuration->queue = &transform->device.queue;
    configuration->commandPool = &transform->device.pool;
    configuration->fence = &transform->device.fence;
    configuration->isCompilerInitialized = 1;
    configuration->performR2C = 1;
    configuration->normalize = 1;
    configuration->FFTdim = options->whole ? 2 : 1;
    configuration->size[0] = options->columns;
    configuration->size[1] = options->whole ? options->rows : 1;
    configuration->numberBatches = options->whole ? 1 : options->rows;
    configuration->bufferSize = &transform->work.size;
    configuration->makeForwardPlanOnly = !options->back;
    if (!options->back) {
        configuration->isInputFormatted = 1;
        configuration->inputBufferSize = &transform->input.size;
        configuration->inputBufferStride[0] = options->columns;
        configuration->inputBufferStride[1] = options->columns * options->rows;
        configuration->inputBufferStride[2] = options->columns * options->rows;
    }
    if (options->pinned) {
        configuration->disableMergeSequencesR2C = !options->whole;
        pin(configuration);
    }
}

static void check(VkFFTResult result, const char *what) {
    if (result != VKFFT_SUCCESS) {
        peer_fail("%s: VkFFT error %d", what, (int)result);
    }
}

static void plan(struct transform *transform) {
    const struct options *options = &transform->options;
    transform->row_bytes = 8 * (options->columns / 2 + 1);
    transform->work = peer_buffer_create(&transform->device, options->rows * transform->row_bytes);
    transform->input = peer_buffer_create(&transform->device, 4 * options->rows * options->columns);
    VkFFTConfiguration configuration = {0};
    describe(&configuration, transform);
    check(initializeVkFFT(&transform->app, configuration), "initializeVkFFT");
}

static void append(struct transform *transform, VkCommandBuffer commands, bool inverse) {
    VkFFTLaunchParams launch = {0};
    launch.commandBuffer = &commands;
    launch.buffer = &transform->work.buffer;
    launch.inputBuffer = &transform->input.buffer;
    check(VkFFTAppend(&transform->app, inverse ? 1 : -1, &launch), "VkFFTAppend");
}

static void upload(struct transform *transform) {
    peer_buffer_write(&transform->device,
                      transform->options.back ? &transform->work : &transform->input,
                      transform->source, transform->source_bytes);
}

static void transform_once(struct transform *transform) {
    upload(transform);
    VkCommandBuffer commands = peer_commands_begin(&transform->device);
    append(transform, commands, false);
    peer_commands_end(&transform->device, commands);
    (void)peer_commands_run(&transform->device, commands);
    peer_commands_free(&transform->device, commands);
    write_spectrum(transform);
}

/* ---- times ---- */

/* Of the commands that are being recorded. volk's functions are variables. */
static PFN_vkCmdDispatch real_dispatch;
static uint32_t dispatches;

static VKAPI_ATTR void VKAPI_CALL count_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                                 uint32_t z) {
    dispatches++;
    real_dispatch(commands, x, y, z);
}

static VkCommandBuffer record(struct transform *transform) {
    real_dispatch = vkCmdDispatch;
    vkCmdDispatch = count_dispatch;
    VkCommandBuffer commands = peer_commands_begin(&transform->device);
    append(transform, commands, false);
    if (transform->options.back) {
        append(transform, commands, true);
    }
    peer_commands_end(&transform->device, commands);
    vkCmdDispatch = real_dispatch;
    return commands;
}

static void print_times(struct peer_times times, bool first) {
    printf("%s[%.6f, %.6f, %.6f]", first ? "" : ", ",
           times.device_ms < 0.0 ? times.host_ms : times.device_ms, times.host_ms, times.cpu_ms);
}

static void time_runs(struct transform *transform) {
    upload(transform);
    VkCommandBuffer commands = record(transform);
    printf("{\"clock\": \"%s\", \"dispatches\": %u, \"runs\": [",
           transform->device.queries ? "device" : "host", dispatches);
    if (transform->options.seconds > 0.0) {
        (void)peer_commands_run(&transform->device, commands); /* warms up */
        double end = peer_clock_ms() + 1e3 * transform->options.seconds;
        for (int i = 0; i < MAX_RUNS && (i < MIN_RUNS || peer_clock_ms() < end); i++) {
            print_times(peer_commands_run(&transform->device, commands), i == 0);
        }
    }
    printf("]}\n");
    peer_commands_free(&transform->device, commands);
}

static void close_transform(struct transform *transform) {
    deleteVkFFT(&transform->app);
    peer_buffer_destroy(&transform->device, &transform->input);
    peer_buffer_destroy(&transform->device, &transform->work);
    peer_device_close(&transform->device);
    free(transform->source);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        int version = VkFFTGetVersion();
        printf("%d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
        return 0;
    }
    static struct transform transform; /* VkFFT's application is large */
    transform.options = read_options(count, arguments);
    peer_device_open(&transform.device, transform.options.device);
    if (!glslang_initialize_process()) {
        peer_fail("glslang does not start");
    }
    plan(&transform);
    read_source(&transform);
    transform_once(&transform);
    time_runs(&transform);
    close_transform(&transform);
    glslang_finalize_process();
    return 0;
}
