_u9_log() {
    _alternative 'folders:log:_files -/' 'segments:segment:_files -g \*.u9'
}

_u9_key() { # of the log that is the first word which is no option
    local -a rest=(${words[2,-1]}) keys
    keys=(${(f)"$(sh -c "$_u9_keys" u9 ${~rest[(r)[^-]*]} "$PREFIX")"})
    compadd -- $keys
}

_u9_workload() {
    local -a names
    names=(${(f)"$(u9bench --list 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  *[A-Z].*/\1/p')"})
    compadd -- $names
}

_u9() {
    if [[ $service != u9 ]]; then
        _u9_command $service
    elif (( CURRENT == 2 )); then
        local -a words_here=($_u9_verbs 'help:what a verb does, and its options')
        _describe verb words_here
    elif [[ $words[2] = help ]]; then
        (( CURRENT > 3 )) || _describe verb _u9_verbs
    else
        shift words
        (( CURRENT-- ))
        _u9_command $words[1]
    fi
}

_u9 "$@"
