# $1: a log, $2: how a key begins: the first and the last keys that begin so, where keys come in their order, and so are gone
# to straight: of logs of kind muid and tid. Nothing else of the log is read.
shown=$(timeout 2 u9 cat --keys -n 1 -- "$1" 2>/dev/null | head -n 1 | cut -f 1)
if printf %s "$shown" | grep -Eqx "[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}"; then
    low=0000000000000-00000000000-00000000 high=FFFFFFFFFFFFF-FFFFFFFFFFF-FFFFFFFF
elif printf %s "$shown" | grep -Eqx "[2-7a-z]{13}"; then
    low=2222222222222 high=bzzzzzzzzzzzz
else
    exit 0
fi
[ ${#2} -lt ${#low} ] || exit 0
past=$((${#2} + 1))
low=$2$(printf %s $low | cut -c $past-) high=$2$(printf %s $high | cut -c $past-)
for way in --limit=20 "--reverse --limit=20"; do
    timeout 2 u9 cat --keys $way --from="$low" --to="$high" -- "$1" 2>/dev/null
done | cut -f 1 | grep -Ex "[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}|[2-7a-z]{13}" | sort -u
