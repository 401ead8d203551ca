# man/help.awk -v part=PART -v command='u9 append': a part of a manual page, or of the completions, from what
# `u9 append --help` prints with ARGP_HELP_FMT=rmargin=30000,opt-doc-col=60,no-dup-args-note: the usage, then the text before the
# options, then they, each on a line, its words from column 61 on (or behind two blanks where it is long), then the text behind.
#
# PART: synopsis, description, options, notes; table: `LETTER|NAME|ARGUMENT|o|TEXT` for each option, `o` if the argument is
# optional; arguments: what stands behind the options, a line for each usage.

function is_option(line) { return line ~ /^ +-/ && line !~ /^ *- / }

# Of a line: letter, name, argument, optional and words.
function take_option(line,    at, head, rest) {
    rest = line
    sub(/^ +/, "", rest)
    at = match(rest, /   */)
    head = at ? substr(rest, 1, at - 1) : rest
    words = at ? substr(rest, at + RLENGTH) : ""
    letter = name = argument = optional = ""
    if (match(head, /^-[^-]/)) letter = substr(head, 2, 1)
    if (match(head, /--[a-z0-9-]+/)) {
        name = substr(head, RSTART + 2, RLENGTH - 2)
        rest = substr(head, RSTART + RLENGTH)
        if (rest ~ /^\[=.*\]$/) { optional = "o"; argument = substr(rest, 3, length(rest) - 3) }
        else if (rest ~ /^=/) argument = substr(rest, 2)
    } else if (length(head) > 2) argument = substr(head, 4)
}

function put_option(    line) {
    line = ".It"
    if (letter != "") line = line " Fl " (letter == "?" ? "\\&?" : letter) (name != "" ? " ," : "")
    if (name != "") line = line " Fl Fl " name
    if (argument != "" && optional != "") line = line " Ns Op = Ns Ar " argument
    else if (argument != "") line = line (name != "" ? " Ns = Ns Ar " : " Ar ") argument
    print line
    put_text(words)
}

# One usage, its arguments as mdoc.
function put_usage(text,    n, i, w, a) {
    print ".Nm " command
    print ".Op Ar option ..."
    n = split(text, a, " ")
    for (i = 1; i <= n; i++) {
        w = a[i]
        if (w ~ /^\[.*\.\.\.\]$/) print ".Op Ar " substr(w, 2, length(w) - 5) " ..."
        else if (w ~ /\.\.\.$/) print ".Ar " substr(w, 1, length(w) - 3) " ..."
        else if (w ~ /^[a-z]+$/) print ".Cm " w
        else print ".Ar " w
    }
}

function put_prose(first, last,    i, text, display) {
    while (first <= last && lines[first] == "") first++
    while (last >= first && lines[last] == "") last--
    for (i = first; i <= last; i++) {
        if (lines[i] ~ /^  /) { put_text(text); text = ""; if (!display) begin_display(); display = 1; put_display(substr(lines[i], 3)); continue }
        if (display && lines[i] == "" && lines[i + 1] ~ /^  /) { print ""; continue }
        if (display) { end_display(); display = 0; if (lines[i] == "") { print ".Pp"; continue } }
        if (lines[i] == "") { put_text(text); text = ""; if (lines[i + 1] !~ /^  /) print ".Pp" }
        else text = text " " lines[i]
    }
    put_text(text)
    if (display) end_display()
}

{ lines[NR] = $0 }
/^(Usage|  or): / && !options { usages[++usage_count] = $0; prose = NR + 1 }
is_option($0) { if (!options) options = NR; last_option = NR }
END {
    # A group's name stands before its options, behind one blank.
    first = options
    while (first > prose && lines[first - 1] ~ /^ [A-Z]/) first--
    if (part == "description") put_prose(prose, first - 1)
    if (part == "notes") put_prose(last_option + 1, NR)
    if (part == "synopsis" || part == "arguments")
        for (i = 1; i <= usage_count; i++) {
            text = usages[i]
            sub(/.*\[OPTION\.\.\.\] */, "", text)
            if (part == "arguments") print text
            else put_usage(text)
        }
    if (part == "table")
        for (i = first; i <= last_option; i++)
            if (is_option(lines[i])) { take_option(lines[i]); gsub(/\|/, ",", argument); print letter "|" name "|" argument "|" optional "|" words }
    if (part != "options") exit
    print ".Bl -tag -width Ds"
    for (i = first; i <= last_option; i++)
        if (is_option(lines[i])) { take_option(lines[i]); put_option() }
        else if (lines[i] ~ /^ [A-Z]/) print ".El\n.Pp\n" substr(lines[i], 2) "\n.Bl -tag -width Ds"
    print ".El"
}
