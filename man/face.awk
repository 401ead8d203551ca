# man/face.awk -v face=log -v date='November 22, 2026': the page libu9_log(3), from include/u9/log.h: its head, each type and
# constant as it stands there, each function with what stands in front of it.
#
# What it relies on: declarations begin in the first column, and so do the comments that are theirs; a declaration ends with
# `;` or, of macros, with its line.

# The text of a comment's lines as paragraphs; lines that are indented further, or begin with a bar, stay as they are.
function put_comment(text,    n, i, lines, line, prose, display) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        line = lines[i]
        if (line ~ /^(Room|Sees): /) continue
        if (line ~ /^(   |\|)/) {
            put_text(prose); prose = ""
            if (!display) { begin_display(); display = 1 }
            put_display(line)
            continue
        }
        if (display) { end_display(); display = 0; if (line != "") print ".Pp" }
        if (line ~ /^[ \t]*$/) { if (prose != "") { put_text(prose); prose = ""; gap = 1 } ; continue }
        if (gap) { print ".Pp"; gap = 0 }
        prose = prose " " line
    }
    put_text(prose)
    if (display) end_display()
    gap = 0
}

function bare(text) { # a comment's text without its stars
    sub(/^\/\* ?/, "", text); sub(/ *\*\/ *$/, "", text)
    gsub(/\n \* ?/, "\n", text); gsub(/\n \*$/, "", text)
    return text
}

# Of a prototype on one line: its name, to `synopsis`.
function take_prototype(text,    open, head, args, n, i, c, depth, arg, name, out) {
    gsub(/U9(_ZK|_RADOS|_S3)?_API |U9_MUST_CHECK |extern /, "", text)
    gsub(/__attribute__\(\(.*\)\)\)?/, "", text)
    gsub(/[ \t\n]+/, " ", text)
    open = index(text, "(")
    head = substr(text, 1, open - 1); args = substr(text, open + 1)
    sub(/\) *;? *$/, "", args)
    match(head, /[a-z0-9_]+ *$/)
    name = substr(head, RSTART); sub(/ *$/, "", name)
    head = substr(head, 1, RSTART - 1); sub(/ *$/, "", head)
    out = ".Ft " (head ~ / / ? "\"" head "\"" : head) "\n.Fo " name
    if (args == "void" || args == "") args = "void"
    arg = ""; depth = 0; n = length(args)
    for (i = 1; i <= n + 1; i++) {
        c = substr(args, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (i > n || (c == "," && !depth)) { sub(/^ */, "", arg); out = out "\n.Fa \"" arg "\""; arg = "" }
        else arg = arg c
    }
    synopsis = synopsis out "\n.Fc\n"
    names[++name_count] = name
    return name
}

# What a declaration that is no function is called.
function type_name(text,    t) {
    if (match(text, /^#define [A-Za-z0-9_]+/)) return substr(text, 9, RLENGTH - 8)
    if (match(text, /\} *[A-Za-z0-9_]+;[^}]*$/)) { t = substr(text, RSTART); sub(/^\} */, "", t); sub(/;.*/, "", t); return t }
    if (match(text, /^enum *\{ *[A-Z0-9_]+/)) { sub(/^enum *\{ */, "", text); sub(/[^A-Z0-9_].*/, "", text); return text }
    sub(/\/\*.*/, "", text); sub(/;.*/, "", text)
    if (match(text, /[a-z0-9_]+\(/)) return substr(text, RSTART, RLENGTH - 1)
    if (match(text, /[A-Za-z0-9_]+ *$/)) { t = substr(text, RSTART); sub(/ *$/, "", t); return t }
    return ""
}

# A comment's declarations have ended: tells them.
function flush_item(    i, title, said) {
    if (!decl_count) { # a comment by itself
        if (comment != "") piece_text[++piece_count] = comment
        comment = ""
        return
    }
    title = ""; code = ""; tails = ""
    for (i = 1; i <= decl_count; i++) {
        if (decls[i] ~ /^[^\n\/]*_API / ) {
            tail = decls[i]
            proto = decls[i]
            if (match(proto, /;[ \n]*\/\*/)) { tail = substr(proto, RSTART + 1); proto = substr(proto, 1, RSTART) } else tail = ""
            said = take_prototype(proto)
            sub(/^[ \n]*/, "", tail)
            tail = bare(tail); gsub(/\n[ *]*/, " ", tail)
            if (tail != "") tails = tails said "\t" tail "\n"
        } else {
            said = type_name(decls[i])
            code = code decls[i] "\n"
        }
        if (said != "" && index(" " title ",", " " said ",") == 0) title = title (title != "" ? ", " : "") said
    }
    pieces[++piece_count] = title
    piece_text[piece_count] = comment; piece_code[piece_count] = code; piece_tails[piece_count] = tails
    comment = ""; decl_count = 0
}

function end_decl() {
    if (decl != "") decls[++decl_count] = decl
    decl = ""; depth = 0
}

BEGIN { in_head = 1 }

# The head: the first comment.
in_head && /^\/\*/ { reading = 1 }
in_head && reading { head = head (head != "" ? "\n" : "") $0; if (/\*\//) { in_head = 0; reading = 0 } ; next }
in_head { next }

/^#if defined\(__GNUC__\)/ { skipping = 1 }
skipping { if (/^#endif/) skipping = 0; next }
/^#(ifndef|ifdef|if|endif|else|include|undef)/ || /^extern "C"/ || /^}$/ && decl == "" { if (!/endif|include/) comment = ""; next }
/^#define U9_[A-Z0-9_]*_H$/ { next }
/^static inline .*u9i_/ || /^#define u9_/ { internal = 1 }
internal { if (/^}/ || /^#define/) { internal = 0; comment = "" } ; next }

in_comment { comment = comment "\n" $0; if (/\*\//) { in_comment = 0; comment = bare(comment) } ; next }
/^\/\*/ && decl == "" {
    flush_item()
    comment = $0
    if (/\*\//) comment = bare(comment)
    else in_comment = 1
    next
}
/^$/ && depth == 0 && !open_tail { end_decl(); flush_item(); next }
{
    decl = decl (decl != "" ? "\n" : "") $0
    line = $0
    gsub(/"[^"]*"/, "", line)
    # A comment that is open goes on to the next line.
    while (match(line, /\/\*([^*]|\*[^\/])*\*\//)) line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
    if (open_tail && line ~ /\*\//) { sub(/.*\*\//, "", line); open_tail = 0 }
    else if (open_tail) next
    if (line ~ /\/\*/) { sub(/\/\*.*/, "", line); open_tail = 1 }
    o = line; depth += gsub(/[{(]/, "", o); o = line; depth -= gsub(/[})]/, "", o)
    if (line ~ /;[ \t]*$/ && depth == 0) ended = 1
    if (decl ~ /^#define/ && decl !~ /\\$/) ended = 1
    if (ended && !open_tail) { end_decl(); ended = 0 }
}

END {
    end_decl(); flush_item()
    head = bare(head)
    sub(/^[ \n]*u9\/[a-z0-9_]*\.h: */, "", head)
    head = toupper(substr(head, 1, 1)) substr(head, 2)
    match(head, /[.:](\n|$| )/)
    title = substr(head, 1, RSTART - 1)
    gsub(/\n/, " ", title)
    sub(/ *\(SPEC[^)]*\)/, "", title)
    page = "LIBU9_" toupper(face)
    print ".\\\" Made by `make manual` from include/u9/" face ".h: do not edit."
    print ".Dd " date "\n.Dt " page " 3\n.Os\n.Sh NAME"
    print ".Nm libu9_" face (name_count ? " ," : "")
    for (i = 1; i <= name_count; i++) print ".Nm " names[i] (i < name_count ? " ," : "")
    print ".Nd " escaped(tolower(substr(title, 1, 1)) substr(title, 2))
    print ".Sh SYNOPSIS\n.In u9/" face ".h"
    printf "%s", synopsis
    print ".Sh DESCRIPTION"
    put_comment(head)
    for (i = 1; i <= piece_count; i++) {
        if (pieces[i] != "") print ".Ss " pieces[i]
        else if (piece_text[i] !~ /^(   |\|)/) print ".Pp"
        put_comment(piece_text[i])
        if (piece_code[i] != "") {
            print ".Bd -literal"
            n = split(piece_code[i], rows, "\n")
            for (k = 1; k < n; k++) put_display(rows[k])
            print ".Ed"
        }
        n = split(piece_tails[i], rows, "\n")
        if (piece_text[i] != "" && n > 1) print ".Pp"
        for (k = 1; k < n; k++) { split(rows[k], both, "\t"); put_text((name_count > 1 && n > 2 ? "`" both[1] "`: " : "") both[2]); if (k < n - 1) print ".br" }
    }
    print ".Sh SEE ALSO\n.Xr libu9 3"
}
