/* SPDX-License-Identifier: MIT */
/* Kernels of OpenCL devices: from SPIR-V by text to a program of the driver's, and from its binary to a kernel. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/math/float_state.h"
#include "core/try.h"
#include "core/vendor.h"
#include "opencl/emit.h"
#include "opencl/state.h"
#include "softvk/instance.h"
#include "softvk/module.h"

/*
 * An object: this, then the driver's binary. Subnormals are flushed by the driver where it can: where it does not, the probe finds that, and
 * modules flush them by instructions.
 */
#define MAGIC UINT32_C(0x336c6377) /* "wcl3": another one for other arguments of kernels (emit.h) */

struct header {
    uint32_t magic;
    uint32_t binding_count;
    struct weft_soft_binding bindings[WEFT_SOFT_MAX_BINDINGS];
    uint32_t push_size;
    uint32_t local_size[3];
    uint32_t careful; /* built without optimization */
};

#define OPTIONS         "-cl-std=CL1.2 -cl-denorms-are-zero"
#define CAREFUL_OPTIONS OPTIONS " -cl-opt-disable"

/* ---- building ---- */

/* The first line of what the compiler says that names an error, or else the first. */
static void pick_line(char *line, size_t size, char *log) {
    const char *error = strstr(log, "error");
    const char *start = error ? error : log;
    while (start > log && start[-1] != '\n') {
        start--;
    }
    const size_t length = strcspn(start, "\n");
    (void)snprintf(line, size, "%.*s", (int)(length < size ? length : size - 1), start);
}

static weft_status fail_build(const struct weft_cl_state *state, cl_program program, cl_int error,
                              const weft_host *host) {
    char log[4096] = "", line[512], text[24];
    if (state->cl->GetProgramBuildInfo(program, state->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1,
                                       log, NULL) != CL_SUCCESS) {
        log[0] = '\0'; /* or it is longer */
    }
    pick_line(line, sizeof line, log);
    return weft_fail(host, WEFT_COMPILE_ERROR, "clBuildProgram: %s%s%s",
                     weft_cl_error_name(error, text), line[0] == '\0' ? "" : ": ", line);
}

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER; /* the build of builds_alone */

static weft_status build(const struct weft_cl_state *state, cl_program program, bool careful,
                         const weft_host *host) {
    if (state->builds_alone) {
        pthread_mutex_lock(&alone);
    }
    const cl_int error = state->cl->BuildProgram(program, 1, &state->id,
                                                 careful ? CAREFUL_OPTIONS : OPTIONS, NULL, NULL);
    if (state->builds_alone) {
        pthread_mutex_unlock(&alone);
    }
    return error == CL_SUCCESS ? WEFT_OK : fail_build(state, program, error, host);
}

/* ---- compiling ---- */

static void fill_header(struct header *header, const struct weft_cl_text *text, bool careful) {
    *header = (struct header){.magic = MAGIC,
                              .binding_count = text->binding_count,
                              .push_size = text->push_size,
                              .careful = careful};
    for (uint32_t i = 0; i < text->binding_count; i++) {
        header->bindings[i] = (struct weft_soft_binding){.set = text->bindings[i].set,
                                                         .binding = text->bindings[i].binding};
    }
    memcpy(header->local_size, text->local_size, sizeof header->local_size);
}

/* Some compilers do their work only when a kernel is made: there is one while the binary is asked for. */
static weft_status take_binary(struct weft_soft_object *object, const struct header *header,
                               const struct weft_cl_state *state, cl_program program,
                               const weft_host *host) {
    size_t size = 0;
    cl_int error =
        state->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    if (error != CL_SUCCESS || size == 0) {
        return weft_fail(host, WEFT_UNSUPPORTED, "the OpenCL driver gives no binary of a program");
    }
    object->size = sizeof *header + size;
    object->bytes = weft_alloc(host, object->size);
    if (!object->bytes) {
        return weft_fail_memory(host, "a program's binary");
    }
    memcpy(object->bytes, header, sizeof *header);
    unsigned char *binary = object->bytes + sizeof *header;
    error = state->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    if (error != CL_SUCCESS) {
        weft_free(host, object->bytes);
        *object = (struct weft_soft_object){0};
        return weft_cl_fail(host, "clGetProgramInfo", error);
    }
    return WEFT_OK;
}

static weft_status build_text(struct weft_soft_object *object, const struct weft_cl_text *text,
                              const struct weft_cl_state *state, bool careful,
                              const weft_host *host) {
    const char *source = text->text;
    struct header header;
    cl_int error = CL_SUCCESS;
    cl_program program =
        state->cl->CreateProgramWithSource(state->context, 1, &source, &text->size, &error);
    if (!program) {
        return weft_cl_fail(host, "clCreateProgramWithSource", error);
    }
    weft_status status = build(state, program, careful, host);
    cl_kernel kernel = NULL;
    if (status == WEFT_OK) {
        kernel = state->cl->CreateKernel(program, WEFT_CL_KERNEL, &error);
        status = kernel ? WEFT_OK : weft_cl_fail(host, "clCreateKernel", error);
    }
    if (status == WEFT_OK) {
        fill_header(&header, text, careful);
        status = take_binary(object, &header, state, program, host);
    }
    if (kernel) {
        (void)state->cl->ReleaseKernel(kernel);
    }
    (void)state->cl->ReleaseProgram(program);
    return status;
}

/* Compiles again without the optimizer if it fails: Oclgrind's makes instructions that Oclgrind lacks. */
static weft_status build_either_way(struct weft_soft_object *object,
                                    const struct weft_cl_text *text,
                                    const struct weft_cl_state *state, const weft_host *host) {
    weft_host quiet = host ? *host : (weft_host){.log = NULL};
    quiet.log = NULL;
    if (!atomic_load(&state->device->careful) &&
        build_text(object, text, state, false, &quiet) == WEFT_OK) {
        return WEFT_OK;
    }
    return build_text(object, text, state, true, host);
}

weft_status weft_cl_compile(struct weft_soft_object *object, const struct weft_soft_source *source,
                            void *untyped, const weft_host *host) {
    WEFT_ENTER; /* a compiler may fold constants as this thread computes */
    const struct weft_cl_state *state = untyped;
    struct weft_ir_source module;
    struct weft_cl_text text = {0};
    char error[WEFT_IR_TEXT];
    WEFT_TRY(weft_soft_module(&module, source, state->device, host));
    weft_status status = weft_cl_emit(&text, &module, error, host);
    if (status != WEFT_OK) {
        weft_log(host, WEFT_LOG_ERROR, "%s", error);
    } else {
        status = build_either_way(object, &text, state, host);
    }
    weft_free(host, text.text);
    weft_soft_module_free(&module, host);
    return status;
}

/* ---- loading ---- */

static weft_status read_header(struct header *header, const uint8_t *bytes, size_t size,
                               const weft_host *host) {
    bool fits = size > sizeof *header;
    if (fits) {
        memcpy(header, bytes, sizeof *header);
        fits = header->magic == MAGIC && header->binding_count <= WEFT_SOFT_MAX_BINDINGS &&
               header->push_size <= WEFT_SOFT_MAX_PUSH;
    }
    for (uint32_t i = 0; fits && i < 3; i++) {
        fits = header->local_size[i] > 0 && header->local_size[i] <= WEFT_IR_MAX_INVOCATIONS;
    }
    return fits ? WEFT_OK : weft_fail(host, WEFT_BAD_FILE, "an OpenCL program's object is damaged");
}

static weft_status load_program(struct weft_cl_kernel *kernel, const struct weft_cl_state *state,
                                const uint8_t *binary, size_t size, bool careful,
                                const weft_host *host) {
    cl_int error = CL_SUCCESS, told = CL_SUCCESS;
    kernel->program = state->cl->CreateProgramWithBinary(state->context, 1, &state->id, &size,
                                                         &binary, &told, &error);
    if (!kernel->program) {
        return weft_cl_fail(host, "clCreateProgramWithBinary", error);
    }
    WEFT_TRY(build(state, kernel->program, careful, host));
    kernel->kernel = state->cl->CreateKernel(kernel->program, WEFT_CL_KERNEL, &error);
    return kernel->kernel ? WEFT_OK : weft_cl_fail(host, "clCreateKernel", error);
}

static weft_status ask_kernel(size_t *value, const struct weft_cl_kernel *kernel,
                              const struct weft_cl_state *state, cl_kernel_work_group_info what,
                              const weft_host *host) {
    const cl_int error = state->cl->GetKernelWorkGroupInfo(kernel->kernel, state->id, what,
                                                           sizeof *value, value, NULL);
    return error == CL_SUCCESS ? WEFT_OK : weft_cl_fail(host, "clGetKernelWorkGroupInfo", error);
}

/*
 * Whether what a driver allows a kernel is no statement about it. Rusticl of Mesa 22 gives the size of a subgroup, which is the preferred multiple,
 * too; NVIDIA's gives 256 of each, although it compiles a kernel that requires 512 for as many (580, on an H200).
 */
static bool says_nothing(size_t most, size_t multiple, const struct weft_cl_state *state) {
    enum { OF_EACH = 256 };
    const uint32_t vendor = state->device->physical->properties.vendor_id;
    return most == multiple || (most == OF_EACH && vendor == WEFT_VENDOR_NVIDIA);
}

/* A driver may allow a kernel less than a device, by its registers. */
static weft_status check_size(const struct weft_cl_kernel *kernel,
                              const struct weft_cl_state *state, const weft_host *host) {
    const size_t wanted =
        (size_t)kernel->local_size[0] * kernel->local_size[1] * kernel->local_size[2];
    size_t most = 0, multiple = 0;
    WEFT_TRY(ask_kernel(&most, kernel, state, CL_KERNEL_WORK_GROUP_SIZE, host));
    WEFT_TRY(
        ask_kernel(&multiple, kernel, state, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, host));
    return wanted <= most || says_nothing(most, multiple, state)
               ? WEFT_OK
               : weft_fail(host, WEFT_UNSUPPORTED,
                           "the OpenCL driver allows workgroups of %zu invocations for a kernel "
                           "that has %zu",
                           most, wanted);
}

static void drop(struct weft_cl_kernel *kernel, const struct weft_cl_state *state,
                 const weft_host *host) {
    if (kernel->kernel) {
        (void)state->cl->ReleaseKernel(kernel->kernel);
    }
    if (kernel->program) {
        (void)state->cl->ReleaseProgram(kernel->program);
    }
    weft_free(host, kernel);
}

weft_status weft_cl_load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                         void *untyped, const weft_host *host) {
    WEFT_ENTER;
    const struct weft_cl_state *state = untyped;
    struct header header;
    WEFT_TRY(read_header(&header, bytes, size, host));
    struct weft_cl_kernel *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(host, "a kernel");
    }
    memcpy(made->local_size, header.local_size, sizeof made->local_size);
    made->argument_size = weft_cl_argument_size(header.binding_count, header.push_size);
    weft_status status = load_program(made, state, bytes + sizeof header, size - sizeof header,
                                      header.careful != 0, host);
    if (status == WEFT_OK) {
        status = check_size(made, state, host);
    }
    if (status != WEFT_OK) {
        drop(made, state, host);
        return status;
    }
    *kernel = (struct weft_soft_kernel){
        .binding_count = header.binding_count, .push_size = header.push_size, .own = made};
    memcpy(kernel->bindings, header.bindings, sizeof kernel->bindings);
    return WEFT_OK;
}

void weft_cl_unload(struct weft_soft_kernel *kernel, void *state) {
    const struct weft_cl_state *of = state;
    drop(kernel->own, of, &of->device->host);
}
