/* SPDX-License-Identifier: MIT */
/*
 * The one translation unit that includes VkFFT (MIT licence, D. Tolmachev,
 * doi:10.1109/ACCESS.2023.3242240). Five things are put in its place before it is included:
 *   - the Vulkan functions: those of the recorder's device;
 *   - malloc, calloc and free: the recorder's, so that an error inside VkFFT leaks nothing;
 *   - sin and cos: host_dft.h's, so that its tables have the same bits on every host;
 *   - log2: exact for powers of two, because loops that fill tables end by it;
 *   - the preparation of the tables for Bluestein's and Rader's algorithms, which VkFFT runs on the
 *     device while planning: done here on the host in float64 instead.
 * It prints nothing, and its numbers are written in the C locale of this thread alone.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "mixers/vkfft/vkfft_unit.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/build_info.h>

#include "core/rules.h"
#include "core/system/locale.h"
#include "core/try.h"
#include "mixers/vkfft/host_dft.h"
#include "mixers/vkfft/recorder.h"

/* Set while this thread plans: the recorder that VkFFT's allocations go to,
   and the objects of glslang that exist just now. */
static _Thread_local struct weft_fft_recorder *current_recorder;
static _Thread_local glslang_shader_t *current_shader;
static _Thread_local glslang_program_t *current_program;

/*
 * VkFFT has room in a table for log2(radix) parts, counted in whole numbers, and fills one for each k < log2(radix): by a C
 * library, or under a rounding mode, for which log2(8) is a little more than 3 it writes a part behind the table.
 */
static double exact_log2(double x) {
    int exponent = 0;
    return frexp(x, &exponent) == 0.5 ? exponent - 1 : log2(x);
}

/* The functions of Vulkan that VkFFT calls by name, as the recorder's device has them. */
#define DECLARE(name) static _Thread_local PFN_vk##name vk##name;
WEFT_VK_INSTANCE_FUNCTIONS(DECLARE)
WEFT_VK_DEVICE_FUNCTIONS(DECLARE)
#undef DECLARE

static void use_functions(const struct weft_fft_recorder *recorder) {
#define USE(name) vk##name = recorder->instance.name;
    WEFT_VK_INSTANCE_FUNCTIONS(USE)
#undef USE
#define USE(name) vk##name = recorder->vk.name;
    WEFT_VK_DEVICE_FUNCTIONS(USE)
#undef USE
}

static int generate_phase_vectors(void *application, void *plan, uint64_t axis);
static int generate_rader_kernels(void *application, void *axis);

#define malloc(size)        weft_fft_malloc(current_recorder, size)
#define calloc(count, size) weft_fft_calloc(current_recorder, count, size)
#define free(pointer)       weft_fft_free(current_recorder, pointer)
#define sin(x)              weft_fft_sin((double)(x))
#define cos(x)              weft_fft_cos((double)(x))
#define log2(x)             exact_log2((double)(x))
#define printf(...)         ((void)0)

#define glslang_shader_create(input)    (current_shader = glslang_shader_create(input))
#define glslang_shader_delete(shader)   (glslang_shader_delete(shader), current_shader = NULL)
#define glslang_program_create()        (current_program = glslang_program_create())
#define glslang_program_delete(program) (glslang_program_delete(program), current_program = NULL)

/* Its include guard: the file that holds VkFFT's own versions of the two functions. */
#define VKFFT_RECURSIVEFFTGENERATORS_H
#define VkFFTGeneratePhaseVectors(application, plan, axis) \
    ((VkFFTResult)generate_phase_vectors(application, plan, axis))
#define VkFFTGenerateRaderFFTKernel(application, axis) \
    ((VkFFTResult)generate_rader_kernels(application, axis))

#define VKFFT_BACKEND 0
#include <vkFFT.h>

/*
 * Everything that VkFFT would otherwise take from the device. The result's bits depend on most of
 * these, so a change changes every result: raise PLAN_VERSION with it. COALESCED_BYTES: a strided
 * kernel reads this many neighbouring bytes of each row, so 32 lets an axis of up to 512
 * (WEFT_FFT_SHARED_BYTES / 32) be transformed in one dispatch, and is what one memory sector of a
 * GPU holds.
 */
#define PLAN_VERSION    1
#define COALESCED_BYTES 32
#define SHARED_BANKS    32
#define REGISTER_BOOST  1
#define TWO_STEP_LENGTH \
    524288 /* where four-step gets a third pass; VkFFT's default for unknown vendors */
#define RADER_MULT_FROM  17
#define RADER_MULT_BELOW 17 /* none by direct multiplication */
#define RADER_FFT_FROM   17
#define RADER_FFT_BELOW  16384

void weft_fft_vkfft_identity(char text[WEFT_FFT_IDENTITY_SIZE]) {
    (void)snprintf(text, WEFT_FFT_IDENTITY_SIZE,
                   "VkFFT %d, glslang %d.%d.%d, plan %d: %d invocations, %d shared, %d groups, %d "
                   "coalesced, %d banks, "
                   "boost %d, two-step %d, Rader %d %d %d %d",
                   VkFFTGetVersion(), GLSLANG_VERSION_MAJOR, GLSLANG_VERSION_MINOR,
                   GLSLANG_VERSION_PATCH, PLAN_VERSION, WEFT_FFT_MAX_INVOCATIONS,
                   WEFT_FFT_SHARED_BYTES, WEFT_FFT_MAX_GROUPS, COALESCED_BYTES, SHARED_BANKS,
                   REGISTER_BOOST, TWO_STEP_LENGTH, RADER_MULT_FROM, RADER_MULT_BELOW,
                   RADER_FFT_FROM, RADER_FFT_BELOW);
}

int weft_fft_vkfft_version(void) {
    return VkFFTGetVersion();
}

/* ---- tables made on the host; running out of memory does not return, see recorder.h ---- */

static void transform_on_host(double *output, const double *input, uint64_t n) {
    if (weft_fft_host_dft(output, input, n, current_recorder->host) != WEFT_OK) {
        weft_fft_recorder_out_of_memory(current_recorder);
    }
}

/* ---- L. I. Bluestein's algorithm: IEEE Trans. Audio Electroacoust. 18 (1970) 451 ---- */

/* chirp[i] = exp(πi i² / length), wrapped around in `padded` points so that a circular convolution
   equals the linear one. */
static void fill_chirp(double *chirp, uint64_t padded, uint64_t length) {
    memset(chirp, 0, padded * 2 * sizeof *chirp);
    for (uint64_t i = 0; i < length; i++) {
        double *value = chirp + 2 * i;
        weft_fft_root_of_unity(value, i * i % (2 * length), 2 * length);
        if (i > 0) {
            memcpy(chirp + 2 * (padded - i), value, 2 * sizeof *value);
        }
    }
}

/*
 * Place of frequency i after a transform in several passes without the reordering pass: the kernels multiply by the
 * chirp's spectrum in that order.
 */
static uint64_t unordered_place(uint64_t i, const uint64_t *split, uint64_t passes) {
    if (passes == 1) {
        return i;
    }
    if (passes == 2) {
        return i / split[1] + i % split[1] * split[0];
    }
    uint64_t outer = i / split[2];
    return outer / split[1] + outer % split[1] * split[0] + i % split[2] * split[1] * split[0];
}

static VkFFTResult upload_table(VkFFTApplication *app, VkBuffer *buffer, VkDeviceMemory *memory,
                                float *values, uint64_t size) {
    VkFFTResult result =
        allocateBufferVulkan(app, buffer, memory, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                             VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, size);
    return result == VKFFT_SUCCESS ? VkFFT_TransferDataFromCPU(app, values, buffer, size) : result;
}

/* The chirp, and its spectrum: of its conjugate for an inverse transform in several passes. */
static VkFFTResult upload_chirp(VkFFTApplication *app, const VkFFTPlan *plan, uint64_t axis,
                                const double *chirp, const double *spectrum, float *values) {
    uint64_t padded = plan->actualFFTSizePerAxis[axis][axis];
    uint64_t size = padded * 2 * sizeof *values;
    uint64_t passes = plan->numAxisUploads[axis];
    bool inverse = app->configuration.makeInversePlanOnly != 0;
    app->bufferBluesteinSize[axis] = size;
    for (uint64_t i = 0; i < 2 * padded; i++) {
        values[i] = (float)chirp[i];
    }
    VkFFTResult result = upload_table(app, &app->bufferBluestein[axis],
                                      &app->bufferBluesteinDeviceMemory[axis], values, size);
    if (result != VKFFT_SUCCESS) {
        return result;
    }
    /* The chirp is even, so its spectrum is too, and its conjugate's spectrum is the conjugate. */
    float sign = inverse && passes > 1 ? -1.0f : 1.0f;
    for (uint64_t i = 0; i < padded; i++) {
        uint64_t place = unordered_place(i, plan->axisSplit[axis], passes);
        values[2 * place] = (float)spectrum[2 * i];
        values[2 * place + 1] = sign * (float)spectrum[2 * i + 1];
    }
    return inverse ? upload_table(app, &app->bufferBluesteinIFFT[axis],
                                  &app->bufferBluesteinIFFTDeviceMemory[axis], values, size)
                   : upload_table(app, &app->bufferBluesteinFFT[axis],
                                  &app->bufferBluesteinFFTDeviceMemory[axis], values, size);
}

static int generate_phase_vectors(void *application, void *plan_pointer, uint64_t axis) {
    VkFFTApplication *app = application;
    const VkFFTPlan *plan = plan_pointer;
    uint64_t padded = plan->actualFFTSizePerAxis[axis][axis];
    /* A long real transform of even length is done as a complex one of half the length. */
    bool halved = plan->bigSequenceEvenR2C && axis == 0;
    uint64_t length = halved ? app->configuration.size[axis] / 2 : app->configuration.size[axis];
    double *chirp = calloc(padded, 2 * sizeof *chirp);
    double *spectrum = calloc(padded, 2 * sizeof *spectrum);
    float *values = calloc(padded, 2 * sizeof *values);
    fill_chirp(chirp, padded, length);
    transform_on_host(spectrum, chirp, padded);
    VkFFTResult result = upload_chirp(app, plan, axis, chirp, spectrum, values);
    free(chirp);
    free(spectrum);
    free(values);
    return (int)result;
}

/* ---- C. M. Rader's algorithm: Proc. IEEE 56 (1968) 1107 ---- */

/* The spectrum of exp(−2πi g^−j / prime), j = 0 … prime − 2, where g generates the multiplicative
   group. Freed with VkFFT's application. */
static float *rader_kernel(uint64_t prime, uint64_t generator) {
    uint64_t length = prime - 1;
    double *sequence = calloc(length, 2 * sizeof *sequence);
    double *spectrum = calloc(length, 2 * sizeof *spectrum);
    float *kernel = calloc(length, 2 * sizeof *kernel);
    uint64_t power = 1;
    for (uint64_t j = 0; j < length; j++) {
        /* g^j belongs at −j modulo the group's order. */
        double *value = sequence + 2 * ((length - j) % length);
        weft_fft_root_of_unity(value, prime - power, prime);
        power = power * generator % prime;
    }
    transform_on_host(spectrum, sequence, length);
    for (uint64_t j = 0; j < 2 * length; j++) {
        kernel[j] = (float)spectrum[j];
    }
    free(sequence);
    free(spectrum);
    return kernel;
}

#define MAX_RADER_PRIMES (sizeof((VkFFTApplication *)0)->rader_primes / sizeof(pfUINT))

static int generate_rader_kernels(void *application, void *axis_pointer) {
    VkFFTApplication *app = application;
    VkFFTSpecializationConstantsLayout *constants =
        &((VkFFTAxis *)axis_pointer)->specializationConstants;
    for (int i = 0; constants->useRader && i < constants->numRaderPrimes; i++) {
        VkFFTRaderContainer *container = &constants->raderContainer[i];
        if (container->type != 0) {
            continue; /* by direct multiplication: no spectrum needed */
        }
        uint64_t known = 0;
        while (known < app->numRaderFFTPrimes &&
               app->rader_primes[known] != (uint64_t)container->prime) {
            known++;
        }
        if (known == app->numRaderFFTPrimes) {
            if (known == MAX_RADER_PRIMES) {
                return (int)VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH;
            }
            float *kernel =
                rader_kernel((uint64_t)container->prime, (uint64_t)container->generator);
            app->rader_primes[known] = (uint64_t)container->prime;
            app->rader_buffer_size[known] = ((uint64_t)container->prime - 1) * 2 * sizeof *kernel;
            app->raderFFTkernel[known] = kernel;
            app->numRaderFFTPrimes++;
        }
        container->raderFFTkernel = app->raderFFTkernel[known];
    }
    return (int)VKFFT_SUCCESS;
}

/* ---- planning ---- */

/* Objects that VkFFT points to while it plans. */
struct session {
    struct weft_fft_recorder recorder;
    VkCommandBuffer commands;
    VkBuffer input, work, output;
    uint64_t input_bytes, work_bytes, output_bytes;
    VkFFTApplication app;
};

static bool is_inverse(const struct weft_fft_desc *desc) {
    return desc->kind == WEFT_FFT_C2C_INVERSE || desc->kind == WEFT_FFT_C2R;
}

static bool is_real(const struct weft_fft_desc *desc) {
    return desc->kind == WEFT_FFT_R2C || desc->kind == WEFT_FFT_C2R;
}

static void set_strides(pfUINT *strides, uint64_t row, const struct weft_fft_desc *desc) {
    strides[0] = row;
    for (uint32_t i = 1; i < VKFFT_MAX_FFT_DIMENSIONS; i++) {
        strides[i] = strides[i - 1] * (i < desc->rank ? desc->size[i] : 1);
    }
}

/*
 * VkFFT works in `buffer`; the first kernel reads inputBuffer instead. Complex results and half
 * spectra come about in the output itself. The real rows of C2R are shorter than the half spectra
 * it works on, so there `buffer` is temporary and the last kernel writes outputBuffer instead.
 */
static void describe_buffers(VkFFTConfiguration *configuration, struct session *session,
                             const struct weft_fft_desc *desc) {
    uint64_t complex_row = is_real(desc) ? desc->size[0] / 2 + 1 : desc->size[0];
    set_strides(configuration->bufferStride, complex_row, desc);
    configuration->isInputFormatted = 1;
    set_strides(configuration->inputBufferStride,
                desc->kind == WEFT_FFT_R2C ? desc->size[0] : complex_row, desc);
    configuration->bufferSize = &session->work_bytes;
    configuration->inputBufferSize = &session->input_bytes;
    if (desc->kind == WEFT_FFT_C2R) {
        configuration->isOutputFormatted = 1;
        set_strides(configuration->outputBufferStride, desc->size[0], desc);
        configuration->outputBufferSize = &session->output_bytes;
    }
}

static void describe_transform(VkFFTConfiguration *configuration,
                               const struct weft_fft_desc *desc) {
    configuration->FFTdim = desc->rank;
    for (uint32_t i = 0; i < desc->rank; i++) {
        configuration->size[i] = desc->size[i];
        configuration->omitDimension[i] = !desc->transform_axis[i];
    }
    configuration->numberBatches = desc->batch;
    configuration->performR2C = is_real(desc);
    /* Two real rows are transformed as one complex row only where all rows end up mixed anyway:
       otherwise a row's bits, and whether it is NaN, would depend on its neighbour. */
    configuration->disableMergeSequencesR2C = !(desc->rank == 2 && desc->transform_axis[1]);
    configuration->makeForwardPlanOnly = !is_inverse(desc);
    configuration->makeInversePlanOnly = is_inverse(desc);
    configuration->normalize = 0;
}

static void describe_device(VkFFTConfiguration *configuration, struct session *session,
                            const struct weft_fft_desc *desc) {
    const uint32_t share = session->recorder.share;
    configuration->physicalDevice = &session->recorder.physical;
    configuration->device = &session->recorder.vk.handle;
    configuration->queue = &session->recorder.queue;
    configuration->commandPool = &session->recorder.pool;
    configuration->fence = &session->recorder.fence;
    configuration->isCompilerInitialized = 1; /* by the holder of weft_glslang_lock */
    configuration->disableSetLocale = 1;
    configuration->useLUT = weft_rule_holds("tables");
    configuration->useLUT_4step = weft_rule_holds("tables");
    configuration->coalescedMemory = desc->columns > 0 ? 8 * desc->columns : COALESCED_BYTES;
    configuration->aimThreads = share * WEFT_FFT_MAX_INVOCATIONS;
    configuration->maxThreadsNum = share * WEFT_FFT_MAX_INVOCATIONS;
    configuration->sharedMemorySize = share * WEFT_FFT_SHARED_BYTES;
    configuration->numSharedBanks = SHARED_BANKS;
    configuration->registerBoost = REGISTER_BOOST;
    configuration->swapTo2Stage4Step = TWO_STEP_LENGTH;
    configuration->swapTo3Stage4Step = TWO_STEP_LENGTH;
    configuration->fixMinRaderPrimeMult = RADER_MULT_FROM;
    configuration->fixMaxRaderPrimeMult = RADER_MULT_BELOW;
    configuration->fixMinRaderPrimeFFT = RADER_FFT_FROM;
    configuration->fixMaxRaderPrimeFFT = RADER_FFT_BELOW;
}

static void make_buffers(struct session *session, const struct weft_fft_program *program,
                         const struct weft_fft_desc *desc) {
    struct weft_fft_recorder *recorder = &session->recorder;
    session->input_bytes = program->input_bytes;
    session->output_bytes = program->output_bytes;
    session->work_bytes = desc->kind == WEFT_FFT_C2R ? program->input_bytes : program->output_bytes;
    session->input = weft_fft_recorder_buffer(recorder, WEFT_FFT_ROLE_INPUT, session->input_bytes);
    session->output =
        weft_fft_recorder_buffer(recorder, WEFT_FFT_ROLE_OUTPUT, session->output_bytes);
    session->work =
        desc->kind == WEFT_FFT_C2R
            ? weft_fft_recorder_buffer(recorder, WEFT_FFT_ROLE_WORK, session->work_bytes)
            : session->output;
}

static VkFFTResult plan_and_record(struct session *session, const struct weft_fft_desc *desc) {
    VkFFTConfiguration configuration = {0};
    describe_device(&configuration, session, desc);
    describe_transform(&configuration, desc);
    describe_buffers(&configuration, session, desc);
    VkFFTResult result = initializeVkFFT(&session->app, configuration);
    if (result != VKFFT_SUCCESS) {
        return result; /* VkFFT has cleared its application */
    }
    if (session->app.configuration.tempBuffer) {
        weft_fft_recorder_set_role(&session->recorder, session->app.configuration.tempBuffer[0],
                                   WEFT_FFT_ROLE_TEMP);
    }
    VkFFTLaunchParams launch = {0};
    launch.commandBuffer = &session->commands;
    launch.inputBuffer = &session->input;
    launch.buffer = &session->work;
    launch.outputBuffer = desc->kind == WEFT_FFT_C2R ? &session->output : &session->work;
    session->commands = weft_fft_recorder_begin(&session->recorder);
    result = VkFFTAppend(&session->app, is_inverse(desc) ? 1 : -1, &launch);
    if (result == VKFFT_SUCCESS && !weft_fft_recorder_run(&session->recorder, session->commands)) {
        return VKFFT_ERROR_MALLOC_FAILED;
    }
    return result;
}

/*
 * VkFFT 1.3.4 mixes up the buffers of a one-dimensional inverse real transform in several passes:
 * its first pass may read `buffer` and its later ones inputBuffer. Each pass reads what the one
 * before wrote, and the first reads the input; the half spectra have the same strides in all of
 * these, so putting the bindings right is enough.
 */
static void chain_passes(struct weft_fft_recorder *recorder) {
    for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
        struct weft_fft_binding *read = &recorder->dispatches[i].binding[0];
        if (i == 0) {
            read->buffer = WEFT_FFT_INPUT;
            read->table = 0;
        } else if (read->buffer == WEFT_FFT_INPUT) {
            *read = recorder->dispatches[i - 1].binding[1];
        }
    }
}

static weft_status status_of(VkFFTResult result, const char **reason) {
    switch (result) {
    case VKFFT_SUCCESS:
        return WEFT_OK;
    case VKFFT_ERROR_MALLOC_FAILED:
        *reason = "out of memory";
        return WEFT_OUT_OF_HOST_MEMORY;
    case VKFFT_ERROR_FAILED_SHADER_PREPROCESS:
    case VKFFT_ERROR_FAILED_SHADER_PARSE:
    case VKFFT_ERROR_FAILED_SHADER_LINK:
    case VKFFT_ERROR_FAILED_SPIRV_GENERATE:
        *reason = "a kernel generated by VkFFT does not compile";
        return WEFT_COMPILE_ERROR;
    default:
        *reason = "VkFFT has no plan for this transform within the fixed limits";
        return WEFT_UNSUPPORTED;
    }
}

/* Frees glslang's objects that VkFFT held when the escape left it. */
static void drop_glslang_objects(void) {
    if (current_shader) {
        glslang_shader_delete(current_shader);
    }
    if (current_program) {
        glslang_program_delete(current_program);
    }
}

static weft_status run_session(struct session *session, struct weft_fft_program *program,
                               const struct weft_fft_desc *desc, const char **reason) {
    struct weft_fft_recorder *recorder = &session->recorder;
    jmp_buf escape;
    if (setjmp(escape) != 0) {
        drop_glslang_objects();
        *reason = "out of memory";
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    recorder->escape = &escape;
    make_buffers(session, program, desc);
    WEFT_TRY(status_of(plan_and_record(session, desc), reason));
    if (desc->kind == WEFT_FFT_C2R && desc->rank == 1) {
        chain_passes(recorder);
    }
    weft_status status = weft_fft_recorder_take(recorder, program);
    *reason = recorder->failure;
    return status;
}

weft_status weft_fft_vkfft_plan(struct weft_fft_program *program, const struct weft_fft_desc *desc,
                                uint32_t *compiled, const char **reason, const weft_host *host) {
    struct session *session = weft_alloc_zero(host, 1, sizeof *session);
    weft_locale locale;
    if (!session || !weft_locale_begin(&locale, host)) {
        weft_free(host, session);
        *reason = "out of memory";
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    current_recorder = &session->recorder;
    *reason = "out of memory";
    weft_status status =
        weft_fft_recorder_init(&session->recorder, desc->share > 0 ? desc->share : 1, host);
    if (status == WEFT_OK) {
        use_functions(&session->recorder);
        status = run_session(session, program, desc, reason);
    }
    *compiled = session->recorder.compiled;
    weft_locale_end(&locale, host);
    /* Everything that VkFFT holds is the recorder's, so there is nothing left for deleteVkFFT. */
    weft_fft_recorder_finish(&session->recorder);
    current_recorder = NULL;
    weft_free(host, session);
    return status;
}
