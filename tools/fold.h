/*
 * tools/fold.h: what is for people, on a terminal that is narrower than lines are made for.
 *
 * A line that does not fit goes on in the next one, at a blank, further to the right than it began. A word is never cut, so
 * that a path or a key is copied whole; one that is wider than the terminal has a line of its own. Standard error is always
 * for people; standard output is, of verbs that say so, until it gets JSON. Records, keys and all that another program reads
 * stay as they are.
 */
#ifndef U9_TOOLS_FOLD_H
#define U9_TOOLS_FOLD_H

#include <stdio.h>

enum { TOOL_FOLD_BELOW = 80 }; /* columns: lines are made for so many, and wider terminals break what is longer as they do */

/* Where `*stream`, stdout or stderr, is such a terminal: from now on what is written to it is folded. */
void tool_fold(FILE **stream);

/* What comes to standard output is for programs after all. To be called at the beginning of a line. */
void tool_unfold(void);

#endif
