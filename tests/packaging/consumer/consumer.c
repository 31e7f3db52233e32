/* SPDX-License-Identifier: MIT */
/* Compiled as C and as C++: prints the library's version and a status name. */
#include <stdio.h>

#ifdef __cplusplus
#include <weft/weft.hpp>
#else
#include <weft/weft.h>
#endif

int main(void) {
#ifdef __cplusplus
    printf("weft %s %s\n", weft::version(), weft::status(WEFT_OK).name());
#else
    printf("weft %s %s\n", weft_version(), weft_status_name(WEFT_OK));
#endif
    return 0;
}
