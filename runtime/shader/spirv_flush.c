/* SPDX-License-Identifier: MIT */
#include "shader/spirv_flush.h"

#include "core/try.h"
#include "shader/spirv_writer.h"

#define MAX_WIDTH         4u /* components of a vector */
#define IDS_PER_SITE      6u /* the raw result and five steps; the flushed value keeps the old id */
#define WORDS_PER_SITE    30u
#define IDS_PER_PRODUCT   3u  /* in addition */
#define WORDS_PER_PRODUCT 20u /* in addition, with two decorations */
#define IDS_PER_RESCUE    5u  /* in addition to both, where small products are lost */
#define WORDS_PER_RESCUE  29u
#define WORDS_PER_WIDTH   72u /* more than the declarations for a width take */
#define IMPORT_WORDS      6u

/* Bits of floats. A product of magnitude 2^-126 is 2^-125 when made SCALE times as large. */
#define SIGN         0x80000000u
#define LEAST_NORMAL 0x00800000u /* 2^-126 */
#define SCALE        0x40000000u /* 2 */
#define LEAST_SCALED 0x01000000u /* 2^-125 */

#define GLSL "GLSL.std.450"

/* What a type is, as far as the pass cares. A kind plus the number of components. */
#define OTHER      0u
#define FLOAT      8u
#define UINT       16u
#define BOOL       24u
#define WIDTH_MASK 7u

struct type {
    uint8_t kind;
    bool has_float;      /* a float32 is in it somewhere */
    uint32_t pointed_by; /* for a pointer: its storage class + 1 */
};

/* The ids of the declarations for vectors of a number of components, or for scalars. */
struct width {
    bool used;
    bool new_uint, new_bool;
    uint32_t float_type, uint_type, bool_type;
    uint32_t least_normal, least_scaled; /* constants: floats */
    uint32_t sign, least_bits;           /* unsigned integers */
};

struct flush {
    const uint32_t *source;
    size_t count; /* words */
    uint32_t bound, next_id;
    struct type *types; /* per id */
    uint32_t *type_of;  /* per id: its type, or 0 */
    uint32_t *raw;      /* per id: the new id of the unflushed value, or 0 */
    size_t types_start; /* where the first type is, which is behind the annotations */
    size_t functions;   /* where the first function is */
    uint32_t sites;
    uint32_t products; /* those of the sites that are products */
    uint32_t scale;
    uint32_t functions_of_glsl; /* GLSL.std.450 */
    bool imports;               /* it has to be imported */
    bool loses_small_products;
    struct width widths[MAX_WIDTH + 1];
    const weft_host *host;
};

/* ---- survey ---- */

static void note_vector(struct flush *flush, const uint32_t *instruction) {
    const struct type *component = &flush->types[instruction[2]];
    struct type *type = &flush->types[instruction[1]];
    type->has_float = component->has_float;
    if (component->kind != OTHER && instruction[3] <= MAX_WIDTH) {
        type->kind = (uint8_t)((component->kind & ~WIDTH_MASK) | instruction[3]);
    }
}

static void note_struct(struct flush *flush, const uint32_t *instruction) {
    for (uint32_t i = 2; i < weft_spirv_length(instruction[0]); i++) {
        flush->types[instruction[1]].has_float |= flush->types[instruction[i]].has_float;
    }
}

static void note_type(struct flush *flush, const uint32_t *instruction) {
    struct type *type = &flush->types[instruction[1]];
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_TYPE_FLOAT:
        type->has_float = instruction[2] == 32;
        type->kind = instruction[2] == 32 ? FLOAT | 1 : OTHER;
        break;
    case WEFT_OP_TYPE_INT:
        type->kind = instruction[2] == 32 && instruction[3] == 0 ? UINT | 1 : OTHER;
        break;
    case WEFT_OP_TYPE_BOOL:
        type->kind = BOOL | 1;
        break;
    case WEFT_OP_TYPE_VECTOR:
        note_vector(flush, instruction);
        break;
    case WEFT_OP_TYPE_MATRIX:
    case WEFT_OP_TYPE_ARRAY:
    case WEFT_OP_TYPE_RUNTIME_ARRAY:
        type->has_float = flush->types[instruction[2]].has_float;
        break;
    case WEFT_OP_TYPE_STRUCT:
        note_struct(flush, instruction);
        break;
    case WEFT_OP_TYPE_POINTER:
        type->pointed_by = instruction[2] + 1;
        break;
    default:
        break;
    }
    if (type->kind != OTHER) {
        struct width *width = &flush->widths[type->kind & WIDTH_MASK];
        *(type->kind >= BOOL   ? &width->bool_type
          : type->kind >= UINT ? &width->uint_type
                               : &width->float_type) = instruction[1];
    }
}

/* Whether what a pointer points to was not written by this shader. */
static bool is_from_outside(const struct flush *flush, uint32_t pointer) {
    switch (flush->types[flush->type_of[pointer]].pointed_by) {
    case WEFT_STORAGE_CLASS_INPUT + 1:
    case WEFT_STORAGE_CLASS_UNIFORM + 1:
    case WEFT_STORAGE_CLASS_PUSH_CONSTANT + 1:
    case WEFT_STORAGE_CLASS_STORAGE_BUFFER + 1:
        return true;
    default:
        return false;
    }
}

/* Whether an instruction can make a subnormal out of operands that are none. */
static bool is_source(const struct flush *flush, const uint32_t *instruction) {
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_F_ADD:
    case WEFT_OP_F_SUB:
    case WEFT_OP_F_MUL:
    case WEFT_OP_VECTOR_TIMES_SCALAR:
    case WEFT_OP_BITCAST:
        return true;
    case WEFT_OP_LOAD:
        return is_from_outside(flush, instruction[3]);
    default:
        return false;
    }
}

static bool is_product(const uint32_t *instruction) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    return opcode == WEFT_OP_F_MUL || opcode == WEFT_OP_VECTOR_TIMES_SCALAR;
}

static uint32_t width_of(const struct flush *flush, const uint32_t *instruction) {
    uint8_t kind = flush->types[instruction[1]].kind;
    return (kind & ~WIDTH_MASK) == FLOAT ? kind & WIDTH_MASK : 0;
}

static weft_status note_value(struct flush *flush, const uint32_t *instruction, size_t at) {
    flush->type_of[instruction[2]] = instruction[1];
    if (!is_source(flush, instruction)) {
        return WEFT_OK;
    }
    uint32_t width = width_of(flush, instruction);
    if (width != 0) {
        flush->widths[width].used = true;
        flush->raw[instruction[2]] = 1; /* an id is chosen later */
        flush->sites++;
        flush->products += is_product(instruction);
    } else if (flush->types[instruction[1]].has_float) {
        return weft_fail(flush->host, WEFT_UNSUPPORTED,
                         "SPIR-V module, word %zu: a whole structure, array or matrix of floats is "
                         "loaded; on this device, which keeps subnormals, load its members",
                         at);
    }
    return WEFT_OK;
}

static void note_import(struct flush *flush, const uint32_t *instruction) {
    const uint32_t length = weft_spirv_length(instruction[0]);
    if (length > 2 && weft_spirv_string_is(instruction + 2, length - 2, GLSL)) {
        flush->functions_of_glsl = instruction[1];
    }
}

static weft_status survey(struct flush *flush) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < flush->count;) {
        const uint32_t *instruction = flush->source + at;
        uint32_t opcode = weft_spirv_opcode(instruction[0]);
        if (opcode >= WEFT_OP_TYPE_VOID && opcode <= WEFT_OP_TYPE_FUNCTION) {
            note_type(flush, instruction);
            flush->types_start = flush->types_start == 0 ? at : flush->types_start;
        } else if (weft_spirv_has_typed_result(opcode)) {
            WEFT_TRY(note_value(flush, instruction, at));
        }
        if (opcode == WEFT_OP_EXT_INST_IMPORT) {
            note_import(flush, instruction);
        }
        if (opcode == WEFT_OP_FUNCTION && flush->functions == 0) {
            flush->functions = at;
        }
        at += weft_spirv_length(instruction[0]);
    }
    return WEFT_OK;
}

/* ---- new ids ---- */

static void declare_width(struct flush *flush, struct width *width) {
    width->new_uint = width->uint_type == 0;
    width->new_bool = width->bool_type == 0;
    if (width->new_uint) {
        width->uint_type = flush->next_id++;
    }
    if (width->new_bool) {
        width->bool_type = flush->next_id++;
    }
    width->least_normal = flush->next_id++;
    width->least_scaled = flush->next_id++;
    width->sign = flush->next_id++;
    width->least_bits = flush->next_id++;
}

static uint32_t ids_of_product(const struct flush *flush) {
    return IDS_PER_PRODUCT + (flush->loses_small_products ? IDS_PER_RESCUE : 0);
}

static void choose_site_ids(struct flush *flush) {
    for (size_t at = flush->functions; at < flush->count;) {
        const uint32_t *instruction = flush->source + at;
        if (weft_spirv_has_typed_result(weft_spirv_opcode(instruction[0])) &&
            flush->raw[instruction[2]] != 0) {
            flush->raw[instruction[2]] = flush->next_id;
            flush->next_id += IDS_PER_SITE + (is_product(instruction) ? ids_of_product(flush) : 0);
        }
        at += weft_spirv_length(instruction[0]);
    }
}

static weft_status choose_ids(struct flush *flush) {
    if (flush->sites == 0) { /* it may not even know floats */
        return WEFT_OK;
    }
    flush->widths[1].used = true; /* vectors are made of its types and constants */
    for (uint32_t width = 1; width <= MAX_WIDTH; width++) {
        if (flush->widths[width].used) {
            declare_width(flush, &flush->widths[width]);
        }
    }
    flush->scale = flush->next_id++;
    flush->imports = flush->functions_of_glsl == 0;
    if (flush->imports) {
        flush->functions_of_glsl = flush->next_id++;
    }
    const uint64_t needed = (uint64_t)flush->sites * IDS_PER_SITE +
                            (uint64_t)flush->products * ids_of_product(flush) + flush->next_id;
    if (needed > WEFT_SPIRV_MAX_BOUND) {
        return weft_fail(flush->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: no ids are left to flush %u subnormals", flush->sites);
    }
    choose_site_ids(flush);
    return WEFT_OK;
}

/* ---- writing ---- */

static void put_scalars(struct weft_spirv_writer *writer, const struct width *scalar) {
    if (scalar->new_uint) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_INT, scalar->uint_type, 32, 0);
    }
    if (scalar->new_bool) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_BOOL, scalar->bool_type);
    }
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, scalar->float_type, scalar->least_normal,
                   LEAST_NORMAL);
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, scalar->float_type, scalar->least_scaled,
                   LEAST_SCALED);
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, scalar->uint_type, scalar->sign, SIGN);
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, scalar->uint_type, scalar->least_bits, LEAST_NORMAL);
}

static void put_repeated(struct weft_spirv_writer *writer, uint32_t type, uint32_t id,
                         uint32_t component, uint32_t width) {
    const uint32_t operands[2 + MAX_WIDTH] = {type, id, component, component, component, component};
    weft_spirv_put_op(writer, WEFT_OP_CONSTANT_COMPOSITE, 2 + width, operands);
}

static void put_vectors(struct weft_spirv_writer *writer, const struct width *widths,
                        uint32_t count) {
    const struct width *vector = &widths[count];
    if (vector->new_uint) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_VECTOR, vector->uint_type, widths[1].uint_type, count);
    }
    if (vector->new_bool) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_VECTOR, vector->bool_type, widths[1].bool_type, count);
    }
    put_repeated(writer, vector->float_type, vector->least_normal, widths[1].least_normal, count);
    put_repeated(writer, vector->float_type, vector->least_scaled, widths[1].least_scaled, count);
    put_repeated(writer, vector->uint_type, vector->sign, widths[1].sign, count);
    put_repeated(writer, vector->uint_type, vector->least_bits, widths[1].least_bits, count);
}

static void put_declarations(struct weft_spirv_writer *writer, const struct flush *flush) {
    if (flush->sites == 0) {
        return;
    }
    put_scalars(writer, &flush->widths[1]);
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, flush->widths[1].float_type, flush->scale, SCALE);
    for (uint32_t width = 2; width <= MAX_WIDTH; width++) {
        if (flush->widths[width].used) {
            put_vectors(writer, flush->widths, width);
        }
    }
}

/* Ids of a site, from that of the raw result on; those from SCALED_FACTOR on are a product's, those
 * from IS_LEAST on a rescued one's. */
enum {
    RAW,
    MAGNITUDE,
    IS_SMALL,
    BITS,
    ZERO_BITS,
    ZERO,
    SCALED_FACTOR,
    SCALED,
    FACTOR,
    IS_LEAST,
    RAW_BITS,
    SIGN_BITS,
    LEAST_BITS,
    LEAST
};

/* Whether the magnitude of a value is below a limit, which has the same answer where operands are
 * flushed; and the zero of a value's sign. */
static void put_question(struct weft_spirv_writer *writer, const struct flush *flush,
                         const struct width *width, uint32_t raw, uint32_t value, uint32_t limit,
                         uint32_t signed_value) {
    WEFT_SPIRV_PUT(writer, WEFT_OP_EXT_INST, width->float_type, raw + MAGNITUDE,
                   flush->functions_of_glsl, WEFT_GLSL_STD_450_F_ABS, value);
    WEFT_SPIRV_PUT(writer, WEFT_OP_F_ORD_LESS_THAN, width->bool_type, raw + IS_SMALL,
                   raw + MAGNITUDE, limit);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, width->uint_type, raw + BITS, signed_value);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITWISE_AND, width->uint_type, raw + ZERO_BITS, raw + BITS,
                   width->sign);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, width->float_type, raw + ZERO, raw + ZERO_BITS);
}

/*
 * The product, twice as large, so that its 24 bits are rounded as if exponents had no end where that
 * decides. The larger second factor, or with a vector the scalar, overflows only where the product
 * is no small number: the first factor is at least 2^-126, or zero, where an infinite factor makes
 * a NaN, which is not small either.
 */
static void put_scaled(struct weft_spirv_writer *writer, const struct flush *flush,
                       const uint32_t *instruction, uint32_t raw, bool by_scalar) {
    const bool is_scalar = by_scalar || width_of(flush, instruction) == 1;
    WEFT_SPIRV_PUT(writer, is_scalar ? WEFT_OP_F_MUL : WEFT_OP_VECTOR_TIMES_SCALAR,
                   by_scalar ? flush->widths[1].float_type : instruction[1], raw + SCALED_FACTOR,
                   instruction[4], flush->scale);
    WEFT_SPIRV_PUT(writer, weft_spirv_opcode(instruction[0]), instruction[1], raw + SCALED,
                   instruction[3], raw + SCALED_FACTOR);
}

/* The product that is not small: where it rounds to 2^-126, devices that look at it before they
 * round have made a zero of it. */
static void put_rescue(struct weft_spirv_writer *writer, const struct width *width,
                       const uint32_t *instruction, uint32_t raw) {
    WEFT_SPIRV_PUT(writer, WEFT_OP_F_ORD_EQUAL, width->bool_type, raw + IS_LEAST, raw + MAGNITUDE,
                   width->least_scaled);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, width->uint_type, raw + RAW_BITS, raw + RAW);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITWISE_AND, width->uint_type, raw + SIGN_BITS, raw + RAW_BITS,
                   width->sign);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITWISE_OR, width->uint_type, raw + LEAST_BITS, raw + SIGN_BITS,
                   width->least_bits);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, width->float_type, raw + LEAST, raw + LEAST_BITS);
    WEFT_SPIRV_PUT(writer, WEFT_OP_SELECT, width->float_type, instruction[2], raw + IS_LEAST,
                   raw + LEAST, raw + RAW);
}

/*
 * A product of which one factor, where the result is small, is a zero instead. What decides is
 * behind it: were the result replaced, compilers that see no dependency would make all products
 * of a kernel before they look at the first, and keep them in registers. Zeros of factors that
 * several products have are made once.
 */
static void put_product(struct weft_spirv_writer *writer, const struct flush *flush,
                        const uint32_t *instruction) {
    const struct width *width = &flush->widths[width_of(flush, instruction)];
    const uint32_t raw = flush->raw[instruction[2]];
    const bool by_scalar = weft_spirv_opcode(instruction[0]) == WEFT_OP_VECTOR_TIMES_SCALAR;
    const uint32_t replaced = by_scalar ? 3 : 4; /* of its operands: a vector like the result */
    put_scaled(writer, flush, instruction, raw, by_scalar);
    put_question(writer, flush, width, raw, raw + SCALED, width->least_scaled,
                 instruction[replaced]);
    WEFT_SPIRV_PUT(writer, WEFT_OP_SELECT, instruction[1], raw + FACTOR, raw + IS_SMALL, raw + ZERO,
                   instruction[replaced]);
    uint32_t *copy = weft_spirv_put_words(writer, instruction, weft_spirv_length(instruction[0]));
    copy[2] = raw;
    copy[replaced] = raw + FACTOR;
    if (flush->loses_small_products) {
        put_rescue(writer, width, instruction, raw);
    } else {
        WEFT_SPIRV_PUT(writer, WEFT_OP_COPY_OBJECT, instruction[1], instruction[2], raw);
    }
}

/* The instruction with a new result, and what makes the old result of it. */
static void put_site(struct weft_spirv_writer *writer, const struct flush *flush,
                     const uint32_t *instruction) {
    const struct width *width = &flush->widths[width_of(flush, instruction)];
    const uint32_t raw = flush->raw[instruction[2]];
    weft_spirv_put_words(writer, instruction, weft_spirv_length(instruction[0]))[2] = raw;
    put_question(writer, flush, width, raw, raw, width->least_normal, raw);
    WEFT_SPIRV_PUT(writer, WEFT_OP_SELECT, instruction[1], instruction[2], raw + IS_SMALL,
                   raw + ZERO, raw);
}

/* The larger products must not be fused with anything either. */
static void put_decorations(struct weft_spirv_writer *writer, const struct flush *flush) {
    for (size_t at = flush->functions; at < flush->count;) {
        const uint32_t *instruction = flush->source + at;
        const uint32_t raw = is_product(instruction) ? flush->raw[instruction[2]] : 0;
        if (raw != 0) {
            WEFT_SPIRV_PUT(writer, WEFT_OP_DECORATE, raw + SCALED_FACTOR,
                           WEFT_DECORATION_NO_CONTRACTION);
            WEFT_SPIRV_PUT(writer, WEFT_OP_DECORATE, raw + SCALED, WEFT_DECORATION_NO_CONTRACTION);
        }
        at += weft_spirv_length(instruction[0]);
    }
}

/* Decorations such as NoContraction belong to the arithmetic, whose result has a new id. */
static void put_annotation(struct weft_spirv_writer *writer, const struct flush *flush,
                           const uint32_t *instruction) {
    uint32_t length = weft_spirv_length(instruction[0]);
    bool is_group = weft_spirv_opcode(instruction[0]) == WEFT_OP_GROUP_DECORATE;
    uint32_t *copy = weft_spirv_put_words(writer, instruction, length);
    for (uint32_t i = is_group ? 2 : 1; i < (is_group ? length : 2); i++) {
        copy[i] = flush->raw[copy[i]] != 0 ? flush->raw[copy[i]] : copy[i];
    }
}

static void put_instruction(struct weft_spirv_writer *writer, const struct flush *flush,
                            const uint32_t *instruction) {
    uint32_t opcode = weft_spirv_opcode(instruction[0]);
    if (opcode == WEFT_OP_DECORATE || opcode == WEFT_OP_GROUP_DECORATE) {
        put_annotation(writer, flush, instruction);
    } else if (weft_spirv_has_typed_result(opcode) && flush->raw[instruction[2]] != 0) {
        (is_product(instruction) ? put_product : put_site)(writer, flush, instruction);
    } else {
        uint32_t length = weft_spirv_length(instruction[0]);
        weft_spirv_put_words(writer, instruction, length);
    }
}

static void put_import(struct weft_spirv_writer *writer, const struct flush *flush) {
    uint32_t operands[IMPORT_WORDS - 1] = {flush->functions_of_glsl};
    memcpy(operands + 1, GLSL, sizeof GLSL);
    weft_spirv_put_op(writer, WEFT_OP_EXT_INST_IMPORT, IMPORT_WORDS - 1, operands);
}

static void put_module(struct weft_spirv_writer *writer, const struct flush *flush) {
    weft_spirv_put_words(writer, flush->source, WEFT_SPIRV_HEADER_WORDS);
    writer->words[WEFT_SPIRV_AT_BOUND] = flush->next_id;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < flush->count;) {
        if (flush->imports && weft_spirv_opcode(flush->source[at]) == WEFT_OP_MEMORY_MODEL) {
            put_import(writer, flush);
        }
        if (at == flush->types_start) {
            put_decorations(writer, flush);
        }
        if (at == flush->functions) {
            put_declarations(writer, flush);
        }
        put_instruction(writer, flush, flush->source + at);
        at += weft_spirv_length(flush->source[at]);
    }
}

static weft_status rewrite(uint32_t **words, size_t *size, struct flush *flush) {
    WEFT_TRY(survey(flush));
    WEFT_TRY(choose_ids(flush));
    size_t most = flush->count + IMPORT_WORDS + (size_t)MAX_WIDTH * WORDS_PER_WIDTH +
                  (size_t)flush->sites * WORDS_PER_SITE +
                  (size_t)flush->products * (WORDS_PER_PRODUCT + WORDS_PER_RESCUE);
    struct weft_spirv_writer writer = {.words = weft_alloc(flush->host, most * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(flush->host, "SPIR-V module");
    }
    put_module(&writer, flush);
    *words = writer.words;
    *size = writer.count * sizeof(uint32_t);
    return WEFT_OK;
}

weft_status weft_spirv_flush_subnormals(uint32_t **words, size_t *size, const uint32_t *source,
                                        size_t source_size, bool loses_small_products,
                                        const weft_host *host) {
    uint32_t bound = source[WEFT_SPIRV_AT_BOUND];
    struct flush flush = {.source = source,
                          .count = source_size / 4,
                          .bound = bound,
                          .next_id = bound,
                          .loses_small_products = loses_small_products,
                          .host = host};
    flush.types = weft_alloc_zero(host, bound, sizeof *flush.types);
    flush.type_of = weft_alloc_zero(host, bound, sizeof *flush.type_of);
    flush.raw = weft_alloc_zero(host, bound, sizeof *flush.raw);
    weft_status status = flush.types && flush.type_of && flush.raw
                             ? rewrite(words, size, &flush)
                             : weft_fail_memory(host, "SPIR-V ids");
    weft_free(host, flush.types);
    weft_free(host, flush.type_of);
    weft_free(host, flush.raw);
    return status;
}
