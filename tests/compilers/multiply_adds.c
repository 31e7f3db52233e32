/* SPDX-License-Identifier: MIT */
#include "multiply_adds.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_PRODUCTS   512 /* registers whose last value is a product */
#define MOST_OPERANDS   6
#define MOST_COMPONENTS 4u

/* Beginnings of instructions' names, behind `prefixes`; a list ends with null. */
struct words {
    const char *driver;
    const char *prefixes[3];
    const char *products[3], *sums[4], *fused[6], *unfused[5];
    const char *type;      /* of a float32 target's end; null: the name has it */
    const char *separator; /* of instructions that are issued together */
    const char *wide[5];   /* what names have that write several registers */
    const char *product;   /* what follows the addend of a fused instruction that only multiplies */
};

static const struct words known[] = {
    {.driver = "radv",
     .prefixes = {"v_", "dual_"},
     .products = {"mul_f32"},
     .sums = {"add_f32", "sub_f32", "subrev_f32"},
     .fused = {"fma_f32", "fmac_f32", "fmaak_f32", "fmamk_f32", "pk_fma_f32"},
     .unfused = {"mad_f32", "mac_f32", "madak_f32", "madmk_f32"},
     .separator = ":: "},
    {.driver = "Intel open-source Mesa driver",
     .products = {"mul"},
     .sums = {"add"},
     .fused = {"mad"},
     .type = ":f"},
    {.driver = "NVK", .products = {"fmul"}, .sums = {"fadd"}, .fused = {"ffma"}},
    {.driver = "turnip Mesa driver",
     .products = {"mul.f"},
     .sums = {"add.f"},
     .unfused = {"mad.f32"}},
    {.driver = "V3DV Mesa",
     .products = {"fmul"},
     .sums = {"fadd", "faddnf", "fsub"},
     .separator = ";"},
    {.driver = "ptxas",
     .products = {"FMUL", "UFMUL"},
     .sums = {"FADD", "UFADD"},
     .fused = {"FFMA", "UFFMA"},
     .wide = {".64", ".128", ".256", ".WIDE"}},
    {.driver = "ocloc", .products = {"mul"}, .sums = {"add"}, .fused = {"mad"}, .type = ":f"},
    {.driver = "panvk", .sums = {"FADD"}, .fused = {"FMA.f32"}, .product = ", 0x0.neg"},
};

/* ---- reading ---- */

struct operation {
    char name[64];
    char operands[MOST_OPERANDS][48]; /* the target first */
    int operand_count;
};

/* Characters of a register's name; what else stands beside one is a modifier of its value. */
static bool is_register(char c) {
    return isalnum((unsigned char)c) || c == '.';
}

/* "-|r12<8>.y|" is "r12": without signs, regions, types and marks of last use. */
static void read_operand(char *operand, size_t size, const char *text) {
    text = strncmp(text, "(last)", 6) == 0 || strncmp(text, "(neg)", 5) == 0 ? strchr(text, ')') + 1
                                                                             : text;
    while (*text != '\0' && !is_register(*text)) {
        text++;
    }
    size_t length = 0;
    while (is_register(text[length]) && strncmp(text + length, ".neg", 4) != 0) {
        length++;
    }
    snprintf(operand, size, "%.*s", (int)length, text);
}

static const char *behind_conditions(const char *line) {
    while (*line == ' ' || *line == '\t' || *line == '(' || *line == '@') {
        const char *end = *line == '(' ? strchr(line, ')') : NULL;
        line = end ? end + 1 : *line == '@' ? line + strcspn(line, " ") : line + 1;
    }
    return line;
}

static void add_operand(struct operation *read, const char *text) {
    if (read->operand_count < MOST_OPERANDS) {
        read_operand(read->operands[read->operand_count], sizeof read->operands[0], text);
        read->operand_count += read->operands[read->operand_count][0] != '\0';
    }
}

/* "r1 = fadd.ftz r2 -r3", or the name first, and behind Intel's "(16)" the operands. */
static bool read_operation(struct operation *read, const char *line) {
    *read = (struct operation){.operand_count = 0};
    char word[64];
    int used = 0;
    line = behind_conditions(line);
    const char *equals = strstr(line, " = ");
    if (equals) {
        add_operand(read, line);
        line = equals + 3;
    }
    if (sscanf(line, "%63s%n", read->name, &used) != 1) {
        return false;
    }
    line = behind_conditions(line + used);
    while (sscanf(line, "%63s%n", word, &used) == 1 && word[0] != ';' && strcmp(word, "//") != 0) {
        add_operand(read, word);
        line += used;
        line += strspn(line, " ");
    }
    return true;
}

static bool is_one_of(const struct words *words, const char *name, const char *const list[]) {
    for (size_t i = 0; words->prefixes[i]; i++) {
        const size_t length = strlen(words->prefixes[i]);
        name = strncmp(name, words->prefixes[i], length) == 0 ? name + length : name;
    }
    for (size_t i = 0; list[i]; i++) {
        if (strncmp(name, list[i], strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- counting ---- */

struct count {
    const struct words *words;
    struct weft_multiply_adds found;
    char products[MOST_PRODUCTS][48];
    int product_count;
};

static int find_product(const struct count *count, const char *target) {
    int i = 0;
    while (i < count->product_count && strcmp(count->products[i], target) != 0) {
        i++;
    }
    return i < count->product_count ? i : -1;
}

static bool reads_product(const struct count *count, const struct operation *read) {
    for (int i = 1; i < read->operand_count; i++) {
        if (find_product(count, read->operands[i]) >= 0) {
            return true;
        }
    }
    return false;
}

/* What an instruction writes is a product from now on, or none. */
static void note_target(struct count *count, const struct operation *read, bool is_product) {
    const int at = read->operand_count > 0 ? find_product(count, read->operands[0]) : -1;
    if (at >= 0 && !is_product) {
        memmove(count->products[at], count->products[--count->product_count],
                sizeof count->products[0]);
    } else if (at < 0 && is_product && count->product_count < MOST_PRODUCTS) {
        memmove(count->products[count->product_count++], read->operands[0],
                sizeof count->products[0]);
    }
}

/* Loads and the like: whatever they overwrite, nothing is taken for a product any more. */
static bool writes_several(const struct words *words, const char *text) {
    static const char *const marks[] = {"_load_", "send", "..", "@r"};
    for (size_t i = 0; words->wide[i]; i++) {
        if (strstr(text, words->wide[i])) {
            return true;
        }
    }
    const char *range = strchr(text, '['), *comma = strchr(text, ',');
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strstr(text, marks[i])) {
            return true;
        }
    }
    return range && (!comma || range < comma);
}

static bool has_operand(const struct operation *read, const char *operand) {
    for (int i = 1; i < read->operand_count; i++) {
        if (strcmp(read->operands[i], operand) == 0) {
            return true;
        }
    }
    return false;
}

/* Mesa makes x + x a product with 2, which is the same. */
static bool doubles(const struct operation *read) {
    return has_operand(read, "0x40000000") || has_operand(read, "2.0");
}

/* NVIDIA's register of zero: -x is -0 - x. */
static bool negates(const struct operation *read) {
    return has_operand(read, "rZ") || has_operand(read, "RZ");
}

/* Qualcomm's: "(rpt1)" writes the register behind the target, too. */
static int repeats_of(const char *text) {
    const char *at = strstr(text, "(rpt");
    return at && isdigit((unsigned char)at[4]) ? at[4] - '0' : 0;
}

/* "r21.w" becomes "r22.x". */
static void advance(char operand[48]) {
    static const char components[] = "xyzw";
    int number = 0;
    char component = '\0';
    const bool is_read = sscanf(operand, "r%d.%c", &number, &component) == 2;
    const char *at = is_read && component != '\0' ? strchr(components, component) : NULL;
    if (at) {
        snprintf(operand, 48, "r%d.%c", number + (at[1] == '\0'), at[1] ? at[1] : components[0]);
    }
}

static void count_operation(struct count *count, const char *text) {
    const struct words *words = count->words;
    struct operation read;
    if (!read_operation(&read, text)) {
        return;
    }
    const bool is_float = !words->type || strstr(text, words->type);
    const bool multiplies =
        words->product && strstr(text, words->product) && is_one_of(words, read.name, words->fused);
    const bool is_product =
        multiplies || (is_float && is_one_of(words, read.name, words->products));
    const bool is_sum = is_float && is_one_of(words, read.name, words->sums) && !negates(&read);
    count->found.kept += is_float && !multiplies && is_one_of(words, read.name, words->fused);
    count->found.apart +=
        is_one_of(words, read.name, words->unfused) || (is_sum && reads_product(count, &read));
    const bool stays = is_product && !doubles(&read);
    note_target(count, &read, stays);
    for (int i = repeats_of(text); i > 0; i--) {
        advance(read.operands[0]);
        note_target(count, &read, stays);
    }
    count->product_count = writes_several(words, text) ? 0 : count->product_count;
}

static void count_line(struct count *count, char *line) {
    const char *separator = count->words->separator;
    char *next = NULL;
    for (char *at = line; at; at = next) {
        next = separator ? strstr(at, separator) : NULL;
        if (next) {
            *next = '\0';
            next += strlen(separator);
        }
        count_operation(count, at);
    }
}

/* A label, where other code may arrive. */
static bool begins_block(const char *line) {
    const size_t length = strcspn(line, ": ");
    return (length > 0 && line[length] == ':') || strncmp(line, "block", 5) == 0;
}

struct weft_multiply_adds weft_multiply_adds_of(const char *driver, const char *code) {
    struct count count = {.words = NULL};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const bool is_it = strncmp(driver, known[i].driver, strlen(known[i].driver)) == 0;
        count.words = is_it ? &known[i] : count.words;
    }
    char line[512];
    for (const char *at = code; count.words && *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (begins_block(line)) {
            count.product_count = 0;
        } else {
            count_line(&count, line);
        }
        at += length + (at[length] == '\n');
    }
    return count.found;
}

/* ---- the pass ---- */

/* The type of whole numbers with as many components as a type of floats; a new one where the module has none. */
static uint32_t whole_type_of(struct weft_spirv_edit *edit, uint32_t types[MOST_COMPONENTS + 1],
                              uint32_t width) {
    if (types[width] != 0) {
        return types[width];
    }
    WEFT_SPIRV_EACH(type, &edit->module, WEFT_SPIRV_DECLARATIONS) {
        const uint32_t opcode = weft_spirv_opcode(type[0]);
        const struct weft_spirv_shape shape = weft_spirv_shape_of(&edit->module, type[1]);
        const bool is_type = opcode == SpvOpTypeInt || opcode == SpvOpTypeVector;
        if (is_type && shape.kind == WEFT_SPIRV_UINT && shape.width == width) {
            types[width] = type[1];
            return types[width];
        }
    }
    const uint32_t component = width > 1 ? whole_type_of(edit, types, 1) : 0;
    types[width] = weft_spirv_new_ids(edit, 1);
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    if (width > 1) {
        WEFT_SPIRV_PUT(edit, SpvOpTypeVector, types[width], component, width);
    } else {
        WEFT_SPIRV_PUT(edit, SpvOpTypeInt, types[width], 32, 0);
    }
    return types[width];
}

weft_status weft_spirv_part_products(struct weft_spirv_edit *edit) {
    uint32_t types[MOST_COMPONENTS + 1] = {0};
    WEFT_SPIRV_EACH(instruction, &edit->module, WEFT_SPIRV_FUNCTIONS) {
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        const bool is_product = opcode == SpvOpFMul || opcode == SpvOpVectorTimesScalar;
        const struct weft_spirv_shape shape =
            is_product ? weft_spirv_shape_of(&edit->module, instruction[1])
                       : (struct weft_spirv_shape){.kind = WEFT_SPIRV_OTHER};
        if (shape.kind == WEFT_SPIRV_FLOAT && shape.width <= MOST_COMPONENTS) {
            const uint32_t result = instruction[2];
            const uint32_t type = whole_type_of(edit, types, shape.width);
            const uint32_t product = weft_spirv_new_ids(edit, 3);
            weft_spirv_set_word(edit, instruction, 2, product);
            weft_spirv_insert_before(edit, instruction + weft_spirv_length(instruction[0]));
            WEFT_SPIRV_PUT(edit, SpvOpBitcast, type, product + 1, product);
            WEFT_SPIRV_PUT(edit, SpvOpNot, type, product + 2, product + 1);
            WEFT_SPIRV_PUT(edit, SpvOpBitcast, instruction[1], result, product + 2);
        }
    }
    return weft_spirv_apply(edit);
}
