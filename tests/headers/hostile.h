/* SPDX-License-Identifier: MIT */
/*
 * Words that headers of other libraries define as macros, and that a program has defined when it includes Weft's headers.
 * Those of the C and C++ libraries, of Vulkan and of OpenCL come first (tests/cmake/headers.cmake), as the words would
 * break them, too. Each block is what one real header does. Words that no C++ program has (iso646.h, tgmath.h, and what
 * curses.h undefines for C++) are for C alone.
 */

/* Qt: qobjectdefs.h and qtmetamacros.h, unless QT_NO_KEYWORDS */
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
#define forever                      for (;;)
#define Q_OBJECT
#define Q_EMIT
#define Q_SLOTS
#define Q_SIGNALS public

/* Windows: windef.h, minwindef.h, wingdi.h, winnt.h, rpcndr.h, objbase.h, winuser.h */
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define NEAR
#define FAR
#define small     char
#define hyper     long long
#define interface struct
#define cdecl
#define pascal
#define CALLBACK
#define VOID  void
#define CONST const
#define IN
#define OUT
#define OPTIONAL
#define DELETE      0x00010000L
#define ERROR       0
#define NO_ERROR    0L
#define STRICT      1
#define OPAQUE      2
#define TRANSPARENT 1
#define ABSOLUTE    1
#define RELATIVE    2
#define THIS        void
#define DOMAIN      1
#define OVERFLOW    3
#define CreateEvent CreateEventW
#define GetMessage  GetMessageW
#define LoadLibrary LoadLibraryW
#define Yield()

/* X11: X.h and Xlib.h */
#define None        0L
#define Bool        int
#define Status      int
#define Success     0
#define Always      2
#define True        1
#define False       0
#define Complex     0
#define Unsorted    0
#define CursorShape 0
#define Above       0
#define Below       1
#define KeyPress    2
#define Convex      2
#define CurrentTime 0L
#define Expose      12
#define FocusIn     9
#define GrayScale   1

/* complex.h, curses.h, and what compilers predefine where extensions are on */
#ifndef I
#define I 1.0iF
#endif
#define imaginary      _Imaginary
#define clear()        wclear(stdscr)
#define erase()        werase(stdscr)
#define refresh()      wrefresh(stdscr)
#define scroll(window) wscrl(window, 1)
#define timeout(delay) wtimeout(stdscr, delay)
#define lines          LINES
#define OK             0
#define ERR            (-1)
#define unix           1
#define linux          1
#define i386           1
#define sun            1
#define mips           1
#define arm            1
/* sys/sysmacros.h */
#define major(device) ((device) >> 8)
#define minor(device) ((device)&255)

/* Arduino.h, binary.h and termios.h */
#define F(text)    (text)
#define B0         0
#define B1         1
#define B01        1
#define abs(x)     ((x) > 0 ? (x) : -(x))
#define round(x)   ((x) >= 0 ? (long)((x) + 0.5) : (long)((x)-0.5))
#define sq(x)      ((x) * (x))
#define bit(b)     (1UL << (b))
#define radians(x) ((x)*0.017453292519943295)
#define degrees(x) ((x)*57.29577951308232)
#define word(...)  make_word(__VA_ARGS__)
#define PI         3.1415926535897932
#define HIGH       1
#define LOW        0
#define INPUT      0
#define OUTPUT     1
#define DEFAULT    1
#define EXTERNAL   0
#define INTERNAL   1
#define SERIAL     0
#define DISPLAY    1

/* GLib, AssertMacros.h, Unreal, glog, gettext */
#define MIN(a, b)           (((a) < (b)) ? (a) : (b))
#define MAX(a, b)           (((a) > (b)) ? (a) : (b))
#define ABS(a)              (((a) < 0) ? -(a) : (a))
#define CLAMP(x, low, high) (((x) > (high)) ? (high) : (((x) < (low)) ? (low) : (x)))
#define TRUE                1
#define FALSE               0
#define check(expression)
#define verify(expression)
#define require(expression, label)
#define nil 0
#define CHECK(condition)
#define LOG(severity)
#define INFO       1
#define WARNING    2
#define TEXT(text) L##text
#define _(text)    text
#define N_(text)   text

/* A program's own */
#define C 299792458
#define D 2
#define E 2.718281828459045
#define K 3
#define N 16
#define T 300
#define U unsigned

/* What old C libraries and emulations rename */
#define index   strchr
#define open    open64
#define stat    stat64
#define current get_current()

#ifdef __cplusplus
#define new new /* which MFC defines as DEBUG_NEW */
#else
/* curses.h, iso646.h, tgmath.h, stdnoreturn.h */
#define move(y, x)                     wmove(stdscr, y, x)
#define border(a, b, c, d, e, f, g, h) wborder(stdscr, a, b, c, d, e, f, g, h)
#define and &&
#define or ||
#define not !
#define xor ^
#define compl ~
#define bitand &
#define bitor |
#define complex  _Complex
#define exp(x)   generic(exp, x)
#define log(x)   generic(log, x)
#define sqrt(x)  generic(sqrt, x)
#define noreturn _Noreturn
#endif
