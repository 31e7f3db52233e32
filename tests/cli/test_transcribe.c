/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft transcribe, on a small Whisper: transformers' tokens, windows, several files and what is refused. */
#include <math.h>

#include "cli/place.h"
#include "cli/whisper_folder.h"

#define PLAIN "transcribe '" WHISPER "' --without-times "
#define FNET  WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"

enum { TOKENS = 10 }; /* of tests/reference/make_speech_golden.py */

/* The object of "transcribe MODEL --without-times ARGUMENTS --json". */
static json_t *transcribe(const char *environment, const char *arguments) {
    json_t *report = run_json(environment, PLAIN "%s", arguments);
    return report;
}

static json_t *file_at(const json_t *report, size_t index) {
    json_t *file = json_array_get(field(report, "files"), index);
    assert_non_null(file);
    return file;
}

static void expect_seconds(const json_t *object, const char *name, double expected) {
    if (fabs(number_field(object, name) - expected) > 1e-9) {
        fail_msg("%s: %.9f, not %.9f", name, number_field(object, name), expected);
    }
}

/* ---- the tokens ---- */

/* The cases that transformers' transcripts are of. */
static json_t *read_cases(void) {
    json_error_t error;
    json_t *expected = json_load_file(WHISPER "/expected.json", 0, &error);
    if (!expected) {
        fail_msg("%s", error.text);
    }
    return expected;
}

static char *write_case(const struct place *place, const json_t *one) {
    return write_wav(place->folder, "sound.wav", (uint32_t)integer_field(one, "seed"),
                     (uint32_t)integer_field(one, "samples"), RATE);
}

static char *options_of(const json_t *one) {
    const char *language = json_string_value(field(one, "given"));
    return weft_test_text("--tokens %d %s%s%s", TOKENS, language ? "--language " : "",
                          language ? language : "",
                          json_is_true(field(one, "translate")) ? " --translate" : "");
}

static void expect_case(const json_t *file, const json_t *one) {
    const json_t *segments = field(file, "segments");
    const json_t *segment = json_array_get(segments, 0);
    const double seconds = (double)integer_field(one, "samples") / RATE;
    assert_int_equal(json_array_size(segments), 1);
    assert_string_equal(string_field(file, "language"), string_field(one, "language"));
    assert_string_equal(string_field(file, "text"), string_field(one, "text"));
    expect_seconds(file, "seconds", seconds);
    assert_true(json_equal(field(segment, "tokens"), field(one, "tokens")));
    assert_true(json_equal(field(segment, "text"), field(one, "text")));
    assert_true(json_equal(field(segment, "language"), field(one, "language")));
    assert_true(json_is_true(field(segment, "is_cut"))); /* none of them ends before */
    expect_seconds(segment, "begin", 0.0);
    expect_seconds(segment, "end", seconds);
}

PLACE_TEST(the_tokens_are_those_of_transformers, place) {
    json_t *expected = read_cases();
    const json_t *cases = field(expected, "cases");
    assert_int_equal(json_array_size(cases), 5);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i);
        const char *path = write_case(place, one);
        json_t *report = transcribe("", weft_test_text("'%s' %s", path, options_of(one)));
        assert_true(json_is_false(field(report, "stopped")));
        assert_string_equal(string_field(report, "math"), "reproducible");
        assert_non_null(string_field(report, "device/name"));
        assert_string_equal(string_field(file_at(report, 0), "file"), path);
        expect_case(file_at(report, 0), one);
        json_decref(report);
    }
    json_decref(expected);
}

/* Their segments, and in JSON and as subtitles the same times. */
PLACE_TEST(times_are_those_of_transformers, place) {
    json_t *expected = read_cases();
    const json_t *cases = field(expected, "timed");
    assert_int_equal(json_array_size(cases), 2);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i);
        const char *path = write_case(place, one);
        json_t *report = run_json("", "transcribe '" WHISPER "' '%s' --language %s", path,
                                  string_field(one, "language"));
        const json_t *segments = field(file_at(report, 0), "segments");
        assert_int_equal(json_array_size(segments), json_array_size(field(one, "segments")));
        for (size_t k = 0; k < json_array_size(segments); k++) {
            const json_t *found = json_array_get(segments, k);
            const json_t *wanted = json_array_get(field(one, "segments"), k);
            assert_true(json_equal(field(found, "tokens"), field(wanted, "tokens")));
            assert_true(json_equal(field(found, "text"), field(wanted, "text")));
            expect_seconds(found, "begin", number_field(wanted, "begin"));
            expect_seconds(found, "end", number_field(wanted, "end"));
        }
        json_decref(report);
    }
    json_decref(expected);
}

static char *clock_of(const json_t *segment, const char *name) {
    const unsigned ms = (unsigned)(number_field(segment, name) * 1000.0 + 0.5);
    return weft_test_text("00:00:%02u,%03u", ms / 1000, ms % 1000);
}

PLACE_TEST(subtitles_have_numbers_and_times, place) {
    const char *path = write_wav(place->folder, "sound.wav", 6, 2 * WINDOW, RATE);
    json_t *report = run_json("", "transcribe '" WHISPER "' '%s' --language de", path);
    const json_t *segments = field(file_at(report, 0), "segments");
    char *expected = weft_test_text("%s", "");
    for (size_t i = 0; i < json_array_size(segments); i++) {
        const json_t *segment = json_array_get(segments, i);
        const char *text = string_field(segment, "text");
        expected =
            weft_test_text("%s%zu\n%s --> %s\n%s\n\n", expected, i + 1, clock_of(segment, "begin"),
                           clock_of(segment, "end"), text + strspn(text, " "));
    }
    struct outcome outcome =
        expect_weft(0, "transcribe '" WHISPER "' '%s' --language de --srt", path);
    assert_true(json_array_size(segments) >= 2);
    assert_string_equal(outcome.out, expected);
    outcome_clear(&outcome);
    json_decref(report);
    expect_refused(2, weft_test_text("transcribe '" WHISPER "' '%s' --srt --json", path), "--srt",
                   "--json", NULL);
    expect_refused(2, weft_test_text("transcribe '" WHISPER "' '%s' '%s' --srt", path, path),
                   "--srt", "single", NULL);
}

PLACE_TEST(lanes_change_nothing, place) {
    const char *path = write_wav(place->folder, "sound.wav", 3, 2 * WINDOW + 4321, RATE);
    const char *arguments = weft_test_text("'%s' --device processor --tokens 6", path);
    json_t *whole = transcribe("WEFT_PROCESSOR_LANES=8", arguments);
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 4) {
        json_t *report = transcribe(weft_test_text("WEFT_PROCESSOR_LANES=%u", lanes), arguments);
        assert_true(json_equal(field(report, "files"), field(whole, "files")));
        json_decref(report);
    }
    json_decref(whole);
}

/* ---- windows ---- */

/* A line for each segment, as the JSON has them; what is cut is said before. */
PLACE_TEST(a_long_sound_is_cut, place) {
    const uint32_t samples = 3 * WINDOW + 321;
    const char *path = write_wav(place->folder, "sound.wav", 5, samples, RATE);
    struct outcome json = expect_weft(0, PLAIN "'%s' --tokens 4 --language en --json", path);
    struct outcome text = expect_weft(0, PLAIN "'%s' --tokens 4 --language en", path);
    json_t *report = json_of(&json);
    const json_t *segments = field(file_at(report, 0), "segments");
    const size_t count = json_array_size(segments);
    double end = 0.0;
    const char *line = text.out;
    assert_in_range(count, 4, 5);
    for (size_t i = 0; i < count; i++) {
        const json_t *segment = json_array_get(segments, i);
        const char *expected = string_field(segment, "text");
        expected += strspn(expected, " ");
        expect_seconds(segment, "begin", end);
        end = number_field(segment, "end");
        const double length = end - number_field(segment, "begin");
        assert_true(length <= 1.0 && (i + 1 == count || length >= 5.0 / 6.0 - 1e-9));
        assert_memory_equal(line, expected, strlen(expected));
        line += strlen(expected);
        assert_int_equal(*line++, '\n');
    }
    assert_string_equal(line, "");
    expect_seconds(file_at(report, 0), "seconds", (double)samples / RATE);
    assert_true(fabs(end - (double)samples / RATE) < 1e-9);
    expect_part(&json, json.err, "sound.wav: 3.0 s are more than the 1 s");
    expect_part(&text, text.err, "cut where it is quietest");
    expect_part(&text, text.err, "weft: 3.0 s of sound, ");
    json_decref(report);
    outcome_clear(&json);
    outcome_clear(&text);
}

/* ---- files ---- */

/* The text of a case, by the command's own JSON. */
static char *text_of(const char *path) {
    json_t *report = transcribe("", weft_test_text("'%s' --tokens 5 --language de", path));
    char *text = weft_test_text("%s", string_field(file_at(report, 0), "text"));
    json_decref(report);
    return text + strspn(text, " ");
}

/* Each with its name; those that cannot be read are named, and the others are there. */
PLACE_TEST(several_files_are_written_down, place) {
    const char *first = write_wav(place->folder, "first.wav", 1, 9000, RATE);
    const char *second = write_wav(place->folder, "second.wav", 11, WINDOW, RATE);
    const char *bad = weft_test_write(place->folder, "bad.wav", "no sound", 8);
    const char *absent = weft_test_absent("absent.wav");
    const char *options = "--tokens 5 --language de";
    char *expected =
        weft_test_text("%s:\n%s\n%s:\n%s\n", first, text_of(first), second, text_of(second));
    struct outcome fine = expect_weft(0, PLAIN "'%s' '%s' %s", first, second, options);
    assert_string_equal(fine.out, expected);
    expect_part(&fine, fine.err, "2 segments");
    struct outcome some =
        expect_weft(4, PLAIN "'%s' '%s' '%s' '%s' %s", absent, first, bad, second, options);
    assert_string_equal(some.out, expected);
    expect_part(&some, some.err, absent);
    expect_part(&some, some.err, bad);
    struct outcome json =
        expect_weft(4, PLAIN "'%s' '%s' '%s' %s --json", first, absent, second, options);
    json_t *report = json_of(&json);
    assert_int_equal(json_array_size(field(report, "files")), 2);
    assert_string_equal(string_field(file_at(report, 1), "file"), second);
    expect_seconds(report, "seconds", (9000.0 + WINDOW) / RATE);
    json_decref(report);
    outcome_clear(&fine);
    outcome_clear(&some);
    outcome_clear(&json);
}

PLACE_TEST(standard_input_is_a_file, place) {
    const char *path = write_wav(place->folder, "sound.wav", 7, WINDOW, RATE);
    json_t *file = transcribe("", weft_test_text("'%s' --tokens 5", path));
    json_t *input = transcribe("", weft_test_text("- --tokens 5 < '%s'", path));
    assert_string_equal(string_field(file_at(input, 0), "file"), "standard input");
    assert_true(
        json_equal(field(file_at(input, 0), "segments"), field(file_at(file, 0), "segments")));
    json_decref(file);
    json_decref(input);
    expect_refused(4, PLAIN "- --tokens 5 < /dev/null", "standard input", NULL);
}

/* With a note of both rates; the time stays what it is. */
PLACE_TEST(other_rates_are_resampled, place) {
    const char *path = write_wav(place->folder, "sound.wav", 9, 6000, 8000);
    struct outcome outcome = expect_weft(0, PLAIN "'%s' --tokens 5 --json", path);
    json_t *report = json_of(&outcome);
    expect_part(&outcome, outcome.err,
                "sound.wav: resampled from 8,000 to 16,000 samples a second");
    expect_seconds(file_at(report, 0), "seconds", 0.75);
    json_decref(report);
    outcome_clear(&outcome);
    struct outcome same = expect_weft(0, PLAIN "'%s' --tokens 5",
                                      write_wav(place->folder, "same.wav", 9, 6000, RATE));
    assert_null(strstr(same.err, "resampled"));
    outcome_clear(&same);
}

/* ---- what is refused ---- */

PLACE_TEST(wrong_requests_are_refused, place) {
    const char *path = write_wav(place->folder, "sound.wav", 1, 4000, RATE);
    const char *empty = write_wav(place->folder, "empty.wav", 1, 0, RATE);
    const char *absent = weft_test_absent("model");
    char *line = weft_test_text(PLAIN "'%s'", path);
    expect_refused(2, weft_test_text("%s --language xx", line), "language", "xx", NULL);
    expect_refused(2, weft_test_text("%s --tokens 100", line), "tokens", NULL);
    expect_refused(2, weft_test_text("%s --tokens 0", line), "--tokens", "'0'", NULL);
    expect_refused(2, PLAIN, "expected MODEL FILE...", NULL);
    expect_refused(4, weft_test_text(PLAIN "'%s'", empty), empty, NULL);
    expect_refused(4, weft_test_text("transcribe '%s' '%s'", absent, path), absent, NULL);
    expect_refused(4, weft_test_text("transcribe '" FNET "' '%s'", path), "weft: error:", NULL);
}
