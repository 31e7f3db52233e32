# The comment that a header begins with is that of the file. Macros for compound literals are no part of the reference.
2s,^/\*,/** @file\
 *,
/^#define weft_[a-z_]*(\.\.\.) (&(/d
