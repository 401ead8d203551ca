/*
 * tools/pager.h: what is printed to a terminal goes through a pager, as git has it.
 */
#ifndef U9_TOOLS_PAGER_H
#define U9_TOOLS_PAGER_H

/*
 * From now on standard output, and standard error where it is a terminal, too, go through a pager: $U9_PAGER, $PAGER, or
 * less; not if standard output is no terminal, `off` is not 0, the pager is empty or `cat`, or it cannot be started. To be
 * called once, before anything was printed. tool_finish waits for the pager, and so does a signal that ends the
 * tool.
 */
void tool_page(int off);

/* Not 0 if people see standard output: a terminal, or a pager on one. Control characters are to be shown there, not sent. */
int tool_seen(void);

/* An option of verbs that page. */
#define TOOL_PAGER_OPTION(key)                                                          \
    {                                                                                   \
        "no-pager", key, 0, 0, "Do not send what goes to a terminal through a pager", 0 \
    }

#endif
