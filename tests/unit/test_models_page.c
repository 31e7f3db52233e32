/* SPDX-License-Identifier: MIT */
/*
 * api/MODELS.md and the tables of fields say the same: families, fields, what is required, ranges, choices and defaults.
 */
#include <float.h>

#include "model/network/architecture.h"
#include "model/network/family.h"
#include "support.h"

#define PAGE          WEFT_SOURCE_DIR "/api/MODELS.md"
#define MOST_ROWS     256
#define MOST_FAMILIES 32

/* A row for one field of a table of fields. The text is the page's, cut into pieces. */
struct row {
    const char *section; /* the heading above, "## …" */
    const char *family; /* the heading "### `…`" below that, or null: all families of the section */
    const char *name, *type, *fallback, *meaning;
    bool found; /* in the code */
};

struct family {
    const char *section, *name;
};

struct page {
    char *text;
    struct row rows[MOST_ROWS];
    uint32_t row_count;
    struct family families[MOST_FAMILIES]; /* that have a heading */
    uint32_t family_count;
    const char *listed[MOST_FAMILIES]; /* the table of model types */
    uint32_t listed_count;
    uint32_t ranges, choices, defaults; /* compared */
};

/* ---- reading the page ---- */

#define MOST_CELLS 8

/* Cuts "| a | b |" into its cells, without the spaces around them. */
static uint32_t cut_row(char *line, char *cells[MOST_CELLS]) {
    uint32_t count = 0;
    char *cell = line + 1;
    for (char *bar = strchr(cell, '|'); bar && count < MOST_CELLS; bar = strchr(cell, '|')) {
        char *end = bar;
        while (*cell == ' ') {
            cell++;
        }
        while (end > cell && end[-1] == ' ') {
            end--;
        }
        *end = '\0';
        cells[count++] = cell;
        cell = bar + 1;
    }
    return count;
}

/* The next `name` in a text, cut out of it; null when there is none. */
static char *next_name(char **text) {
    char *begin = strchr(*text, '`');
    char *end = begin ? strchr(begin + 1, '`') : NULL;
    if (!end) {
        return NULL;
    }
    *end = '\0';
    *text = end + 1;
    return begin + 1;
}

static void add_rows(struct page *page, const struct row *like, char *names) {
    for (char *name = next_name(&names); name; name = next_name(&names)) {
        assert_true(page->row_count < MOST_ROWS);
        page->rows[page->row_count] = *like;
        page->rows[page->row_count++].name = name;
    }
}

static void add_family(struct page *page, const char *section, char *heading) {
    for (char *name = next_name(&heading); name; name = next_name(&heading)) {
        assert_true(page->family_count < MOST_FAMILIES);
        page->families[page->family_count++] = (struct family){section, name};
    }
}

enum table { OTHER_TABLE, FIELD_TABLE, FAMILY_TABLE };

static enum table table_of(const char *first_cell) {
    if (strcmp(first_cell, "Field") == 0) {
        return FIELD_TABLE;
    }
    return strcmp(first_cell, "`model_type`") == 0 ? FAMILY_TABLE : OTHER_TABLE;
}

static void add_row(struct page *page, enum table table, const struct row *place,
                    char *cells[MOST_CELLS], uint32_t count) {
    if (table == FAMILY_TABLE) {
        assert_true(page->listed_count < MOST_FAMILIES);
        page->listed[page->listed_count++] = next_name(&cells[0]);
    } else if (table == FIELD_TABLE) {
        assert_int_equal(count, 4);
        struct row row = *place;
        row.type = cells[1];
        row.fallback = cells[2];
        row.meaning = cells[3];
        add_rows(page, &row, cells[0]);
    }
}

static void read_lines(struct page *page) {
    struct row place = {.section = ""};
    enum table table = OTHER_TABLE;
    bool in_table = false;
    for (char *line = page->text; line;) {
        char *end = strchr(line, '\n');
        char *next = end ? end + 1 : NULL;
        if (end) {
            *end = '\0';
        }
        char *cells[MOST_CELLS];
        uint32_t count = line[0] == '|' ? cut_row(line, cells) : 0;
        if (strncmp(line, "## ", 3) == 0) {
            place = (struct row){.section = line + 3};
        } else if (strncmp(line, "### ", 4) == 0) {
            const uint32_t before = page->family_count;
            add_family(page, place.section, line + 4);
            place.family = page->family_count > before ? page->families[page->family_count - 1].name
                                                       : NULL; /* a heading of something else */
        }
        if (count > 0 && !in_table) {
            table = table_of(cells[0]);
        } else if (count > 0 && strncmp(cells[0], "---", 3) != 0) {
            add_row(page, table, &place, cells, count);
        }
        in_table = count > 0;
        line = next;
    }
}

static int set_up(void **state) {
    struct page *page = calloc(1, sizeof *page);
    assert_non_null(page);
    size_t size = 0;
    page->text = (char *)weft_test_read(PAGE, &size);
    read_lines(page);
    *state = page;
    return 0;
}

static int tear_down(void **state) {
    struct page *page = *state;
    free(page->text);
    free(page);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct page *f, set_up, tear_down)

/* ---- a row and its field ---- */

/* A number such as 65536, 1e-5 or 2^24 at the beginning of a text, *rest what follows. */
static bool read_number(double *number, const char *text, const char **rest) {
    char *end = NULL;
    *number = strtod(text, &end);
    if (end == text) {
        return false;
    }
    if (*end == '^') {
        double base = *number;
        long exponent = strtol(end + 1, &end, 10);
        for (*number = 1; exponent > 0; exponent--) {
            *number *= base;
        }
    }
    *rest = end;
    return true;
}

static void compare_range(struct page *page, const struct row *row, const weft_field *field) {
    double minimum = 0;
    double maximum = FLT_MAX;
    const char *rest = NULL;
    const char *above = "above ";
    const char *text = row->type;
    if (strncmp(text, "\u2265 ", strlen("\u2265 ")) == 0) {
        assert_true(read_number(&minimum, text + strlen("\u2265 "), &rest));
    } else {
        text += strncmp(text, above, strlen(above)) == 0 ? strlen(above) : 0;
        const char *dots = " \u2026 ";
        if (!read_number(&minimum, text, &rest) || strncmp(rest, dots, strlen(dots)) != 0) {
            return; /* in words */
        }
        assert_true(read_number(&maximum, rest + strlen(dots), &rest));
    }
    if (minimum != field->minimum || maximum != field->maximum) {
        fail_msg("%s: %s is %s, but %.9g to %.9g in the code", PAGE, row->name, row->type,
                 field->minimum, field->maximum);
    }
    page->ranges++;
}

static void compare_choices(struct page *page, const struct row *row, const weft_field *field) {
    if (strncmp(row->meaning, "as ", 3) == 0 || strncmp(row->meaning, "a name of", 9) == 0) {
        return;
    }
    for (uint32_t i = 0; field->choices[i]; i++) {
        char name[64];
        char quoted[64];
        snprintf(name, sizeof name, "`%s`", field->choices[i]);
        snprintf(quoted, sizeof quoted, "`\"%s\"`", field->choices[i]);
        if (!strstr(row->meaning, name) && !strstr(row->fallback, quoted)) {
            fail_msg("%s: %s does not say %s", PAGE, row->name, name);
        }
    }
    page->choices++;
}

/* Of "3 (`tnn`, `fd-tnn`)", which are the only families that have the field; null: all have it. */
static const char *families_of(const struct row *row) {
    return strstr(row->fallback, " (`");
}

/* What is in front of that, "3". */
static void default_of(char text[64], const struct row *row) {
    const char *end = families_of(row);
    size_t size = end ? (size_t)(end - row->fallback) : strlen(row->fallback);
    snprintf(text, 64, "%.*s", (int)(size < 63 ? size : 63), row->fallback);
}

static bool is_number(const char *text, double *number) {
    const char *rest = text;
    return read_number(number, text, &rest) && *rest == '\0';
}

/* Whether the value is the page's default; *compared is false where that is none or in words. */
static bool is_default(const char *text, const weft_field *field, const void *value,
                       bool *compared) {
    double number = 0;
    char quoted[64];
    *compared = true;
    if (field->kind == WEFT_FIELD_BOOL &&
        (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        return *(const bool *)value == (text[0] == 't');
    }
    if (field->kind == WEFT_FIELD_INTEGER && is_number(text, &number)) {
        return number == *(const uint32_t *)value;
    }
    if (field->kind == WEFT_FIELD_REAL && is_number(text, &number)) {
        return (float)number == *(const float *)value;
    }
    if (field->kind == WEFT_FIELD_CHOICE && strncmp(text, "`\"", 2) == 0) {
        snprintf(quoted, sizeof quoted, "`\"%s\"`", field->choices[*(const uint32_t *)value]);
        return strncmp(text, quoted, strlen(quoted)) == 0;
    }
    *compared = false;
    return true;
}

static void compare(struct page *page, const struct row *row, const weft_field *field,
                    const void *defaults) {
    char fallback[64];
    default_of(fallback, row);
    bool elsewhere = field->kind == WEFT_FIELD_CUSTOM && !field->read;
    if (!elsewhere && (strcmp(fallback, "required") == 0) != field->required) {
        fail_msg("%s: the default of %s is %s, but in the code it is %srequired", PAGE, row->name,
                 fallback, field->required ? "" : "not ");
    }
    if (field->kind == WEFT_FIELD_INTEGER || field->kind == WEFT_FIELD_REAL) {
        compare_range(page, row, field);
    }
    if (field->kind == WEFT_FIELD_CHOICE) {
        compare_choices(page, row, field);
    }
    const void *value = (const char *)defaults + field->offset;
    bool compared = false;
    if (!field->required && !is_default(fallback, field, value, &compared)) {
        fail_msg("%s: %s has another default than %s in the code", PAGE, row->name, fallback);
    }
    page->defaults += compared;
}

/* ---- tables ---- */

static bool is_for(const struct row *row, const struct family *family) {
    if (strcmp(row->section, family->section) != 0) {
        return false;
    }
    if (row->family) {
        return strcmp(row->family, family->name) == 0;
    }
    const char *some = families_of(row);
    char name[64];
    snprintf(name, sizeof name, "`%s`", family->name);
    return !some || strstr(some, name);
}

/* All rows that are for the family are fields of the table, and the reverse. */
static void compare_table(struct page *page, const struct family *family,
                          const weft_field_table *table, const void *defaults) {
    for (uint32_t i = 0; i < page->row_count; i++) {
        page->rows[i].found = false;
    }
    for (uint32_t f = 0; f < table->count; f++) {
        struct row *row = NULL;
        for (uint32_t i = 0; i < page->row_count && !row; i++) {
            struct row *candidate = &page->rows[i];
            bool named = strcmp(candidate->name, table->fields[f].name) == 0;
            row = named && is_for(candidate, family) ? candidate : NULL;
        }
        if (!row) {
            fail_msg("%s: %s has a field %s in the code, but not here", PAGE, family->name,
                     table->fields[f].name);
            return;
        }
        compare(page, row, &table->fields[f], defaults);
        row->found = true;
    }
    for (uint32_t i = 0; i < page->row_count; i++) {
        if (is_for(&page->rows[i], family) && !page->rows[i].found) {
            fail_msg("%s: %s has a field %s here, but not in the code", PAGE, family->name,
                     page->rows[i].name);
        }
    }
}

TEST(the_networks_fields_are_the_pages, page) {
    json_t *object =
        json_pack("{s:s,s:i,s:i,s:i,s:i,s:i}", "task", "hidden", "vocab_size", 1, "hidden_size", 1,
                  "num_hidden_layers", 1, "intermediate_size", 1, "max_position_embeddings", 1);
    assert_non_null(object);
    weft_network_config config;
    weft_json_fields json = {.object = object, .path = "config.json"};
    assert_ok(weft_network_config_read(&config, WEFT_FEED_FORWARD_MLP, &json));
    json_decref(object);
    struct family network = {"The network around the mixers", "every family"};
    compare_table(page, &network, &weft_network_fields, &config);
    weft_network_config_clear(&config, NULL);
    assert_true(page->ranges >= 6 && page->choices >= 6 && page->defaults >= 8);
}

static const struct weft_model_family *find_family(const char *name) {
    const struct weft_model_family *found = NULL;
    for (uint32_t i = 0; (found = weft_model_family_at(i)); i++) {
        if (strcmp(found->model_type, name) == 0) {
            return found;
        }
    }
    return NULL;
}

TEST(every_familys_fields_are_the_pages, page) {
    for (uint32_t i = 0; i < page->family_count; i++) {
        const struct weft_model_family *found = find_family(page->families[i].name);
        if (!found || found->layout) {
            fail_msg("%s: %s is no family in the code", PAGE, page->families[i].name);
            return;
        }
        void *defaults = calloc(1, found->config_size);
        assert_non_null(defaults);
        if (found->set_defaults) {
            found->set_defaults(defaults);
        }
        compare_table(page, &page->families[i], &found->fields, defaults);
        free(defaults);
    }
    assert_true(page->ranges >= 3 && page->defaults >= 3);
}

/* Each published layout has a row with its type and the model without a head. */
TEST(the_published_layouts_are_the_pages, page) {
    (void)page;
    size_t size = 0;
    char *text = (char *)weft_test_read(PAGE, &size);
    const struct weft_model_family *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; (found = weft_model_family_at(i)); i++) {
        char row[128];
        if (found->layout) {
            const int length =
                snprintf(row, sizeof row, "| `%s` | %s", found->model_type, found->layout->encoder);
            bool there = false;
            for (size_t at = 0; at + (size_t)length <= size && !there; at++) {
                there = memcmp(text + at, row, (size_t)length) == 0;
            }
            if (!there) {
                fail_msg("%s: expected a row %s…", PAGE, row);
            }
            count++;
        }
    }
    assert_true(count >= 7);
    free(text);
}

/* The table of model types, the headings and the code have the same families in the same order. */
TEST(the_families_are_the_pages, page) {
    uint32_t count = 0;
    const struct weft_model_family *found = NULL;
    for (uint32_t i = 0; (found = weft_model_family_at(i)); i++) {
        if (found->layout) {
            continue; /* those of transformers have tables of their own */
        }
        assert_true(count < page->listed_count && count < page->family_count);
        assert_string_equal(found->model_type, page->listed[count]);
        assert_string_equal(found->model_type, page->families[count].name);
        count++;
    }
    assert_int_equal(count, page->listed_count);
    assert_int_equal(count, page->family_count);
}
