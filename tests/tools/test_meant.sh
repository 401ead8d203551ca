#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# tests/tools/test_meant.sh BINDIR TMPDIR: verbs and options that are none, and what was meant by them.
. "$(dirname "$0")/claims.sh"

only() { exits 2 "$@"; } # PATTERN COMMAND...
exits() { refused "$@" && test "$(wc -l <refused)" -eq 1; } # STATUS PATTERN COMMAND...

verbs() {
    claim 'a verb with a slip: which one was meant' only "^u9: unknown verb 'apend'; did you mean .u9 append.?" "$u9" apend
    claim 'or one that is cut short' only 'did you mean .u9 snapshot.?' "$u9" snap
    claim 'what is near to none is not guessed' only "unknown verb 'frobnicate'; .u9 --help. lists the verbs" "$u9" frobnicate
    claim 'an option with a slip' only "^u9: unknown option '--hlep'; did you mean .u9 --help.?" "$u9" --hlep
    claim 'what another tool does' only "^u9: unknown verb 'fsck'; .u9fsck. checks a log" "$u9" fsck
    claim 'an option is no verb' only "unknown option '--frob'; .u9 --help. lists the verbs" "$u9" --frob
}

options() {
    claim 'an option with a slip' only "^u9 cat: unrecognized option '--revrse'; did you mean '--reverse'?$" "$u9" cat --revrse log
    claim 'with its argument' only "unrecognized option '--sgement-size'; did you mean '--segment-size'?$" "$u9" append --sgement-size=1M log
    claim 'in other case' only "did you mean '--json'?$" "$u9" info --JSON log
    claim 'of u9fsck' exits 16 "^u9fsck: unrecognized option '--slavage'; did you mean '--salvage'?$" "$fsck" --slavage out log
    claim 'of u9 mark' only "^u9 mark: unrecognized option '--jsn'; did you mean '--json'?$" "$u9" mark --jsn log
    claim 'what is near to none is not guessed' only "^u9 cat: unrecognized option '--frobnicate'$" "$u9" cat --frobnicate log
    claim 'beginnings of options are options' refused 1 'log' "$u9" cat --rev log
    claim 'of two it is said which' only "option '--fo' is ambiguous" "$u9" cat --fo log
    claim 'behind -- nothing is an option' refused 1 '--revrse' "$u9" cat -- --revrse
    claim 'the argument of an option is none, whatever it looks like' only "--segment --revrse: not a number" "$u9" cat --segment --revrse log
    claim 'nor that of a short one' only '--limit --revrse: not a number' "$u9" cat -n --revrse log
    claim 'the word behind one without an argument is' only "did you mean '--reverse'?$" "$u9" cat --keys --revrse log
    claim 'behind one whose argument is optional, too' only "did you mean '--lz4'?$" "$u9" append --lock-file --lz5 log
}

for group in verbs options; do
    $group
done
tally
