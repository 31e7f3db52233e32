# SPDX-License-Identifier: MIT
"""Plain text from the source of a manual page (man and mdoc macros).

This is no formatter: it keeps running prose, one string per paragraph, and drops what carries no
language: headings, tags of option lists, examples, tables, addresses.
Requests and escapes: groff(7), groff_char(7), man(7), mdoc(7).
"""

import re

# Two-letter and named special characters that occur in prose (groff_char(7)).
GLYPHS = {
    "aq": "'", "cq": "\u2019", "oq": "\u2018", "dq": '"', "lq": "\u201c", "rq": "\u201d",
    "em": "\u2014", "en": "\u2013", "hy": "-", "mi": "\u2212", "bu": "", "ha": "^", "ti": "~",
    "ga": "`", "at": "@", "rs": "\\", "sl": "/", "bv": "|", "br": "|", "ul": "_", "co": "\u00a9",
    "rg": "\u00ae", "de": "\u00b0", "+-": "\u00b1", "mu": "\u00d7", "<=": "\u2264", ">=": "\u2265",
    "!=": "\u2260", "->": "\u2192", "<-": "\u2190", "if": "\u221e", "mc": "\u00b5", "sc": "\u00a7",
    "Fo": "\u00ab", "Fc": "\u00bb", "fo": "\u2039", "fc": "\u203a", "Bq": "\u201e", "bq": "\u201a",
    "la": "\u27e8", "ra": "\u27e9", "ss": "\u00df", "ae": "\u00e6", "AE": "\u00c6", "/o": "\u00f8",
    "/O": "\u00d8", "oa": "\u00e5", "oA": "\u00c5", ",c": "\u00e7", ",C": "\u00c7", "eu": "\u20ac",
    "Eu": "\u20ac", "12": "\u00bd", "14": "\u00bc", "34": "\u00be", "r!": "\u00a1", "r?": "\u00bf",
    "tm": "\u2122", "dg": "\u2020", "ci": "\u25cb", "eq": "=", "ts": "\u03c2", "OE": "\u0152",
    "oe": "\u0153", "-D": "\u00d0", "Sd": "\u00f0", "Tp": "\u00fe", "TP": "\u00de",
}
# Accent + letter, as in \('e: the combining mark that follows the letter.
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ":": "\u0308", "v": "\u030c",
           ",": "\u0327", "o": "\u030a", "a": "\u0304"}

QUOTED_ARGUMENT = "bBoDhHlLNvwSxXZCA"  # escapes whose argument stands between two equal delimiters
ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |[^\s"])(?:\\ |[^\s])*)')
SIZE = re.compile(r"[+-]?(\([+-]?\d\d|\[[^]]*\]|'[^']*'|[0-3]\d|\d)?")


def glyph(name):
    """The characters that the special character `name` stands for; unknown names vanish."""
    if name in GLYPHS:
        return GLYPHS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}(_[0-9A-F]{4,6})*", name):
        return "".join(chr(int(part, 16)) for part in name[1:].split("_"))
    if len(name) == 2 and name[0] in ACCENTS and name[1].isalpha():
        return name[1] + ACCENTS[name[0]]
    return ""


def named_argument(text, at):
    """Read `x`, `(xx` or `[name]` at `at`; return the name and where it ends."""
    if text[at:at + 1] == "(":
        return text[at + 1:at + 3], at + 3
    if text[at:at + 1] == "[":
        end = text.find("]", at)
        return (text[at + 1:end], end + 1) if end > 0 else ("", len(text))
    return text[at:at + 1], at + 1


def quoted_argument(text, at):
    """Read an argument between two delimiters at `at`; return where it ends."""
    end = text.find(text[at:at + 1] or "\n", at + 1)
    return end + 1 if end > 0 else len(text)


def escape(text, at):
    """Decode the escape whose letter stands at `at`; return its text and where it ends."""
    letter = text[at:at + 1]
    if letter in "([":
        name, end = named_argument(text, at)
        return glyph(name), end
    if letter in "fFgkmMnYV":
        if letter == "n" and text[at + 1:at + 2] in ("+", "-"):
            at += 1
        return "", named_argument(text, at + 1)[1]
    if letter == "*":
        name, end = named_argument(text, at + 1)
        return {"lq": "\u201c", "rq": "\u201d", 'L"': '"', 'R"': '"', "C`": '"', "C'": '"',
                "Aq": "'", "Lq": "\u201c", "Rq": "\u201d", "q": '"'}.get(name, ""), end
    if letter == "s":
        return "", SIZE.match(text, at + 1).end()
    if letter in QUOTED_ARGUMENT:
        return "", quoted_argument(text, at + 1)
    if letter == "z":
        return "", at + 1
    plain = {"-": "-", "e": "\\", "\\": "\\", ".": ".", "'": "'", "`": "`", " ": " ", "~": " ",
             "0": " ", "t": " ", "E": "\\"}
    return plain.get(letter, ""), at + 1


def decode(text):
    """Replace every escape in one line of roff by its characters."""
    out, at = [], 0
    while at < len(text):
        if text[at] != "\\":
            out.append(text[at])
            at += 1
        elif text[at + 1:at + 2] in ('"', "#"):
            break
        else:
            piece, at = escape(text, at + 1)
            out.append(piece)
    return "".join(out)


def arguments(line):
    """The arguments of a macro line, quotes taken off."""
    return [quoted if quoted else bare for quoted, bare in ARGUMENT.findall(line)]


BREAKS = set("PP P LP sp br Pp HP Sp RS RE bp IP TP It Bl El TQ in ti ce PD Lp SH SS Sh Ss TH Dt "
             "Dd Os SB".split())
FONTS_SPACED = set("B I SM Em Sy Nm Ar Pa Ev Cm Ic Dv Va Fa Tn Li Ql Dq Sq Pq Qq Bq Aq No Vt Er Ns "
                   "Bx Nx Fx Ox Ux At Fl Fn Sx Ad An Nd".split())
FONTS_JOINED = set("BR RB BI IB IR RI".split())
MDOC_INLINE = FONTS_SPACED | {"Xr", "Op", "Oo", "Oc", "Ap", "Xo", "Xc"}
# Blocks that hold code, tables or comments, and what ends each.
BLOCKS = {"nf": {"fi"}, "EX": {"EE"}, "TS": {"TE"}, "EQ": {"EN"}, "Bd": {"Ed"}, "Vb": {"Ve"},
          "CS": {"CE"}, "de": {"."}, "de1": {"."}, "am": {"."}, "ig": {"."}, "SY": {"YS"},
          "Rs": {"Re"}, "DS": {"DE"}, "Ds": {"De"}}


class Page:
    """Collects the paragraphs of one manual page."""

    def __init__(self):
        self.paragraphs, self.words = [], []
        self.until, self.skip_next = None, False

    def end_paragraph(self):
        text = re.sub(r"\s+", " ", " ".join(self.words)).strip()
        if text:
            self.paragraphs.append(text)
        self.words = []

    def text(self, line):
        if self.skip_next:  # the tag of a .TP paragraph
            self.skip_next = False
            return
        if not line.strip():
            self.end_paragraph()
        else:
            self.words.append(decode(line))

    def macro(self, name, rest):
        if self.until is not None:
            if name in self.until:
                self.until = None
            return
        if name in BLOCKS:
            self.end_paragraph()
            self.until = BLOCKS[name]
        elif name in BREAKS:
            self.end_paragraph()
            self.skip_next = name in ("TP", "TQ")
        elif name in FONTS_SPACED:
            words = [w for w in arguments(rest) if w not in MDOC_INLINE]
            self.inline(" ".join(words))
        elif name in FONTS_JOINED:
            self.inline("".join(arguments(rest)))
        elif name == "Xr":
            self.inline("(".join(arguments(rest)[:2]) + ")")
        elif name in ("ie", "el", "if") and "\\{" in rest and "\\}" not in rest:
            self.until = {"\\}"}

    def inline(self, text):
        if self.skip_next:
            self.skip_next = False
        else:
            self.words.append(decode(text))


def join_continued(source):
    """Logical lines: a backslash at the end of a line joins it to the next."""
    return re.sub(r"(?<!\\)\\\n|\\c\n", "", source).split("\n")


def paragraphs(source):
    """The prose paragraphs of the page `source` (roff text), in order."""
    page = Page()
    for line in join_continued(source):
        control = re.match(r"[.'][ \t]*(\\}|\\\"|\.|[A-Za-z0-9]*)(.*)", line)
        if control and (line[0] == "." or control.group(1) in BREAKS | {"nf", "fi"}):
            page.macro(control.group(1), control.group(2).strip())
        elif page.until is None:
            page.text(line)
        elif page.until == {"\\}"} and "\\}" in line:
            page.until = None
    page.end_paragraph()
    return page.paragraphs


def redirect(source):
    """The page that a stub names with `.so man1/name.1`, or None."""
    found = re.search(r"^\.so\s+(\S+)", source[:2000], re.M)
    return found.group(1) if found else None
