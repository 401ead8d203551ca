/*
 * engine/segment/plain.c: the judge of a plain seed file: frames that are valid by their hashes and bear no
 * trailer. [E-2] [E-3]
 *
 * Nothing in it was promised, so nothing is CORRUPT, and no frame has to follow another: each is taken where it
 * stands. Zeros between frames are nothing; other bytes are damage of which nobody knows what it cost.
 */
#include "engine/segment/judge.h"

#include "format/frame/body.h"

/* Gives the frame the numbers that it has by counting. Values that are none count as no record: the reader tells. */
static void number_frame(const u9i_judge *j, u9i_frame *f)
{
    const uint8_t *next = f->body;
    size_t left = f->body_size;
    uint32_t count = 0;
    u9i_record r;
    u9_err err;
    while ((err = f->body_size > U9I_BODY_MAX ? U9_CORRUPT : u9i_value_next(&next, &left, &r)) == U9_OK) count++;
    f->trailer = (u9i_trailer){.ordinal = j->ordinal, .count = err == U9_END ? count : 0,
                               .offset = f->offset, .previous = j->last};
}

static void tell_plain(const u9i_judge *j, u9i_round *round, u9_reason reason, uint64_t begin, uint64_t end,
                 uint64_t lost, uint64_t owner)
{
    round->sites[round->count++] = (u9i_damage_site){
        .verdict = U9_V_UNKNOWN, .reason = reason, .begin = begin, .end = end, .ordinal = j->ordinal,
        .lost = lost, .owner = owner};
}

/* What stands between pos and the next frame, or the file's end if there is none. */
static u9_err look_between(u9i_judge *j, u9i_window *window, u9i_round *round, u9_reason why, bool found,
                           uint64_t to)
{
    u9i_zeros z;
    u9_err err = u9i_window_zeros(window, j->pos, to, &z);
    if (err == U9_OK && z.last > j->pos)
        tell_plain(j, round, why, j->pos, found ? to : z.last, U9_NOWHERE,
             j->last ? j->last : U9I_DISK_HEADER_SIZE);
    return err;
}

static void take_plain(u9i_judge *j, u9i_round *round, u9i_frame *f)
{
    number_frame(j, f);
    if (!f->padding_ok)
        tell_plain(j, round, U9_R_PADDING, f->end - u9i_padding(f->body_size), f->end, 0, f->offset);
    round->then = U9I_STEP_FRAME;
    round->frame = *f;
    j->frames++;
    j->pos = f->end;
    j->previous = j->last = f->offset;
    j->ordinal += f->trailer.count;
    j->knows_ordinal = j->knows_chain = true;
    memcpy(j->chain, f->sha, sizeof j->chain);
}

u9_err u9i_plain_next(u9i_judge *j, u9i_window *window, u9i_round *round)
{
    u9i_frame f;
    u9_err err = j->ended ? U9_END : u9i_window_at(window, j->pos, j->size, &f);
    if (err == U9_CORRUPT) {
        u9_reason why = window->why;
        err = u9i_window_find(window, j->pos, j->size, &f);
        if (err != U9_OK && err != U9_END) return err;
        bool found = err == U9_OK;
        uint64_t at = found ? f.offset : j->size;
        err = look_between(j, window, round, why, found, at);
        if (err == U9_OK) err = found ? u9i_window_at(window, at, j->size, &f) : U9_END;
        if (err == U9_CORRUPT) err = U9_END; /* the file changed under us */
    }
    if (err == U9_OK) {
        take_plain(j, round, &f);
    } else if (err == U9_END) {
        round->then = U9I_STEP_END;
        j->tail = round->count > 0 ? U9_V_UNKNOWN : j->tail;
        j->end = (u9i_position){.offset = j->pos, .ordinal = j->ordinal};
        j->ended = true;
        err = U9_OK;
    }
    u9i_judge_check(j);
    return err;
}
