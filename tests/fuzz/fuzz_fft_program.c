/* SPDX-License-Identifier: MIT */
/* Any bytes as an FFT program of the disk cache: what is read must come out again when it is written. */
#include <string.h>

#include "fuzz.h"
#include "mixers/vkfft/fft_program.h"
#include "mixers/vkfft/program_file.h"

#define INPUT  1056
#define OUTPUT 1024

static void write_again(const struct weft_fft_program *program, const uint8_t *data, size_t size) {
    uint8_t *written = NULL;
    size_t written_size = 0;
    if (weft_fft_program_write(&written, &written_size, program, NULL) == WEFT_OK) {
        fuzz_expect(written_size == size && memcmp(written, data, size) == 0);
    }
    weft_free(NULL, written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_fft_program *program = weft_alloc_zero(NULL, 1, sizeof *program);
    if (!program) {
        return 0;
    }
    program->input_bytes = INPUT;
    program->output_bytes = OUTPUT;
    if (weft_fft_program_read(program, data, size, NULL) == WEFT_OK) {
        write_again(program, data, size);
    } else {
        fuzz_expect(!program->modules && !program->tables && !program->dispatches);
    }
    weft_fft_program_destroy(&program, NULL);
    return 0;
}
