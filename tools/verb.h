/*
 * tools/verb.h: the verbs of u9, each in a file of its own. argv[0] is "u9 VERB"; what comes back is the
 * exit status.
 */
#ifndef U9_TOOLS_VERB_H
#define U9_TOOLS_VERB_H

int verb_append(int argc, char **argv);
int verb_cat(int argc, char **argv);
int verb_grep(int argc, char **argv);
int verb_tail(int argc, char **argv);
int verb_get(int argc, char **argv);
int verb_index(int argc, char **argv);
int verb_info(int argc, char **argv);
int verb_du(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_mark(int argc, char **argv);
int verb_trim(int argc, char **argv);
int verb_tier(int argc, char **argv);
int verb_snapshot(int argc, char **argv);
int verb_merge(int argc, char **argv);
int verb_import(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_id(int argc, char **argv);
int verb_split(int argc, char **argv);
int verb_scan(int argc, char **argv);
int verb_send(int argc, char **argv);
int verb_recv(int argc, char **argv);
int verb_value(int argc, char **argv);

#endif
