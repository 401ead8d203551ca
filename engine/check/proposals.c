/*
 * engine/check/proposals.c: see proposals.h. [U-4] [U-5]
 *
 * What the catalog says of files as a whole, then what is told while the log is read. Each proposal is proven by
 * itself: a header by the boundary that stands in the file, zeros by the rule that they are zeros, a name by the
 * u9open inside, a payload by its signed hash. Whether the log as a whole is better for it is judged afterwards.
 */
#include "engine/check/proposals.h"

#include "engine/read/reader.h"
#include "format/frame/disk.h"

#include <u9/repair.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SEAL_MAX = 4 << 20 }; /* bytes behind a segment's end that are made zero */

bool u9i_kind_safe(int kind)
{
    return kind != U9_REPAIR_FRAME && kind != U9_REPAIR_BIT;
}

/* What adding a change came to: that something of it is taken, or not there any more, only means that it is not made. */
static u9_err took_change(const u9i_proposals *p, const char *name, int sys, u9_fault *fault)
{
    char path[4400];
    if (sys == 0 || sys == -EEXIST || sys == -ENODATA) return U9_OK;
    return u9i_fault(fault, U9_IO,
                     U9I_AT(.path = u9i_source_path(p->source, name, path, sizeof path), .sys = -sys),
                     "cannot read what is to be mended");
}

/* A header that is damaged, where the secret is known by a copy, a flip, or the frames that it proves. [H-5] */
static u9_err propose_header(u9i_proposals *p, const u9i_facts *f, u9_fault *fault)
{
    uint8_t header[U9I_DISK_HEADER_SIZE];
    bool whole = f->header == U9_OK || (f->header == U9_VERSION && !f->has_open); /* as far as this version knows [H-4] */
    if (whole || f->barren || f->secret.lost || f->stray || f->plain || f->blank) return U9_OK;
    u9i_disk_encode(&f->secret, header);
    return took_change(p, f->name,
                u9i_changes_add(p->changes, p->source->dir, f->name, 0, header, sizeof header, U9_REPAIR_HEADER), fault);
}

/* True if a name is free, or is given up by another change. */
static bool is_name_free(const u9i_proposals *p, const u9i_catalog *c, const char *name)
{
    u9i_stamp stamp;
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        if (strcmp(f->name, name) == 0) return f->misnamed && u9i_facts_on_row(f);
    }
    return u9i_dir_stat(p->source->dir, name, &stamp) != 0;
}

static u9_err propose_name(u9i_proposals *p, const u9i_catalog *c, const u9i_facts *f, u9_fault *fault)
{
    char name[20];
    if (!f->misnamed || p->source->dir->single[0]) return U9_OK;
    u9i_segment_name(f->number, name);
    if (!is_name_free(p, c, name)) return U9_OK;
    return took_change(p, f->name, u9i_changes_rename(p->changes, f->name, name, U9_REPAIR_NAME), fault);
}

/* A name that is not given up after all is nobody else's: in turn, until all fit. */
static void drop_taken_names(u9i_changes *c, const u9i_catalog *catalog)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < c->count; i++) {
            if (c->list[i].size > 0) continue;
            bool free_name = true;
            for (size_t k = 0; k < catalog->count && free_name; k++)
                free_name = strcmp(u9i_catalog_facts(catalog, k)->name, c->list[i].to) != 0;
            for (size_t k = 0; k < c->count && !free_name; k++)
                free_name = c->list[k].size == 0 && strcmp(c->list[k].name, c->list[i].to) == 0;
            if (free_name) continue;
            free(c->list[i].before);
            memmove(&c->list[i], &c->list[i + 1], (c->count - i - 1) * sizeof *c->list);
            memmove(&c->sizes[i], &c->sizes[i + 1], (c->count - i - 1) * sizeof *c->sizes);
            c->count--;
            again = true;
            break;
        }
    }
}

static u9_err propose_zeros(u9i_proposals *p, const u9i_facts *f, const u9_damage *d, u9_fault *fault)
{
    static const uint8_t zeros[U9I_BLOCK];
    if (d->end - d->begin > sizeof zeros) return U9_OK;
    return took_change(p, f->name,
                u9i_changes_add(p->changes, p->source->dir, f->name, d->begin, zeros, (uint32_t)(d->end - d->begin),
                                U9_REPAIR_ZEROS),
                fault);
}

/* What is told of one file, while it is read. */
typedef struct file_told {
    bool gap;            /* frames may be missing */
    uint64_t begin, end; /* what is damaged behind its named end, last; end 0: nothing is */
} file_told;

/*
 * How far what is told at told->begin reaches: where a frame that follows stands at the next block it is fill, and goes no
 * further than was told; else nobody comes to what stands behind it, up to the file's last byte that is not zero.
 * 0: some of that the disk does not give, and it stays as it is.
 */
static u9_err find_reach(u9i_proposals *p, const u9i_facts *f, const file_told *told, uint64_t *end, u9_fault *fault)
{
    u9i_file *file;
    u9i_window *window = NULL;
    u9i_frame frame;
    u9i_zeros z;
    uint64_t block = (told->begin + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    *end = 0;
    int sys = u9i_file_open(p->source->dir, f->name, U9I_OPEN_READ, &file);
    if (sys != 0) return took_change(p, f->name, sys, fault);
    u9_err err = u9i_windows_lend(&p->source->windows, &window);
    if (err == U9_OK) {
        u9i_window_turn(window, file, &f->secret);
        err = u9i_window_at(window, block, f->size, &frame);
        bool fill = err == U9_OK && block > told->begin && frame.trailer.previous < told->begin;
        err = err == U9_OK || err == U9_CORRUPT ? u9i_window_zeros(window, told->begin, f->size, &z) : err;
        if (err == U9_OK) *end = fill ? told->end : z.last;
        if (err == U9_OK && u9i_window_unread(window, told->begin, *end)) *end = 0;
        sys = -window->sys;
        u9i_window_turn(window, NULL, NULL);
    }
    u9i_windows_return(&p->source->windows, window);
    u9i_file_close(file);
    if (err == U9_IO) return took_change(p, f->name, sys, fault);
    return err == U9_OK ? U9_OK : u9i_fault(fault, err, U9I_AT(.path = p->source->path), "out of memory");
}

/*
 * Behind a named end stands no record: what is damaged there, and is not put right, may as well be zeros with all that
 * stands behind it, as where a seal was never written. But what was promised there, and is left out, is a line of the
 * log. [R-8] [L-9] [U-4]
 */
static u9_err propose_no_seal(u9i_proposals *p, const u9i_facts *f, const file_told *told, u9_fault *fault)
{
    uint64_t end = 0;
    if (told->end == 0 || f->fork.end != 0 || u9i_changes_within(p->changes, f->name, told->begin, told->end)) return U9_OK;
    u9_err err = find_reach(p, f, told, &end, fault);
    if (err != U9_OK) return err;
    if (end <= told->begin || end - told->begin > SEAL_MAX) return U9_OK;
    u9i_changes_drop(p->changes, f->name, told->begin, end);
    for (uint64_t at = told->begin, next; at < end && err == U9_OK; at = next) {
        next = (at / U9I_BLOCK + 1) * U9I_BLOCK;
        u9_damage piece = {.begin = at, .end = next < end ? next : end};
        err = propose_zeros(p, f, &piece, fault);
    }
    return err;
}

/* A frame in a gap: its file, where it stands, and its bytes. */
typedef struct broken_frame {
    const u9i_facts *facts;
    u9i_file *file;
    uint64_t offset, length;
    uint8_t *bytes;
    size_t size; /* header, payload and padding */
} broken_frame;

/* The frame of a whole header that has another payload than it had: searched. */
static u9_err heal_frame(u9i_proposals *p, const broken_frame *b, u9_fault *fault)
{
    uint64_t bit;
    u9i_frame frame;
    u9i_proof proof = {.need = 0};
    u9_err err = u9i_heal(&p->healing, b->bytes + U9I_FRAME_HEADER_SIZE, (size_t)b->length, b->bytes + 16, &bit);
    if (err == U9_ABSENT) return U9_OK;
    if (err != U9_OK)
        return u9i_fault(fault, err, U9I_AT(.path = p->source->path),
                         err == U9_STATE ? "stopped as asked: nothing was changed" : "out of memory");
    if (u9i_frame_verify(&b->facts->secret, b->offset, b->offset + b->size, b->bytes, b->size, &proof, &frame) != U9_OK)
        return U9_OK; /* a hash's twin, or no frame all the same */
    uint64_t at = U9I_FRAME_HEADER_SIZE + bit / 8;
    return took_change(p, b->facts->name,
                u9i_changes_add(p->changes, p->source->dir, b->facts->name, b->offset + at, b->bytes + at, 1, U9_REPAIR_BIT),
                fault);
}

/* Looks at the frame whose boundary stands at b->offset, before `end`; *next is where to look on. */
static u9_err heal_at(u9i_proposals *p, broken_frame *b, uint64_t end, uint64_t *next, u9_fault *fault)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    size_t got = 0;
    *next = b->offset + U9I_ALIGN;
    int sys = u9i_file_read(b->file, b->offset, header, sizeof header, &got);
    if (sys != 0) return U9_OK; /* what cannot be read is not searched */
    if (!u9i_frame_header_whole(&b->facts->secret, header, got, &b->length) || b->length > U9I_HEAL_MAX) return U9_OK;
    b->size = (size_t)(U9I_FRAME_HEADER_SIZE + b->length + u9i_padding(b->length));
    if (b->offset + b->size > end) return U9_OK;
    b->bytes = malloc(b->size);
    if (b->bytes == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = p->source->path), "out of memory");
    sys = u9i_file_read(b->file, b->offset, b->bytes, b->size, &got);
    u9_err err = sys == 0 && got == b->size ? heal_frame(p, b, fault) : U9_OK;
    free(b->bytes);
    *next = b->offset + b->size;
    return err;
}

/* Goes through a gap, from boundary to boundary. */
static u9_err heal_gap(u9i_proposals *p, const u9i_facts *f, const u9_damage *d, u9_fault *fault)
{
    u9i_window *window = NULL;
    broken_frame b = {.facts = f};
    uint64_t at = d->begin, next, end = (d->end + U9I_ALIGN - 1) / U9I_ALIGN * U9I_ALIGN; /* with its padding */
    if (u9i_file_open(p->source->dir, f->name, U9I_OPEN_READ, &b.file) != 0) return U9_OK;
    u9_err err = u9i_windows_lend(&p->source->windows, &window);
    if (err == U9_OK) u9i_window_turn(window, b.file, &f->secret);
    else (void)u9i_fault(fault, err, U9I_AT(.path = p->source->path), "out of memory");
    while (err == U9_OK && at < end && u9i_monotonic_us(p->healing.env) < p->healing.until_us) {
        if (u9i_window_boundary(window, at, end, &b.offset) != U9_OK || b.offset >= end) break;
        err = heal_at(p, &b, end, &next, fault);
        at = next;
    }
    if (window) u9i_window_turn(window, NULL, NULL);
    u9i_windows_return(&p->source->windows, window);
    u9i_file_close(b.file);
    return err;
}

/* True if frames may stand there that are none any more. */
static bool is_gap(const u9_damage *d)
{
    static const bool of_frames[] = {
        [U9_R_BOUNDARY] = true, [U9_R_MAGIC] = true,   [U9_R_LENGTH] = true, [U9_R_OVERLAP] = true,
        [U9_R_SIGNATURE] = true, [U9_R_TRAILER] = true, [U9_R_HASH] = true,   [U9_R_FOLLOW] = true, [U9_R_MARK] = true,
        [U9_R_SEAL] = true,
    };
    size_t reason = (size_t)d->reason;
    return d->verdict >= U9_V_UNKNOWN && d->end > d->begin && reason < sizeof of_frames && of_frames[reason];
}

static u9_err propose_for(u9i_proposals *p, const u9i_facts *f, const u9_damage *d, file_told *told, u9_fault *fault)
{
    if (f->plain || f->secret.lost) return U9_OK;
    if (d->reason == U9_R_PADDING || d->reason == U9_R_FILL) return propose_zeros(p, f, d, fault);
    told->gap |= is_gap(d) || d->reason == U9_R_CUT || d->reason == U9_R_SEAL;
    if (d->reason == U9_R_SEAL && d->verdict >= U9_V_UNKNOWN) {
        told->begin = d->begin;
        told->end = d->end;
    }
    return p->heals && is_gap(d) ? heal_gap(p, f, d, fault) : U9_OK;
}

static u9_err propose_files(u9i_proposals *p, const u9i_catalog *c, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < c->count && err == U9_OK; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        if (!u9i_facts_on_row(f)) continue;
        err = propose_header(p, f, fault);
        if (err == U9_OK) err = propose_name(p, c, f, fault);
    }
    drop_taken_names(p->changes, c);
    return err;
}

/* All that is told while it is read; `told` has room for each segment. */
static u9_err propose_told(u9i_proposals *p, u9i_reader *r, file_told *told, u9_fault *fault)
{
    u9i_step step;
    u9_err err = propose_files(p, r->catalog, fault);
    while (err == U9_OK && (err = u9i_reader_step(r, &step, fault)) == U9_OK && step != U9I_STEP_END)
        if (step == U9I_STEP_DAMAGE && r->reading)
            err = propose_for(p, u9i_reader_facts(r), &r->damage, &told[r->index], fault);
    for (size_t i = 0; i < r->catalog->count && err == U9_OK; i++) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
        if (told[i].gap) err = u9i_propose_frames(p, f, fault);
        if (err == U9_OK) err = propose_no_seal(p, f, &told[i], fault);
    }
    return err;
}

u9_err u9i_propose(u9i_proposals *p, u9_fault *fault)
{
    u9i_reader *r = calloc(1, sizeof *r);
    file_told *told = NULL;
    u9_err err = r ? u9i_reader_open(r, p->source, fault) : U9_NOMEM;
    if (r && err == U9_OK) {
        r->seals = true;
        told = calloc(r->catalog->count + 1, sizeof *told);
        if (told) err = propose_told(p, r, told, fault);
        u9i_reader_release(r);
    }
    if (r == NULL || (err == U9_OK && told == NULL))
        err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = p->source->path), "out of memory");
    free(told);
    free(r);
    return err;
}
