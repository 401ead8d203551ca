/*
 * tools/store.h: logs that live elsewhere: libu9-rados and libu9-s3 are loaded when an address of theirs is met.
 */
#ifndef U9_TOOLS_STORE_H
#define U9_TOOLS_STORE_H

/*
 * Loads what an argument needs that begins with "rados:" or "s3://", or is a log whose `.tier` names such an address. Says
 * one line, and exits with `status`, where that cannot be had. To be called before the arguments are looked at.
 */
void tool_load_stores(int argc, char **argv, int status);

#endif
