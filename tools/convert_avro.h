/*
 * tools/convert_avro.h: schemas of Avro object files: convert_avro_schema.c makes them of their JSON, convert_avro.c reads
 * what they say.
 */
#ifndef U9_TOOLS_CONVERT_AVRO_H
#define U9_TOOLS_CONVERT_AVRO_H

#include <stddef.h>
#include <stdint.h>

enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_RECORD, /* `of` its fields, `names` theirs */
    AVRO_ENUM,   /* `names` its symbols */
    AVRO_ARRAY,  /* of[0] */
    AVRO_MAP,    /* of[0] */
    AVRO_UNION,  /* `of` its branches */
    AVRO_FIXED   /* `count` bytes */
};

enum { AVRO_DEPTH_MAX = 64 };

/* Types may refer to one another in a circle: all belong to the schema, one after the other. */
struct avro_type {
    enum avro_kind kind;
    size_t count;
    struct avro_type **of;
    char **names;
    char *name; /* with its namespace; NULL: it has none */
    struct avro_type *next;
};

struct avro_schema {
    struct avro_type *all, *top;
};

/* 1, or 0 with what is wrong in `why`; avro_schema_clear in either case. */
int avro_schema_read(struct avro_schema *schema, const char *json, size_t size, char why[256]);
void avro_schema_clear(struct avro_schema *schema);

#endif
