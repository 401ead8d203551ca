
function __u9_keys # of the log that is the first word which is no option
    set -l words (commandline -opc)
    for word in $words[3..-1]
        string match -q -- '-*' $word; and continue
        sh -c $__u9_keys_of u9 $word (commandline -ct)
        return
    end
end

complete -c u9 -f -n '__fish_seen_subcommand_from get' -a '(__u9_keys)'
