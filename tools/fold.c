/*
 * tools/fold.c: see fold.h.
 *
 * A stream in front of the descriptor. Blanks are held back until the word behind them is known, and words until they end: so
 * it is only there that a line is broken. Of a line that is written over (it begins with CR) each character passes at once,
 * since no blank may follow, as long as the last column stays free. Escape sequences take no room.
 */
#include "tools/fold.h"

#include "tools/tool.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { WORD_MAX = 4096, STREAMS = 2, FURTHER = 2, ESCAPE = '\033' };

static struct fold {
    int fd;
    size_t columns, at;          /* at: columns of this line that are taken */
    size_t lead, blanks, width;  /* blanks it began with; those held back; columns of the word */
    size_t size;                 /* bytes of the word */
    bool escape, over;           /* within an escape sequence; in a line that is written over */
    char word[WORD_MAX];
    size_t used;
    char out[2 * WORD_MAX];      /* what is to be written */
} folds[STREAMS] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static bool put_out(struct fold *f)
{
    for (size_t at = 0; at < f->used;) {
        ssize_t n = write(f->fd, f->out + at, f->used - at);
        if (n < 0 && errno != EINTR) return f->used = 0, false;
        at += n > 0 ? (size_t)n : 0;
    }
    f->used = 0;
    return true;
}

static bool put(struct fold *f, const char *bytes, size_t size)
{
    if (f->used + size > sizeof f->out && !put_out(f)) return false;
    memcpy(f->out + f->used, bytes, size);
    f->used += size;
    return true;
}

static bool put_blanks(struct fold *f, size_t count)
{
    bool ok = true;
    f->at += count;
    for (; count > 0 && ok; count--) ok = put(f, " ", 1);
    return ok;
}

/* The blanks and the word that were held back; in a new line if they do not fit. */
static bool put_word(struct fold *f)
{
    bool ok = true;
    if (f->size == 0) return true;
    if (f->at == 0) f->lead = f->blanks;
    if (f->at + f->blanks + f->width > f->columns) {
        size_t fits = f->width < f->columns ? f->columns - f->width : 0;
        if (f->at > 0) {
            ok = put(f, "\n", 1);
            f->at = 0;
            f->blanks = f->lead + FURTHER;
        }
        if (f->blanks > fits) f->blanks = fits;
    }
    ok = ok && put_blanks(f, f->blanks) && put(f, f->word, f->size);
    f->at += f->width;
    f->blanks = f->size = f->width = 0;
    return ok;
}

/* Whether a byte takes a column: it begins a character of UTF-8, outside of escape sequences. */
static bool takes_room(struct fold *f, char c)
{
    if (f->escape) f->escape = c == '[' || c == ';' || (c >= '0' && c <= '9');
    else if (c == ESCAPE) f->escape = true;
    else return ((unsigned char)c & 0xc0) != 0x80;
    return false;
}

static bool add(struct fold *f, char c)
{
    bool ok = true;
    if (c == '\n' || c == '\r') {
        ok = put_word(f) && put(f, &c, 1);
        f->at = f->lead = f->blanks = 0;
        f->over = c == '\r';
    } else if (f->over) {
        bool escape = f->escape || c == ESCAPE;
        f->at += takes_room(f, c);
        if (escape || f->at < f->columns) ok = put(f, &c, 1);
    } else if (c == ' ' && !f->escape) {
        ok = put_word(f);
        f->blanks++;
    } else {
        if (f->size == WORD_MAX) {
            ok = put_word(f);
            f->at = 0; /* so that what follows is not parted from it */
        }
        f->word[f->size++] = c;
        f->width += takes_room(f, c);
    }
    return ok;
}

/* What a stream calls: 0 is a failure, and errno says which. */
static ssize_t fold_bytes(void *ctx, const char *bytes, size_t size)
{
    struct fold *f = (struct fold *)ctx;
    for (size_t i = 0; i < size; i++)
        if (!add(f, bytes[i])) return 0;
    return put_out(f) ? (ssize_t)size : 0;
}

void tool_fold(FILE **stream)
{
    struct fold *f = &folds[*stream == stderr];
    cookie_io_functions_t calls = {.write = fold_bytes};
    unsigned columns = tool_columns(f->fd);
    if (columns == 0 || columns >= TOOL_FOLD_BELOW) return;
    FILE *folded = fopencookie(f, "w", calls);
    if (!folded) return;
    setvbuf(folded, NULL, f->fd == STDERR_FILENO ? _IONBF : _IOLBF, 0);
    f->columns = columns;
    *stream = folded;
}

void tool_unfold(void)
{
    folds[0].columns = SIZE_MAX;
}
