/* SPDX-License-Identifier: MIT */
/* From a line of LLVM's disassembler to an instruction. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* ---- operations by name ---- */

static const struct amd_operation *const families[] = {
    amd_scalar_operations,  amd_control_operations, amd_float_operations, amd_integer_operations,
    amd_compare_operations, amd_carry_operations,   amd_lane_operations,  amd_matrix_operations,
    amd_memory_operations,  amd_local_operations};

enum { MOST_OPERATIONS = 1024 };

/* All of them by name, made once. */
static const struct amd_operation *sorted[MOST_OPERATIONS];
static size_t sorted_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_rows(const void *a, const void *b) {
    const struct amd_operation *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void sort_operations(void) {
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        for (const struct amd_operation *row = families[f];
             row->name && sorted_count < MOST_OPERATIONS; row++) {
            sorted[sorted_count++] = row;
        }
    }
    qsort(sorted, sorted_count, sizeof sorted[0], compare_rows);
}

static const struct amd_operation *find_whole(const char *name, size_t length) {
    char whole[64];
    const struct amd_operation key = {.name = whole}, *wanted = &key;
    (void)snprintf(whole, sizeof whole, "%.*s", (int)length, name);
    (void)pthread_once(&once, sort_operations);
    const struct amd_operation **found =
        bsearch(&wanted, sorted, sorted_count, sizeof sorted[0], compare_rows);
    return found ? *found : NULL;
}

/* What RDNA 3 calls otherwise. */
static size_t older_name(char *older, size_t size, const char *name, size_t length) {
    static const char *const pairs[][2] = {{"s_and_not1_", "s_andn2_"},
                                           {"s_or_not1_", "s_orn2_"},
                                           {"_load_b32", "_load_dword"},
                                           {"_load_b64", "_load_dwordx2"},
                                           {"_load_b96", "_load_dwordx3"},
                                           {"_load_b128", "_load_dwordx4"},
                                           {"_load_b256", "_load_dwordx8"},
                                           {"_load_b512", "_load_dwordx16"},
                                           {"_store_b32", "_store_dword"},
                                           {"_store_b64", "_store_dwordx2"},
                                           {"_store_b96", "_store_dwordx3"},
                                           {"_store_b128", "_store_dwordx4"},
                                           {"_load_u8", "_load_ubyte"},
                                           {"_load_i8", "_load_sbyte"},
                                           {"_load_u16", "_load_ushort"},
                                           {"_load_i16", "_load_sshort"},
                                           {"_store_b8", "_store_byte"},
                                           {"_store_b16", "_store_short"},
                                           {"s_ctz_i32_", "s_ff1_i32_"},
                                           {"s_clz_i32_u32", "s_flbit_i32_b32"},
                                           {"v_clz_i32_u32", "v_ffbh_u32"},
                                           {"v_ctz_i32_b32", "v_ffbl_b32"},
                                           {"s_cls_i32", "s_flbit_i32"},
                                           {"v_cls_i32", "v_ffbh_i32"},
                                           {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
                                           {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *found = strstr(name, pairs[i][0]);
        if (found && (size_t)(found - name) < length) {
            const size_t before = (size_t)(found - name), part = strlen(pairs[i][0]);
            const int written = snprintf(older, size, "%.*s%s%.*s", (int)before, name, pairs[i][1],
                                         (int)(length - before - part), name + before + part);
            return written > 0 && (size_t)written < size ? (size_t)written : 0;
        }
    }
    return 0;
}

static const struct amd_operation *find_either(const char *name, size_t length) {
    char older[64];
    const struct amd_operation *found = find_whole(name, length);
    if (found) {
        return found;
    }
    const bool loads = strncmp(name, "ds_load", 7) == 0, stores = strncmp(name, "ds_store", 8) == 0;
    if (loads || stores) {
        const size_t before = loads ? 7 : 8;
        (void)snprintf(older, sizeof older, "%s%.*s", loads ? "ds_read" : "ds_write",
                       (int)(length - before), name + before);
        return find_whole(older, strlen(older));
    }
    const size_t renamed = older_name(older, sizeof older, name, length);
    return renamed > 0 ? find_whole(older, renamed) : NULL;
}

const struct amd_operation *amd_operation_find(const char *name) {
    static const char *const suffixes[] = {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp8", "_dpp"};
    char single[64];
    if (strncmp(name, "v_dual_", 7) == 0) { /* half of a pair of RDNA 3 */
        (void)snprintf(single, sizeof single, "v_%s", name + 7);
        name = single;
    }
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const size_t size = strlen(suffixes[i]);
        if (length > size && strcmp(name + length - size, suffixes[i]) == 0) {
            length -= size;
            break;
        }
    }
    return find_either(name, length);
}

/* ---- operands ---- */

static bool fail(char error[AMD_TEXT], const char *what, const char *text) {
    (void)snprintf(error, AMD_TEXT, "%s: %.*s", what, AMD_TEXT - 64, text);
    return false;
}

static bool read_named(struct amd_operand *operand, const char *text) {
    static const struct {
        const char *name;
        uint8_t kind, words;
        uint16_t index;
    } names[] = {{"vcc", AMD_SCALAR, 2, AMD_VCC},
                 {"vcc_lo", AMD_SCALAR, 1, AMD_VCC},
                 {"vcc_hi", AMD_SCALAR, 1, AMD_VCC + 1},
                 {"exec", AMD_SCALAR, 2, AMD_EXEC},
                 {"exec_lo", AMD_SCALAR, 1, AMD_EXEC},
                 {"exec_hi", AMD_SCALAR, 1, AMD_EXEC + 1},
                 {"m0", AMD_SCALAR, 1, AMD_M0},
                 {"null", AMD_SCALAR, 1, AMD_NULL},
                 {"flat_scratch", AMD_SCALAR, 2, AMD_FLAT_SCRATCH},
                 {"flat_scratch_lo", AMD_SCALAR, 1, AMD_FLAT_SCRATCH},
                 {"flat_scratch_hi", AMD_SCALAR, 1, AMD_FLAT_SCRATCH + 1},
                 {"xnack_mask", AMD_SCALAR, 2, AMD_XNACK_MASK},
                 {"scc", AMD_SCC, 1, 0},
                 {"src_scc", AMD_SCC, 1, 0},
                 {"off", AMD_NOTHING, 0, 0}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, text) == 0) {
            operand->kind = names[i].kind;
            operand->words = names[i].words;
            operand->index = names[i].index;
            return true;
        }
    }
    return false;
}

/* "v7", "s[4:5]" */
static bool read_register(struct amd_operand *operand, const char *text) {
    unsigned first = 0, last = 0;
    int end = 0;
    if (text[0] != 'v' && text[0] != 's') {
        return false;
    }
    if (sscanf(text + 1, "[%u:%u]%n", &first, &last, &end) == 2 && text[1 + end] == '\0') {
    } else if (sscanf(text + 1, "%u%n", &first, &end) == 1 && text[1 + end] == '\0') {
        last = first;
    } else {
        return false;
    }
    const unsigned most = text[0] == 'v' ? AMD_VGPRS : AMD_VCC;
    if (last < first || last >= most) {
        return false;
    }
    operand->kind = text[0] == 'v' ? AMD_VECTOR : AMD_SCALAR;
    operand->index = (uint16_t)first;
    operand->words = (uint8_t)(last - first + 1);
    return true;
}

static bool read_constant(struct amd_operand *operand, const char *text) {
    char *end = NULL;
    operand->kind = AMD_CONSTANT;
    operand->is_hex = strncmp(text, "0x", 2) == 0;
    operand->is_float = !operand->is_hex && strchr(text, '.');
    if (operand->is_float) {
        operand->real = strtod(text, &end);
    } else {
        operand->integer = (int64_t)strtoll(text, &end, 0);
    }
    return end != text && *end == '\0';
}

/* Takes "NAME(" off the begin and ")" off the end. */
static bool unwrap(char **text, const char *before, const char *behind) {
    const size_t length = strlen(*text), b = strlen(before), e = strlen(behind);
    if (length < b + e || strncmp(*text, before, b) != 0 ||
        strcmp(*text + length - e, behind) != 0) {
        return false;
    }
    (*text)[length - e] = '\0';
    *text += b;
    return true;
}

static bool read_operand(struct amd_operand *operand, char *text, char error[AMD_TEXT]) {
    *operand = (struct amd_operand){.kind = AMD_NOTHING};
    const bool is_number = text[0] == '-' && text[1] >= '0' && text[1] <= '9';
    operand->negate = unwrap(&text, "neg(", ")") || (!is_number && unwrap(&text, "-", ""));
    operand->absolute = unwrap(&text, "abs(", ")") || unwrap(&text, "|", "|");
    operand->extend = unwrap(&text, "sext(", ")");
    if (read_named(operand, text) || read_register(operand, text)) {
        return true;
    }
    if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') {
        return read_constant(operand, text) || fail(error, "a number that is none", text);
    }
    if (strlen(text) >= sizeof operand->name) {
        return fail(error, "no such operand", text);
    }
    operand->kind = AMD_WORDS;
    (void)snprintf(operand->name, sizeof operand->name, "%s", text);
    return true;
}

/* ---- what stands behind them ---- */

static bool read_part(uint8_t *part, const char *text) {
    static const char *const names[] = {"DWORD",  "BYTE_0", "BYTE_1", "BYTE_2",
                                        "BYTE_3", "WORD_0", "WORD_1"};
    for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], text) == 0) {
            *part = i;
            return true;
        }
    }
    return false;
}

/* "[1,0,1]" as bits, first the lowest; also of two bits each. */
static uint32_t read_bits(const char *text, uint32_t width) {
    uint32_t bits = 0, at = 0;
    for (; *text != '\0'; text++) {
        if (*text >= '0' && *text <= '3') {
            bits |= (uint32_t)(*text - '0') << (width * at++);
        }
    }
    return bits;
}

/* DPP's control as the encodings have it. */
static bool read_lanes(struct amd_modifiers *with, const char *name, const char *value) {
    static const struct {
        const char *name;
        uint16_t control;
    } known[] = {{"row_shl", 0x100},    {"row_shr", 0x110},         {"row_ror", 0x120},
                 {"row_mirror", 0x140}, {"row_half_mirror", 0x141}, {"row_bcast", 0x142},
                 {"row_share", 0x150},  {"row_xmask", 0x160}};
    if (strcmp(name, "quad_perm") == 0) {
        with->lanes = (uint16_t)read_bits(value, 2);
        with->by_lanes = true;
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            const long number = value ? strtol(value, NULL, 0) : 0;
            with->lanes = (uint16_t)(known[i].control == 0x142 ? (number == 15 ? 0x142 : 0x143)
                                                               : known[i].control + number);
            with->by_lanes = true;
            return true;
        }
    }
    return false;
}

static bool read_number(struct amd_modifiers *with, const char *name, const char *value) {
    struct {
        const char *name;
        int32_t *to;
    } numbers[] = {
        {"offset", &with->offset}, {"offset0", &with->offset0}, {"offset1", &with->offset1}};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].to = (int32_t)strtol(value, NULL, 0);
            return true;
        }
    }
    const bool is_low =
        strcmp(name, "op_sel") == 0 || strcmp(name, "neg_lo") == 0 || strcmp(name, "neg_hi") == 0;
    if (is_low ||
        strcmp(name, "op_sel_hi") == 0) { /* only what they are where they are not written */
        return strchr(value, is_low ? '1' : '0') == NULL;
    }
    if (strcmp(name, "row_mask") == 0) {
        with->row_mask = (uint8_t)strtol(value, NULL, 0);
    } else if (strcmp(name, "bank_mask") == 0) {
        with->bank_mask = (uint8_t)strtol(value, NULL, 0);
    } else if (strcmp(name, "bound_ctrl") == 0) {
        with->bound_zero = true;
    } else if (strcmp(name, "mul") == 0) {
        with->omod = strcmp(value, "2") == 0 ? 1 : 2;
    } else if (strcmp(name, "div") == 0) {
        with->omod = 3;
    } else if (strcmp(name, "dst_sel") == 0) {
        return read_part(&with->dst_part, value);
    } else if (strcmp(name, "dst_unused") == 0) {
        with->dst_unused = strcmp(value, "UNUSED_PAD") == 0    ? 0
                           : strcmp(value, "UNUSED_SEXT") == 0 ? 1
                                                               : 2;
    } else {
        return false;
    }
    return true;
}

static bool read_flag(struct amd_modifiers *with, const char *word) {
    if (strcmp(word, "glc") == 0) {
        with->glc = true;
    } else if (strcmp(word, "clamp") == 0) {
        with->clamp = true;
    } else if (strcmp(word, "offen") == 0) {
        with->offen = true;
    } else {
        return strcmp(word, "slc") == 0 || strcmp(word, "dlc") == 0;
    }
    return true;
}

static bool read_modifier(struct amd_instruction *instruction, char *word, char error[AMD_TEXT]) {
    struct amd_modifiers *with = &instruction->with;
    char *colon = strchr(word, ':');
    if (!colon) {
        return read_flag(with, word) || read_lanes(with, word, NULL) ||
               fail(error, "no such modifier", word);
    }
    *colon = '\0';
    /* SDWA's sources are the last two operands of what is written, or the only one. */
    const int source = strcmp(word, "src0_sel") == 0 ? 0 : strcmp(word, "src1_sel") == 0 ? 1 : -1;
    if (source >= 0) {
        const bool is_compare = strncmp(instruction->operation->name, "v_cmp", 5) == 0;
        const uint32_t from = is_compare ? instruction->count - 2u : 1u;
        return read_part(&instruction->operands[from + (uint32_t)source].part, colon + 1);
    }
    if (strcmp(word, "neg_lo") == 0 && strstr(instruction->operation->name, "_iu8")) {
        with->signed_ones = (uint8_t)read_bits(colon + 1, 1);
        return true;
    }
    return read_number(with, word, colon + 1) || read_lanes(with, word, colon + 1) ||
           fail(error, "no such modifier", word);
}

/* ---- all of it ---- */

/* The end of a word: what brackets hold belongs to it. */
static char *end_of(char *text, const char *ends) {
    int depth = 0;
    for (; *text != '\0'; text++) {
        depth += *text == '[' || *text == '(' ? 1 : *text == ']' || *text == ')' ? -1 : 0;
        if (depth == 0 && strchr(ends, *text)) {
            break;
        }
    }
    return text;
}

/* Operands are parted by commas; behind the last one, a space leads to the modifiers. */
static bool read_rest(struct amd_instruction *instruction, char *text, char error[AMD_TEXT]) {
    bool more = true;
    while (*text != '\0') {
        text += strspn(text, " ");
        char *end = end_of(text, more ? ", " : " "), ending = *end;
        *end = '\0';
        if (!more) {
            if (!read_modifier(instruction, text, error)) {
                return false;
            }
        } else if (instruction->count == AMD_OPERANDS) {
            return fail(error, "too many operands", text);
        } else if (!read_operand(&instruction->operands[instruction->count++], text, error)) {
            return false;
        }
        more = ending == ',';
        text = ending == '\0' ? end : end + 1;
    }
    return true;
}

bool amd_parse(struct amd_instruction *instruction, const char *line, char error[AMD_TEXT]) {
    char text[512];
    line += strspn(line, " \t");
    if ((size_t)snprintf(text, sizeof text, "%s", line) >= sizeof text) {
        return fail(error, "a line that is too long", line);
    }
    char *rest = text + strcspn(text, " ");
    if (*rest != '\0') {
        *rest++ = '\0';
    }
    *instruction = (struct amd_instruction){.operation = amd_operation_find(text),
                                            .with = {.row_mask = 15, .bank_mask = 15}};
    if (!instruction->operation) {
        return fail(error, "the emulated GPU has no instruction", text);
    }
    if (strncmp(text, "s_wait", 6) == 0 || strcmp(text, "s_delay_alu") == 0) {
        return true; /* the rest says for what: nothing is waited for */
    }
    return read_rest(instruction, rest, error);
}
