/*
 * engine/os/slot.h: a file of numbered slots that the processes of one machine share: each is held by one at a
 * time, and has a number noted in it. [I-24]
 *
 * A slot's lock is of the open file description (fcntl(2), F_OFD_SETLK): the kernel takes it back when its
 * holder ends, however that is; two handles of one process exclude each other as well. Where the holder ends
 * and a child that it forked has the descriptor still, the slot stays held.
 */
#ifndef U9I_SLOT_H
#define U9I_SLOT_H

#include <stdint.h>

typedef struct u9i_number_slot u9i_number_slot;

/*
 * Takes a slot of [first, first + count): the lowest that nobody holds and in which a number below `below`
 * is noted, else the lowest that nobody holds. Makes the file if it is missing. 0, -EWOULDBLOCK: all are held, -EBADMSG:
 * a number above `most` is noted in one that was looked at, so that it is another file, or damaged; or a negative errno.
 */
int u9i_slot_take(const char *path, uint32_t first, uint32_t count, uint64_t below, uint64_t most, u9i_number_slot **out);

uint32_t u9i_slot_index(const u9i_number_slot *slot);
uint64_t u9i_slot_noted(const u9i_number_slot *slot); /* 0 at first */

/* Notes a number in it. */
int u9i_slot_note(u9i_number_slot *slot, uint64_t number);

/* 0 while the path still leads to the file in which the slot is held; -ESTALE: it was removed or replaced. */
int u9i_slot_confirm(const u9i_number_slot *slot);

/* Gives it back. Not in a forked child: the lock is its parent's too. */
void u9i_slot_give(u9i_number_slot *slot);

#endif
