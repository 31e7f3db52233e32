/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "core/formats/npy.h"
#include "core/hash.h"
#include "core/try.h"
#include "stop.h"
#include "trace.h"

#define MOST_PORTS 64 /* that a command line can name */

/* ---- symbols ---- */

/** What stands behind "NAME=" of a text, or null. */
static const char *behind_name(const char *text, const char *name) {
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

static bool read_number(uint32_t *value, const char *text) {
    uint64_t number = 0;
    const bool fits = weft_cli_take_number(&number, &text) && *text == '\0' && number <= UINT32_MAX;
    *value = fits ? (uint32_t)number : *value;
    return fits;
}

static int read_symbol(weft_cli_symbols *symbols, const weft_symbol_info *infos, const char *text,
                       const weft_cli_syntax *syntax) {
    for (uint32_t i = 0; i < symbols->count; i++) {
        const char *number = behind_name(text, infos[i].name);
        if (!number) {
            continue;
        }
        if (symbols->at[i].name || !read_number(&symbols->at[i].value, number)) {
            return weft_cli_usage_error(syntax, "--symbol %s: expected %s", text,
                                        symbols->at[i].name ? "each symbol once"
                                                            : "a whole number behind =");
        }
        symbols->at[i].name = infos[i].name;
        return WEFT_CLI_FINE;
    }
    return weft_cli_usage_error(
        syntax, "--symbol %s: expected NAME=N with a symbol of the model, such as %s=%u", text,
        symbols->count ? infos[0].name : "(it has none)", symbols->count ? infos[0].example : 1);
}

int weft_cli_symbols_read(weft_cli_symbols *symbols, const weft_cli_list *given, bool examples,
                          const weft_cli_session *session, const weft_cli_syntax *syntax) {
    weft_symbol_info infos[WEFT_CLI_MOST_SYMBOLS];
    *symbols = (weft_cli_symbols){.count = 0};
    while (symbols->count < WEFT_CLI_MOST_SYMBOLS &&
           weft_model_get_symbol(session->model, symbols->count, &infos[symbols->count]) ==
               WEFT_OK) {
        symbols->count++;
    }
    for (uint32_t i = 0; i < given->count; i++) {
        WEFT_CLI_TRY(read_symbol(symbols, infos, given->at[i], syntax));
    }
    for (uint32_t i = 0; i < symbols->count && examples; i++) {
        if (!symbols->at[i].name) {
            symbols->at[i] = (weft_symbol){infos[i].name, infos[i].example};
        }
    }
    return WEFT_CLI_FINE;
}

const char *weft_cli_symbols_text(char *text, size_t size, const weft_cli_symbols *symbols) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < symbols->count && used < size; i++) {
        const int written = snprintf(text + used, size - used, "%s%s %u", i ? ", " : "",
                                     symbols->at[i].name, symbols->at[i].value);
        used += written > 0 ? (size_t)written : 0;
    }
    return text;
}

json_t *weft_cli_symbols_json(const weft_cli_symbols *symbols) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < symbols->count; i++) {
        object = weft_cli_json_field(object, symbols->at[i].name,
                                     json_integer((json_int_t)symbols->at[i].value));
    }
    return object;
}

/* ---- ports ---- */

/** A port, its file and its elements. */
typedef struct array {
    weft_model_port_info info;
    const char *path; /* or null */
    weft_shape shape;
    void *data;
} array;

typedef struct run {
    weft_cli_session *session;
    const weft_cli_program_params *params;
    const weft_cli_syntax *syntax;
    array ports[MOST_PORTS]; /* inputs, then outputs */
    uint32_t input_count, count;
    weft_cli_symbols symbols;
    weft_plan *plan;
    double run_ms;
} run;

static int find_ports(run *r) {
    while (r->count < MOST_PORTS &&
           weft_model_get_port(r->session->model, r->count, &r->ports[r->count].info) == WEFT_OK) {
        r->input_count += r->ports[r->count].info.is_output ? 0 : 1;
        r->count++;
    }
    weft_model_port_info more;
    if (weft_model_get_port(r->session->model, r->count, &more) == WEFT_OK) {
        weft_fail(&r->session->host, WEFT_UNSUPPORTED,
                  "%s: the command takes at most %d inputs and outputs", r->session->folder,
                  MOST_PORTS);
        return WEFT_CLI_FAILED;
    }
    return WEFT_CLI_FINE;
}

/** Gives a file to the port that it names, or to the first one that has none. */
static int take_file(const run *r, array *ports, uint32_t count, const char *option,
                     const char *text) {
    array *found = NULL;
    const char *path = NULL;
    for (uint32_t i = 0; i < count && !path; i++) {
        path = behind_name(text, ports[i].info.name);
        found = path ? &ports[i] : found;
    }
    for (uint32_t i = 0; i < count && !found; i++) {
        found = ports[i].path ? NULL : &ports[i];
    }
    if (!found || found->path) {
        return weft_cli_usage_error(r->syntax,
                                    "--%s %s: the model has %u, and each can be given once", option,
                                    text, count);
    }
    found->path = path ? path : text;
    return WEFT_CLI_FINE;
}

static int take_files(run *r) {
    const weft_cli_list *inputs = r->params->inputs;
    const weft_cli_list *outputs = r->params->outputs;
    for (uint32_t i = 0; i < inputs->count; i++) {
        WEFT_CLI_TRY(take_file(r, r->ports, r->input_count, "input", inputs->at[i]));
    }
    for (uint32_t i = 0; i < outputs->count; i++) {
        WEFT_CLI_TRY(take_file(r, r->ports + r->input_count, r->count - r->input_count, "out",
                               outputs->at[i]));
    }
    for (uint32_t i = 0; i < r->input_count; i++) {
        if (!r->ports[i].path) {
            return weft_cli_usage_error(r->syntax,
                                        "the model has the input %s: expected --input %s=FILE",
                                        r->ports[i].info.name, r->ports[i].info.name);
        }
    }
    return WEFT_CLI_FINE;
}

/** The elements of a file, as the port has them; f16 has no type in .npy files that the command reads. */
static weft_status convert(array *p, const weft_npy *npy, const weft_host *host) {
    p->data = weft_alloc_zero(host, (size_t)npy->elements, sizeof(float));
    if (!p->data) {
        return weft_fail_memory(host, p->path);
    }
    switch (p->info.dtype) {
    case WEFT_F32:
        return weft_npy_read_f32(npy, p->data);
    case WEFT_I32:
        return weft_npy_read_i32(npy, p->data);
    case WEFT_U8:
        if (npy->dtype == WEFT_NPY_U8) {
            memcpy(p->data, npy->data, (size_t)npy->elements);
            return WEFT_OK;
        }
        break;
    default:
        break;
    }
    return weft_fail(host, WEFT_BAD_FILE, "%s: the input %s is %s, which %s cannot give", p->path,
                     p->info.name, weft_dtype_name(p->info.dtype), weft_npy_dtype_name(npy->dtype));
}

static weft_status take_shape(array *p, const weft_npy *npy, const weft_host *host) {
    bool fits = npy->rank <= WEFT_MAX_RANK && npy->elements > 0;
    p->shape.rank = npy->rank;
    for (uint32_t i = 0; i < npy->rank && fits; i++) {
        fits = npy->shape[i] <= UINT32_MAX;
        p->shape.dim[i] = (uint32_t)npy->shape[i];
    }
    char text[WEFT_NPY_SHAPE_TEXT_SIZE];
    return fits ? WEFT_OK
                : weft_fail(host, WEFT_BAD_FILE,
                            "%s: expected up to 8 axes that are not 0, found shape %s", p->path,
                            weft_npy_shape_text(npy, text));
}

static weft_status read_inputs(run *r) {
    const weft_host *host = &r->session->host;
    for (uint32_t i = 0; i < r->input_count; i++) {
        weft_npy npy = {.rank = 0};
        WEFT_TRY(weft_npy_open(&npy, r->ports[i].path, host));
        weft_status status = take_shape(&r->ports[i], &npy, host);
        if (status == WEFT_OK) {
            status = convert(&r->ports[i], &npy, host);
        }
        weft_npy_close(&npy);
        WEFT_TRY(status);
    }
    return WEFT_OK;
}

static weft_status find_symbols(run *r) {
    weft_shape shapes[MOST_PORTS];
    for (uint32_t i = 0; i < r->input_count; i++) {
        shapes[i] = r->ports[i].shape;
    }
    return weft_model_find_symbols(r->session->model, r->symbols.at, r->symbols.count, shapes,
                                   r->input_count);
}

static weft_status note_symbols(const run *r) {
    for (uint32_t i = 0; i < r->symbols.count; i++) {
        char name[256];
        snprintf(name, sizeof name, "symbol %s", r->symbols.at[i].name);
        WEFT_TRY(weft_cli_receipt_note(&r->session->recording, WEFT_RECORD_SETTING, name, NULL, 0,
                                       "%u", r->symbols.at[i].value));
    }
    return WEFT_OK;
}

/* ---- running ---- */

static weft_status make_plan(run *r) {
    weft_cli_session *session = r->session;
    const weft_plan_params params = {.timestamps = r->params->trace != NULL,
                                     .checkpoints = session->recording.checkpoints,
                                     .opening = session->recording.opening};
    WEFT_TRY(weft_model_compile_program(&r->plan, session->model, session->device, r->symbols.at,
                                        r->symbols.count, &params));
    for (uint32_t i = r->input_count; i < r->count; i++) {
        weft_port_info info;
        WEFT_TRY(weft_plan_get_port(r->plan, i, &info));
        r->ports[i].shape = info.shape;
        r->ports[i].data = weft_alloc_zero(&session->host, (size_t)info.bytes, 1);
        if (!r->ports[i].data) {
            return weft_fail_memory(&session->host, info.name);
        }
    }
    return WEFT_OK;
}

static weft_status execute(run *r) {
    weft_host_tensor tensors[MOST_PORTS];
    for (uint32_t i = 0; i < r->count; i++) {
        weft_port_info info;
        WEFT_TRY(weft_plan_get_port(r->plan, i, &info));
        tensors[i] = (weft_host_tensor){info.name, r->ports[i].data, info.bytes};
    }
    weft_cli_execution execution = {.session = r->session,
                                    .plan = r->plan,
                                    .tensors = tensors,
                                    .tensor_count = r->count,
                                    .repeats = r->params->repeats};
    return weft_cli_execute(&r->run_ms, &execution);
}

static int write_outputs(const run *r) {
    const weft_host *host = &r->session->host;
    for (uint32_t i = r->input_count; i < r->count; i++) {
        const array *p = &r->ports[i];
        weft_status status = WEFT_OK;
        if (p->path && p->info.dtype == WEFT_F32) {
            status = weft_npy_write_f32(p->path, p->data, p->shape, host);
        } else if (p->path && p->info.dtype == WEFT_I32) {
            status = weft_npy_write_i32(p->path, p->data, p->shape, host);
        } else if (p->path) {
            status = weft_fail(host, WEFT_UNSUPPORTED, "--out: the output %s is %s, not f32 or i32",
                               p->info.name, weft_dtype_name(p->info.dtype));
        }
        WEFT_CLI_TRY(weft_cli_exit_code(status));
    }
    return WEFT_CLI_FINE;
}

/* ---- reports ---- */

static void digest_of(const array *p, char digest[WEFT_DIGEST_TEXT_SIZE]) {
    const uint64_t elements = weft_shape_elements(p->shape);
    const weft_digest bytes =
        weft_digest_of(p->data, (size_t)(elements * weft_dtype_size(p->info.dtype)));
    weft_digest_text(&bytes, digest);
}

static json_t *shape_json(weft_shape shape) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < shape.rank; i++) {
        list = weft_cli_json_append(list, json_integer((json_int_t)shape.dim[i]));
    }
    return list;
}

static int report_json(const run *r) {
    json_t *outputs = json_array();
    for (uint32_t i = r->input_count; i < r->count; i++) {
        char digest[WEFT_DIGEST_TEXT_SIZE];
        const array *p = &r->ports[i];
        digest_of(p, digest);
        outputs = weft_cli_json_append(outputs, json_pack("{s:o, s:s, s:o, s:s}", "name",
                                                          weft_cli_json_text(p->info.name), "dtype",
                                                          weft_dtype_name(p->info.dtype), "shape",
                                                          shape_json(p->shape), "sha256", digest));
    }
    json_t *more = json_pack("{s:o, s:o, s:o, s:I}", "symbols", weft_cli_symbols_json(&r->symbols),
                             "outputs", outputs, "run_ms", weft_cli_json_real(r->run_ms), "repeats",
                             (json_int_t)r->params->repeats);
    return weft_cli_print_json(
        weft_cli_json_merge(weft_cli_session_json(r->session, r->plan), more));
}

static int report_text(const run *r) {
    const weft_device_info *device = &r->session->device_info;
    for (uint32_t i = r->input_count; i < r->count; i++) {
        const array *p = &r->ports[i];
        char shape[WEFT_SHAPE_TEXT_SIZE];
        char digest[WEFT_DIGEST_TEXT_SIZE];
        digest_of(p, digest);
        weft_cli_print(stdout, "%s %s %s, SHA-256 %s%s%s\n", p->info.name,
                       weft_dtype_name(p->info.dtype), weft_shape_text(p->shape, shape), digest,
                       p->path ? ", in " : "", p->path ? p->path : "");
    }
    char symbols[512];
    weft_cli_print(stdout, "%.1f ms%s%s on %s (%s)\n", r->run_ms, r->symbols.count ? " for " : "",
                   weft_cli_symbols_text(symbols, sizeof symbols, &r->symbols), device->name,
                   weft_device_type_name(device->type));
    return WEFT_CLI_FINE;
}

/* ---- all of it ---- */

static int run_all(run *r) {
    weft_cli_session *session = r->session;
    WEFT_CLI_TRY(weft_cli_symbols_read(&r->symbols, r->params->symbols, false, session, r->syntax));
    WEFT_CLI_TRY(find_ports(r));
    WEFT_CLI_TRY(take_files(r));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(read_inputs(r)));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(find_symbols(r)));
    WEFT_CLI_TRY(weft_cli_session_open(session, r->params->common));
    WEFT_CLI_TRY(weft_cli_exit_code(note_symbols(r)));
    WEFT_CLI_TRY(weft_cli_check_trace(r->params->trace, session));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(make_plan(r)));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(execute(r)));
    weft_cli_stop_settle(true);
    WEFT_CLI_TRY(write_outputs(r));
    WEFT_CLI_TRY(weft_cli_receipt_end(&session->recording, r->params->common));
    if (r->params->trace) {
        WEFT_CLI_TRY(weft_cli_write_trace(r->params->trace, r->plan, session));
    }
    WEFT_CLI_TRY(r->params->common->json ? report_json(r) : report_text(r));
    return weft_cli_validation_code(session->device);
}

int weft_cli_run_program(weft_cli_session *session, const weft_cli_program_params *params,
                         const weft_cli_syntax *syntax) {
    run *r = weft_alloc_zero(&session->host, 1, sizeof *r);
    if (!r) {
        return weft_cli_exit_code(weft_fail_memory(&session->host, "a program's run"));
    }
    r->session = session;
    r->params = params;
    r->syntax = syntax;
    const int exit_code = run_all(r);
    weft_plan_destroy(&r->plan);
    for (uint32_t i = 0; i < r->count; i++) {
        weft_free(&session->host, r->ports[i].data);
    }
    weft_free(&session->host, r);
    return exit_code;
}

/* ---- for inspect ---- */

static void print_port(const weft_model_port_info *info) {
    char example[WEFT_SHAPE_TEXT_SIZE];
    weft_cli_print(stdout, "  %s %s %s ", info->is_output ? "output" : "input", info->name,
                   weft_dtype_name(info->dtype));
    if (info->is_output) {
        weft_cli_print(stdout, "%s, for the examples\n", weft_shape_text(info->example, example));
        return;
    }
    weft_cli_print(stdout, "[");
    for (uint32_t i = 0; i < info->example.rank; i++) {
        weft_cli_print(stdout, "%s%s", i ? ", " : "", info->axes[i]);
    }
    weft_cli_print(stdout, "]\n");
}

void weft_cli_print_program(const weft_cli_session *session) {
    weft_symbol_info symbol;
    weft_model_port_info port;
    weft_cli_print(stdout, "program, %llu parameters\n",
                   (unsigned long long)session->info.parameters);
    for (uint32_t i = 0; weft_model_get_symbol(session->model, i, &symbol) == WEFT_OK; i++) {
        weft_cli_print(stdout, "  symbol %s: %u to %u, for example %u\n", symbol.name,
                       symbol.minimum, symbol.maximum, symbol.example);
    }
    for (uint32_t i = 0; weft_model_get_port(session->model, i, &port) == WEFT_OK; i++) {
        print_port(&port);
    }
}
