/* SPDX-License-Identifier: MIT */
/* Programs and kernels of the OpenCL library, and running them. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object.h"
#include "compile.h"
#include "driver.h"

/* ---- programs ---- */

STAND_IN_PUBLIC cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                                     const char **texts, const size_t *sizes,
                                                     cl_int *error) {
    cl_program made = calloc(1, sizeof *made);
    const size_t size = count == 1 && sizes ? sizes[0] : 0;
    (void)context;
    *error = count == 1 ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_VALUE;
    if (!made || count != 1) {
        free(made);
        return NULL;
    }
    made->references = 1;
    made->size = size > 0 ? size : strlen(texts[0]);
    made->text = malloc(made->size + 1);
    if (!made->text) {
        free(made);
        return NULL;
    }
    memcpy(made->text, texts[0], made->size);
    made->text[made->size] = '\0';
    *error = CL_SUCCESS;
    return made;
}

STAND_IN_PUBLIC cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                     const cl_device_id *devices,
                                                     const size_t *sizes,
                                                     const unsigned char **binaries, cl_int *told,
                                                     cl_int *error) {
    cl_program made = calloc(1, sizeof *made);
    (void)context;
    (void)count;
    (void)devices;
    *error = CL_OUT_OF_HOST_MEMORY;
    if (made) {
        *made =
            (struct _cl_program){.references = 1, .object = malloc(sizes[0] + 1), .size = sizes[0]};
    }
    if (!made || !made->object) {
        free(made);
        return NULL;
    }
    memcpy(made->object, binaries[0], sizes[0]);
    *error = CL_SUCCESS;
    if (told) {
        *told = CL_SUCCESS;
    }
    return made;
}

static void dump(const char *text) {
    static atomic_uint number;
    const char *folder = getenv("WEFT_AMD_DUMP");
    char path[512];
    if (folder) {
        (void)snprintf(path, sizeof path, "%s/%04u.cl", folder, atomic_fetch_add(&number, 1));
        FILE *file = fopen(path, "w");
        if (file) {
            (void)fputs(text, file);
            (void)fclose(file);
        }
    }
}

/* The emulator may lack an instruction: who builds learns it, by its name. */
static bool load(cl_program program) {
    char error[AMD_TEXT] = "";
    program->is_loaded = amd_program_load(&program->program, amd_driver_gpu(), program->object,
                                          program->size, AMD_KERNEL, error);
    if (!program->is_loaded) {
        amd_program_free(&program->program);
        free(program->log);
        program->log = malloc(AMD_TEXT + 16);
        if (program->log) {
            (void)snprintf(program->log, AMD_TEXT + 16, "error: %s", error);
        }
    }
    return program->is_loaded;
}

/* The options are Weft's: those of opencl/program.c. Without the optimizer is compiled no otherwise: then the message would be of that. */
STAND_IN_PUBLIC cl_int clBuildProgram(cl_program program, cl_uint count,
                                      const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    struct amd_compiled compiled;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    if (!options || !strstr(options, "-cl-denorms-are-zero")) {
        return CL_INVALID_BUILD_OPTIONS;
    }
    if (!program->text) {
        return load(program) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
    }
    dump(program->text);
    const bool is_made = amd_compile(&compiled, amd_driver_gpu()->name, program->text,
                                     program->size, amd_driver_breaks("contraction"));
    free(program->text);
    program->text = NULL;
    program->log = compiled.log;
    program->object = compiled.object;
    program->size = compiled.size;
    return is_made && load(program) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

STAND_IN_PUBLIC cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                             cl_program_build_info what, size_t room, void *out,
                                             size_t *needed) {
    (void)device;
    if (what != CL_PROGRAM_BUILD_LOG) {
        return CL_INVALID_VALUE;
    }
    return stand_in_give_text(program->log ? program->log : "clang could not be run", room, out,
                              needed);
}

STAND_IN_PUBLIC cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room,
                                        void *out, size_t *needed) {
    unsigned char *to = NULL;
    if (what == CL_PROGRAM_BINARY_SIZES) {
        return stand_in_give_number(program->object ? program->size : 0, sizeof(size_t), room, out,
                                    needed);
    }
    if (what != CL_PROGRAM_BINARIES || !out || room < sizeof to || !program->object) {
        return CL_INVALID_VALUE;
    }
    memcpy(&to, out, sizeof to);
    memcpy(to, program->object, program->size);
    return CL_SUCCESS;
}

static void release(cl_program program) {
    pthread_mutex_lock(&amd_lock);
    const bool is_last = --program->references == 0;
    pthread_mutex_unlock(&amd_lock);
    if (is_last) {
        if (program->is_loaded) {
            amd_program_free(&program->program);
        }
        free(program->text);
        free(program->object);
        free(program->log);
        free(program);
    }
}

STAND_IN_PUBLIC cl_int clReleaseProgram(cl_program program) {
    release(program);
    return CL_SUCCESS;
}

/* ---- kernels ---- */

STAND_IN_PUBLIC cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error) {
    cl_kernel made = NULL;
    if (!program->is_loaded || strcmp(name, AMD_KERNEL) != 0) {
        *error = CL_INVALID_KERNEL_NAME;
        return NULL;
    }
    made = calloc(1, sizeof *made);
    *error = made ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!made) {
        return NULL;
    }
    *made = (struct _cl_kernel){.references = 1, .of = program, .program = &program->program};
    if (getenv("WEFT_AMD_COUNTS")) {
        made->counts = calloc(made->program->count + 1, sizeof *made->counts);
    }
    pthread_mutex_lock(&amd_lock);
    program->references++;
    pthread_mutex_unlock(&amd_lock);
    return made;
}

STAND_IN_PUBLIC cl_int clReleaseKernel(cl_kernel kernel) {
    if (--kernel->references == 0) {
        if (kernel->counts) {
            amd_counts_add(kernel->program, kernel->counts);
        }
        free(kernel->counts);
        release(kernel->of);
        free(kernel);
    }
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                cl_kernel_work_group_info what, size_t room,
                                                void *out, size_t *needed) {
    (void)device;
    return stand_in_give_number(what == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
                                    ? kernel->program->gpu->wave_size
                                    : 1024,
                                sizeof(size_t), room, out, needed);
}

STAND_IN_PUBLIC cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size,
                                      const void *value) {
    if (index >= kernel->program->argument_count) {
        return CL_INVALID_ARG_INDEX;
    }
    const struct amd_argument *argument = &kernel->program->arguments[index];
    if (size != argument->size || (!argument->is_buffer && size > sizeof kernel->values[0])) {
        return CL_INVALID_ARG_SIZE;
    }
    if (argument->is_buffer) {
        kernel->buffers[index] = NULL;
        if (value) {
            memcpy(&kernel->buffers[index], value, sizeof kernel->buffers[index]);
        }
    } else {
        memcpy(kernel->values[index], value, size);
    }
    kernel->is_set[index] = true;
    return CL_SUCCESS;
}

/* ---- running ---- */

/* One region for each buffer, however many arguments are bound to it. */
static uint64_t address_of(struct amd_dispatch *dispatch, const struct _cl_mem *buffer) {
    for (uint32_t i = AMD_REGION_BUFFERS; buffer && i < AMD_REGIONS; i++) {
        struct amd_region *region = &dispatch->regions[i];
        if (!region->bytes) {
            *region = (struct amd_region){buffer->bytes, buffer->size, true};
        }
        if (region->bytes == buffer->bytes) {
            return AMD_ADDRESS(i);
        }
    }
    return 0;
}

static bool fill_arguments(uint8_t *bytes, struct amd_dispatch *dispatch,
                           const struct _cl_kernel *kernel) {
    const struct amd_program *program = kernel->program;
    for (uint32_t i = 0; i < program->argument_count; i++) {
        const struct amd_argument *argument = &program->arguments[i];
        const uint64_t address = argument->is_buffer ? address_of(dispatch, kernel->buffers[i]) : 0;
        const void *value = argument->is_buffer ? (const void *)&address : kernel->values[i];
        if (!kernel->is_set[i] || argument->offset > program->argument_bytes ||
            program->argument_bytes - argument->offset < argument->size) {
            return false;
        }
        memcpy(bytes + argument->offset, value, argument->size);
    }
    return true;
}

static cl_int run(cl_kernel kernel, const uint32_t groups[3]) {
    const struct amd_program *program = kernel->program;
    const char *side = getenv("WEFT_AMD_SIDE"), *order = getenv("WEFT_AMD_ORDER"),
               *tiny = getenv("WEFT_AMD_TINY");
    const size_t argument_room = (program->argument_bytes + 15u) &
                                 ~(size_t)15; /* what is loaded at once may end behind them */
    uint8_t *arguments = calloc(1, argument_room + 1);
    struct amd_dispatch *dispatch = calloc(1, sizeof *dispatch);
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    if (arguments && dispatch) {
        *dispatch = (struct amd_dispatch){.program = program,
                                          .groups = {groups[0], groups[1], groups[2]},
                                          .side = side ? (int32_t)strtol(side, NULL, 10) : 0,
                                          .last_first = order && strcmp(order, "last-first") == 0,
                                          .tiny_before = tiny && strcmp(tiny, "before") == 0,
                                          .keeps_subnormals = amd_driver_breaks("flush"),
                                          .counts = kernel->counts};
        dispatch->regions[AMD_REGION_PROGRAM] =
            (struct amd_region){program->bytes, program->size, false};
        dispatch->regions[AMD_REGION_ARGUMENTS] =
            (struct amd_region){arguments, argument_room, false};
        result = !fill_arguments(arguments, dispatch, kernel) ? CL_INVALID_KERNEL_ARGS
                 : amd_dispatch_run(dispatch)                 ? CL_SUCCESS
                                                              : CL_OUT_OF_RESOURCES;
    }
    if (dispatch && dispatch->error[0] != '\0') {
        (void)fprintf(stderr, "emulated %s: %s\n", program->gpu->name, dispatch->error);
    }
    free(dispatch);
    free(arguments);
    return result;
}

STAND_IN_PUBLIC cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                              cl_uint dimensions, const size_t *from,
                                              const size_t *global, const size_t *local,
                                              cl_uint count, const cl_event *waits,
                                              cl_event *event) {
    uint32_t groups[3] = {1, 1, 1};
    (void)queue;
    (void)count;
    (void)waits;
    for (cl_uint i = 0; i < dimensions && i < 3; i++) {
        if (from || !local || local[i] != kernel->program->local_size[i] ||
            global[i] % local[i] != 0) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        groups[i] = (uint32_t)(global[i] / local[i]);
    }
    pthread_mutex_lock(&amd_lock);
    const cl_int result = run(kernel, groups);
    pthread_mutex_unlock(&amd_lock);
    return result == CL_SUCCESS ? stand_in_done(event) : result;
}
