#!/usr/bin/env bash
# tests/tools/test_found.sh BINDIR TMPDIR: files that fuzzers found, each with what was wrong about what was done with it.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

found() { mkdir -p "$1" && base64 -d | gzip -d >"$1/0000000000000001.u9"; }

# A frame's trailer was guessed at in a range of times of 2^62, and what no hash was paid for any more was tried on. [Y-5]
# The limit is none that a test waits for: it makes an end of what has none.
found times <<'.'
H4sIAAAAAAACA/v/v7QkzZKBkYGRiZmFlY2dg5OLm4eXj58BCva5nlZj3W+2b++zlhYpjQ9/v8lof2Obn/UiSujO+4Q3jKduBftFfqz/Lqel57ElTF3z7n+w
eWkw7d8dGRYx8HGVWuYXpOYxMMgIFBQWFZeUlpVXVFZV19TW1csITJg4afKUqdOmz5g5a/acufPmM0O1MjIzsHGpSMg5MABFGJVd0ztXw6SA5jCgAUwRZgyG
jAC7yVLuhsUBXLO0OrImKWfdZWCQZGDJLc1McfDlADoyrSgxNxWhnglZtwIzFoMhDlTAZjCO8KvZpX949tGFbjzT/gXUd79Lbvv25M6Pw1z3dz7uYl7pyTYF
LfwyvMQwfMaonJ+XitPBjFAeYwK6y0EiYAc7JsgIoMcjLvc+2fnj1mLG7R3nC5QSdV5lr5W+WFXe+SNO5lPo3sRnnpkyaO7tcAIS+kDMCnRdQWJRCVooKsPd
KgfEXF6KMN9h8w8jslYmAXSPgUTA/nESkBFAD1dc/tlV8TSs2IVNqmFnl8HGOKsC1RuzFDdHG88omHayLczi7H80/+R4SYFceJIBRoMcpJ6UWlKempqH082w
OGB6gO54kAjEzQ9kBNDDFpt7dW21n+q/21rAyCA5b9vZzVp7ai3PcO2X4XDuPRT7yFjwO3Hhz4ga/hZAB4HDH56mmLD5hQk5/JknoXuKeQLUL84TZATQwxVX
+C89n91z6Ib5bLdLUY3KFQ+VJt7Muhc/RdjtUHyD+6c/RnvR/NML8o8Jhn+Y0NMT8wSQf/j1MvMUSjKKUlMVQGqLcXoKFh4sCUh+gYnU/4cAGYFkidczLY4f
vtypsf/+v4lyglj8s2bKbCbO+uaPHj2swXK7ZicoMvKFcLW8jiw9uuFjX9WRQDT/NIP8o4U7f0ig5A9WcO7H5gtmZF3sHejeYTWARo2rgYwAepCjFCbo/rk9
7VpWZ/PrhLPaG/N7V284psmyX9p1TuPRA1yvOTbNPf4HzT8TncDJCWd6k4A7COQfYdSCjEW5pDwfp+9gZrAxIHkKLgL2nRuwSNe2/VyxRk+2kllEa7fe0Tdf
0QpLdP/FmR/Oa1BwOOZ3ee8OljmcSqWbVholHcnWfrbKhzV+0aEkNP8toFJ8sSDrYnuA7jW2BwArThZ5iAcAAA==
.
run bash -c 'ulimit -t 30; exec "$@"' sh "$fsck" --salvage=saved times
claim 'what is left to be hashed for a guess makes an end of guessing' test "$status" -lt 8
claim 'and the other records are there' same "$("$u9" cat saved | wc -l)" 3
tally
