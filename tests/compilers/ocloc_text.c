/* SPDX-License-Identifier: MIT */
/*
 * Intel's compiler divides whole numbers by floats, between two changes of the rounding ("xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw"):
 * numbers become floats, math.inv is an estimate, three mad correct it, and the quotient becomes a whole number again. It may put other
 * instructions between them. What must not be there is a sum or product of the kernel's own, which would be rounded towards zero: so
 * arithmetic there may read nothing but what was made there of whole numbers, and nothing but a conversion to whole numbers may read its
 * results behind it, until they are overwritten. A division by parts of a subgroup changes the rounding back and forth within itself. An estimate
 * of a number that stays the same, or such a number as a float, may be made in one division and read in another one behind it. What is
 * followed is each byte of the registers, in the order of the listing.
 */
#include "ocloc_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTERS      272u /* with the accumulators behind them */
#define ACCUMULATORS   256u
#define REGISTER_BYTES 64u /* at most */
#define MOST_OPERANDS  4

struct operand {
    unsigned begin, end; /* bytes; the same where it is no register */
    bool is_float, is_register, is_known;
};

struct instruction {
    char name[32];
    unsigned lanes;
    struct operand operands[MOST_OPERANDS]; /* the target first */
    int count;
};

/* What a byte of a register is of: a constant that a division has there may be read in it and behind it. */
enum made { OTHERS, CONSTANT, BY_DIVISION };

struct divisions {
    unsigned register_bytes;
    bool inside;
    uint8_t made[REGISTERS * REGISTER_BYTES]; /* enum made */
    char *why;
    size_t size;
};

int64_t weft_ocloc_told(const char *told, const char *name) {
    const char *at = strstr(told, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* ---- reading ---- */

static unsigned bytes_of(const char *type) {
    return strchr(type, 'b') == type || strcmp(type, "ub") == 0 ? 1
           : strstr(type, "w") || strstr(type, "hf")            ? 2
           : strcmp(type, "df") == 0 || strstr(type, "q")       ? 8
                                                                : 4;
}

/* How far apart elements are: 0 where all are the same one. "<1>", "<0;1,0>", "<8;8,1>", "<1;0>". */
static unsigned stride_of(const char *region) {
    unsigned vertical = 1, width = 1, horizontal = 1;
    const int found = sscanf(region, "<%u;%u,%u", &vertical, &width, &horizontal);
    return found == 3 && width > 1 ? horizontal : vertical;
}

/* "-r12.4<1;1,0>:f" or "acc0.0<1>:f" of so many lanes; anything else is no register. */
static struct operand read_operand(const char *text, unsigned lanes, unsigned register_bytes) {
    struct operand read = {.is_known = true};
    unsigned number = 0, element = 0;
    const char *colon = strrchr(text, ':');
    char type[8] = "ud";
    if (colon) {
        sscanf(colon + 1, "%7[a-z]", type);
    }
    read.is_float = strstr(type, "f") != NULL;
    text += strcspn(text, "ra(0123456789n");
    while (*text == '(') { /* "(abs)" */
        text += strcspn(text, ")") + 1;
    }
    const bool accumulates = sscanf(text, "acc%u.%u", &number, &element) == 2;
    if (!accumulates && sscanf(text, "r%u.%u", &number, &element) != 2) {
        read.is_known = strncmp(text, "r[", 2) != 0; /* a register that another one names */
        return read;
    }
    const char *region = strchr(text, '<');
    const unsigned stride = region ? stride_of(region) : 1, bytes = bytes_of(type);
    const unsigned count = stride == 0 ? 1 : (lanes - 1) * stride + 1;
    read.begin = (number + (accumulates ? ACCUMULATORS : 0)) * register_bytes + element * bytes;
    read.end = read.begin + count * bytes;
    read.is_register = true;
    if (read.end > REGISTERS * register_bytes) {
        read = (struct operand){.is_float = read.is_float};
    }
    return read;
}

static const char *after_groups(const char *text) {
    while (*text == ' ' || *text == '(') {
        text = *text == '(' ? text + strcspn(text, ")") + 1 : text + 1;
    }
    return text;
}

/* Whole registers, "r22" or "r22:4", of which there are so many. */
static struct operand whole_registers(const char *text, unsigned count, unsigned register_bytes) {
    struct operand read = {.is_float = true, .is_known = true};
    unsigned number = 0;
    if (sscanf(text, "r%u", &number) == 1 && number + count <= REGISTERS) {
        read.begin = number * register_bytes;
        read.end = (number + count) * register_bytes;
        read.is_register = count > 0;
    }
    return read;
}

/*
 * "send.slm (32|M0)  null  r20  r22:4  0x0  0x04001504  {I@2,$10} // wr:2+4, rd:0; store.slm.d32x2.a32": what it writes to registers, and
 * the two parts of what it reads.
 */
static void read_message(struct instruction *read, const char *line, unsigned register_bytes) {
    char target[32], first[32], second[32];
    unsigned address = 0, data = 0, result = 0;
    const char *lengths = strstr(line, "// wr:");
    if (sscanf(line, "%31s %31s %31s", target, first, second) == 3 && lengths &&
        sscanf(lengths, "// wr:%u%*[h]+%u, rd:%u", &address, &data, &result) != 3) {
        sscanf(lengths, "// wr:%u+%u, rd:%u", &address, &data, &result);
    }
    read->operands[0] = whole_registers(target, result, register_bytes);
    read->operands[1] = whole_registers(first, address, register_bytes);
    read->operands[2] = whole_registers(second, data, register_bytes);
    read->count = 3;
}

/* "(W)     mad (16|M0)   (lt)f1.0   r1.0<1>:f  r2.0<0;0>:f …  {F@1} // …", "bfn.0xF8 (1|M0)  …"; false for a line without an instruction. */
static bool read_instruction(struct instruction *read, const char *line, unsigned register_bytes) {
    int used = 0;
    char word[64];
    *read = (struct instruction){.lanes = 1};
    line = after_groups(line);
    if (sscanf(line, "%31[a-zA-F0-9.]%n", read->name, &used) != 1 || line[used] != ' ') {
        return false;
    }
    line += used;
    line += strspn(line, " ");
    if (sscanf(line, "(%u|", &read->lanes) == 1) {
        line += strcspn(line, ")") + 1;
    }
    line += strspn(line, " ");
    if (*line == '(' && strncmp(line, "(abs)", 5) != 0 && strncmp(line, "(sat)", 5) != 0) {
        line += strcspn(line, " "); /* where a comparison goes */
    }
    if (strncmp(read->name, "send", 4) == 0) {
        read_message(read, line, register_bytes);
        return true;
    }
    while (read->count < MOST_OPERANDS && sscanf(line, " %63s%n", word, &used) == 1 &&
           word[0] != '{' && strncmp(word, "//", 2) != 0) {
        read->operands[read->count++] = read_operand(word, read->lanes, register_bytes);
        line += used;
    }
    return true;
}

/* ---- judging ---- */

static bool has_name(const struct instruction *read, const char *const names[]) {
    for (size_t i = 0; names[i]; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(read->name, names[i], length) == 0 &&
            (read->name[length] == '\0' || read->name[length] == '.')) {
            return true;
        }
    }
    return false;
}

/* Whether every byte is of a division or a constant of it. */
static bool is_its_own(const struct divisions *self, const struct operand *operand) {
    bool own = operand->is_register;
    for (unsigned i = operand->begin; i < operand->end; i++) {
        own = own && self->made[i] != OTHERS;
    }
    return own;
}

/*
 * Whether every byte is a result. Of many lanes some are not enough: registers keep what others left in them, and are put aside whole.
 */
static bool is_result(const struct divisions *self, const struct operand *operand) {
    bool all = operand->end > operand->begin;
    for (unsigned i = operand->begin; i < operand->end; i++) {
        all = all && self->made[i] == BY_DIVISION;
    }
    return all;
}

static bool fails(const struct divisions *self, const struct instruction *read, const char *what) {
    snprintf(self->why, self->size, "%s %s", read->name, what);
    return false;
}

static void note_target(struct divisions *self, const struct instruction *read, enum made made) {
    for (unsigned i = read->operands[0].begin; i < read->operands[0].end; i++) {
        self->made[i] = (uint8_t)made;
    }
}

/* Of arithmetic in a division, what it reads has to be the division's. */
static bool reads_its_own(const struct divisions *self, const struct instruction *read) {
    bool own = true;
    for (int i = 1; i < read->count; i++) {
        const struct operand *operand = &read->operands[i];
        own = own && operand->is_known && (!operand->is_register || is_its_own(self, operand));
    }
    return own;
}

/* A number that is written there: floats are put into registers as words, too, "mov (1|M0)  r4.1<1>:ud  0xB4C00000:ud". */
static bool is_literal(const struct operand *source) {
    return source->is_known && !source->is_register;
}

/* Of what a mov there puts into a register of floats. */
static enum made moved(const struct divisions *self, const struct operand *source) {
    return is_literal(source)                             ? CONSTANT
           : !source->is_known                            ? OTHERS
           : !source->is_float || is_result(self, source) ? BY_DIVISION
                                                          : OTHERS;
}

static bool check_inside(struct divisions *self, const struct instruction *read) {
    static const char *const arithmetic[] = {"mul", "add", "mad", "math.inv", NULL};
    static const char *const exact[] = {"mov", "sel", "cmp", "rndd", "rnde", "rndz", NULL};
    static const char *const leaves[] = {"goto", "jmpi", "join",  "call", "ret",
                                         "brc",  "brd",  "while", NULL};
    const struct operand *target = &read->operands[0];
    if (has_name(read, leaves)) {
        return fails(self, read, "while rounding is towards zero");
    }
    if (read->count < 2 || !target->is_float || strncmp(read->name, "send", 4) == 0) {
        const bool sets_word = strcmp(read->name, "mov") == 0 && read->count == 2;
        note_target(self, read, sets_word && is_literal(&read->operands[1]) ? CONSTANT : OTHERS);
        return true;
    }
    if (!target->is_known || (!has_name(read, arithmetic) && !has_name(read, exact))) {
        return fails(self, read, "while rounding is towards zero");
    }
    const bool computes = has_name(read, arithmetic);
    if (computes && !reads_its_own(self, read)) {
        return fails(self, read, "of other numbers while rounding is towards zero");
    }
    note_target(self, read,
                computes                         ? BY_DIVISION
                : strcmp(read->name, "mov") == 0 ? moved(self, &read->operands[1])
                                                 : OTHERS);
    return true;
}

/* A copy is what it is a copy of. */
static bool copies_result(const struct divisions *self, const struct instruction *read) {
    return strcmp(read->name, "mov") == 0 && read->count == 2 && read->operands[0].is_float &&
           is_result(self, &read->operands[1]);
}

static bool check_outside(struct divisions *self, const struct instruction *read) {
    const bool converts = strcmp(read->name, "mov") == 0 && read->count == 2 &&
                          !read->operands[0].is_float && read->operands[1].is_float;
    const bool copies = copies_result(self, read);
    for (int i = 1; i < read->count && !converts && !copies; i++) {
        const struct operand *operand = &read->operands[i];
        if (operand->is_float && is_result(self, operand)) {
            return fails(self, read, "of what was rounded towards zero");
        }
    }
    note_target(self, read, copies ? BY_DIVISION : OTHERS);
    return true;
}

static bool toggles_rounding(const char *line) {
    char target[32], source[32], bits[32];
    return sscanf(after_groups(line), "xor (1|M0) %31s %31s %31s", target, source, bits) == 3 &&
           strcmp(target, "cr0.0<1>:ud") == 0 && strcmp(source, "cr0.0<0;1,0>:ud") == 0 &&
           strcmp(bits, "0x30:uw") == 0;
}

/* A line, with its end; false where it breaks a rule. */
static bool take_line(struct divisions *self, char *line) {
    struct instruction read;
    const bool toggles = toggles_rounding(line);
    const bool is_label = line[0] == 'L' && strchr(line, ':');
    const bool is_instruction = read_instruction(&read, line, self->register_bytes);
    bool keeps = true;
    if (is_label && self->inside) {
        keeps = fails(self, &read, "a label while rounding is towards zero");
    } else if (is_instruction && !toggles) {
        keeps = self->inside ? check_inside(self, &read) : check_outside(self, &read);
    }
    if ((toggles || self->inside) && line[0] != '\0') {
        memset(line, '/', strlen(line) < 2 ? strlen(line) : 2);
    }
    if (toggles) {
        self->inside = !self->inside;
    }
    return keeps;
}

bool weft_ocloc_divisions(char *code, char *why, size_t size) {
    static const char head[] = WEFT_OCLOC_REGISTER_BYTES;
    struct divisions self = {.register_bytes = 32, .why = why, .size = size};
    if (strncmp(code, head, sizeof head - 1) == 0) {
        self.register_bytes = (unsigned)strtoul(code + sizeof head - 1, NULL, 10);
    }
    self.register_bytes =
        self.register_bytes <= REGISTER_BYTES ? self.register_bytes : REGISTER_BYTES;
    bool keeps = true;
    for (char *at = code; *at != '\0' && keeps;) {
        const size_t length = strcspn(at, "\n");
        const char end = at[length];
        at[length] = '\0';
        keeps = take_line(&self, at);
        at[length] = end;
        at += length + (end != '\0');
    }
    if (keeps && self.inside) {
        snprintf(why, size, "rounding stays towards zero");
        keeps = false;
    }
    return keeps;
}
