/*
 * format/value/text/atom.h: atoms of the text notation into bytes, with a bytecode or as an array's
 * elements. [N-2] to [N-5]
 *
 * Each function reads at in->s.at, where no blank stands any more, and passes what it took. What is
 * refused is told by the scan; nothing is to be done with a reader after that.
 */
#ifndef U9I_ATOM_H
#define U9I_ATOM_H

#include "format/value/text/name.h"

typedef struct u9i_text_reader {
    u9i_scanner s;
    u9_builder out; /* takes plain bytes: nothing is opened in it */
    size_t where;   /* the item that is being read: where it begins in the text */
} u9i_text_reader;

/* Adds bytes; a bytecode and a number; a number alone, an array's element. */
U9_MUST_CHECK u9_err u9i_read_put(u9i_text_reader *in, const void *bytes, size_t size);
U9_MUST_CHECK u9_err u9i_read_put_number(u9i_text_reader *in, unsigned code, unsigned width,
                                         uint64_t number);
U9_MUST_CHECK u9_err u9i_read_put_element(u9i_text_reader *in, unsigned width, uint64_t number);

/* A whole number that an integer of this type and width holds: its bits. */
U9_MUST_CHECK u9_err u9i_read_integer(u9i_text_reader *in, bool is_signed, unsigned width,
                                      uint64_t *bits);

/* A float of `width` bytes: its bits. [N-4] */
U9_MUST_CHECK u9_err u9i_read_real(u9i_text_reader *in, unsigned width, uint64_t *bits);

/* A number without a name, and its bytes: with a `.` or an `e` it is a float64. [N-2] */
U9_MUST_CHECK u9_err u9i_read_number(u9i_text_reader *in);

/* Quoted text, or x and hex digits; then the bytes that it stands for. [N-3] */
U9_MUST_CHECK u9_err u9i_read_quoted(u9i_text_reader *in, bool bytes, u9i_quoted *quoted);
U9_MUST_CHECK u9_err u9i_read_put_quoted(u9i_text_reader *in, u9i_quoted *quoted);

/* utf8 or bytes, in the form that is named, or (width 0) in the shortest. */
U9_MUST_CHECK u9_err u9i_read_blob(u9i_text_reader *in, bool bytes, unsigned width);

/* The 8 bytes of a symbol; of `pid fd`. Their bytecode is the caller's. */
U9_MUST_CHECK u9_err u9i_read_symbol(u9i_text_reader *in);
U9_MUST_CHECK u9_err u9i_read_pidfd(u9i_text_reader *in);

#endif
