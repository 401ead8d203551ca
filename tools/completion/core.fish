
function __u9_keys # of the log that is the first word which is no option
    set -l words (commandline -opc)
    for word in $words[3..-1]
        string match -q -- '-*' $word; and continue
        sh -c $__u9_keys_of u9 $word (commandline -ct)
        return
    end
end

function __u9_is_help
    set -l words (commandline -opc)
    test (count $words) -eq 2 -a "$words[2]" = help
end

complete -c u9 -f -n __fish_use_subcommand -a help -d 'what a verb does, and its options'
complete -c u9 -f -n __u9_is_help -a "$__u9_verbs"
complete -c u9 -f -n '__fish_seen_subcommand_from get' -a '(__u9_keys)'
