# man/text.awk: prose as mdoc: lines of 78 characters at most, a new one for each sentence; what stands between
# backticks is bold; nothing of it is a macro. Used by man/help.awk and man/face.awk.

function escaped(word) {
    gsub(/\\/, "\\e", word)
    gsub(/-/, "\\-", word)
    gsub(/\(\)/, "\\\\\\&()", word) # f() is a macro's business
    return word
}

function put_line(line) {
    if (line ~ /^[.']/) line = "\\&" line
    if (line != "") print line
}

# Prose, one paragraph.
function put_text(text,    n, i, words, line, word, parts, p, k, bold) {
    n = split(text, words, /[ \t]+/)
    line = ""
    for (i = 1; i <= n; i++) {
        if (words[i] == "") continue
        p = split(words[i], parts, "`")
        word = escaped(parts[1])
        for (k = 2; k <= p; k++) {
            bold = !bold
            word = word (bold ? "\\fB" : "\\fR") escaped(parts[k])
        }
        if (line != "" && length(line) + 1 + length(word) > 78) {
            put_line(line)
            line = word
        } else line = line == "" ? word : line " " word
        if (words[i] ~ /[.!?:;]["'`)\]]*$/ && words[i] !~ /^\(?(e\.g|i\.e|\.\.)\.[)]?$/ && words[i] !~ /[:;]$/ && words[i] !~ /^["`(]*[.!?]+["`)]*$/) {
            put_line(line)
            line = ""
        }
    }
    put_line(line)
}

# Lines as they stand.
function begin_display() { print ".Bd -literal -offset indent" }
function put_display(line) {
    line = escaped(line)
    if (line ~ /^[.']/) line = "\\&" line
    print line
}
function end_display() { print ".Ed" }
