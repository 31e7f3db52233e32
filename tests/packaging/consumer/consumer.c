/* SPDX-License-Identifier: MIT */
/* Compiled as C and as C++: prints the library's version and a status name. */
#include <stdio.h>

#include <weft/weft.h>

int main(void) {
    printf("weft %s %s\n", weft_version(), weft_status_name(WEFT_OK));
    return 0;
}
