/*
 * tools/id.h: what the parts of `u9 id` share: what is asked for.
 */
#ifndef U9_TOOLS_ID_H
#define U9_TOOLS_ID_H

#include <u9/id.h>

enum id_kind { ID_MUID, ID_GID, ID_TID, ID_UID8, ID_RKEY, ID_KINDS };

struct id_ask {
    enum id_kind kind;
    u9_gid_type gid_type;  /* U9_GID_ANY: not asked for */
    const char *rkey_type; /* NULL: not asked for */
    unsigned layout;       /* of eight-byte identifiers; 0: the default */
    int lenient, strict;   /* show */
    int bytes;             /* show: texts are packed bytes in hex */
};

/* Prints the identifier that has these fields, `NAME=VALUE` each. Returns the exit status. */
int id_make(const struct id_ask *ask, char **fields);

/* Takes each of `texts` (`-`: each line of standard input) apart. Returns the exit status. */
int id_show(const struct id_ask *ask, char **texts);

#endif
