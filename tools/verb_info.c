/*
 * tools/verb_info.c: `u9 info`: checks a log and says what is in it.
 *
 * All numbers come from u9_check, which reads every byte; nothing is believed. What is damaged is
 * u9fsck's to say: here it is counted.
 */
#include "tools/buffer.h"
#include "tools/damage.h"
#include "tools/json.h"
#include "tools/key.h"
#include "tools/pager.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct info {
    const char *path;
    int json, unpaged;
    int lost; /* TOOL_LOST once records are lost */
    tool_losses losses;
    tool_progress bar;
    tool_buffer damages; /* the first of them, a line each; not open: --json, or no memory for them */
    unsigned told;       /* how many these are */
    u9_verdict worst;    /* that is told of bytes, and not of a file's name */
};

enum { DAMAGES_SHOWN = 8 };

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct info *info = (struct info *)ctx;
    tool_losses_add(&info->losses, damage);
    if (damage->verdict > info->worst && !tool_is_name(damage)) info->worst = damage->verdict;
    if (tool_is_loss(damage)) info->lost = TOOL_LOST;
    if (damage->verdict < U9_V_UNKNOWN || info->damages.file == NULL || info->told == DAMAGES_SHOWN) return;
    info->told++;
    fprintf(info->damages.file, "%-12s ", "damage");
    tool_put_damage(info->damages.file, damage);
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    return tool_progress_tell(&((struct info *)ctx)->bar, done, all);
}

static void number(const char *label, uint64_t value)
{
    printf("%-12s %" PRIu64 "\n", label, value);
}

static void bytes(const char *label, uint64_t value)
{
    char text[24];
    if (value < 1000)
        number(label, value);
    else
        printf("%-12s %" PRIu64 " (%s)\n", label, value, tool_bytes_text(value, text));
}

static void key(const char *label, const u9_report *r, const uint8_t *raw, size_t size)
{
    char text[TOOL_KEY_TEXT_SIZE];
    if (size > 0) printf("%-12s %s\n", label, tool_key_text(r->kind, raw, size, text));
}

static void time_of(const char *label, uint64_t time_us)
{
    char text[TOOL_WHEN_SIZE];
    if (time_us > 0) printf("%-12s %s\n", label, tool_when_text(time_us, text));
}

static void put_state(struct info *info, const u9_report *r)
{
    char lost[TOOL_LOSSES_SIZE], mark[TOOL_MARK_SIZE];
    printf("%-12s %s", "state", u9_verdict_name(r->verdict));
    if (r->damages > 0)
        printf(": %" PRIu64 " damaged place%s, %s (u9fsck tells more)", r->damages,
               tool_plural(r->damages), tool_losses_text(&info->losses, lost));
    putchar('\n');
    if (info->told > 0 && tool_buffer_take(&info->damages)) fputs(info->damages.bytes, stdout);
    else info->told = 0;
    if (r->damages > info->told) printf("%-12s %" PRIu64 " more\n", "damage", r->damages - info->told);
    printf("%-12s %s\n", "end", r->plain ? "plain seed file: no promises" : tool_end_text(r));
    printf("%-12s %s\n", "mark", tool_mark_text(r, mark));
    if (r->beyond > 0) number("beyond end", r->beyond);
}

static void put_report(struct info *info, const u9_report *r)
{
    char name[TOOL_SEGMENT_SIZE], ordinals[TOOL_ORDINALS_SIZE];
    double ratio = r->body_bytes ? (double)r->stored_bytes / (double)r->body_bytes : 1;
    printf("%-12s %s\n", "log", info->path);
    put_state(info, r);
    number("segments", r->segments);
    number("frames", r->frames);
    number("records", r->records);
    if (r->keyless > 0) number("without key", r->keyless);
    if (r->first_ordinal != TOOL_NONE)
        printf("%-12s %s\n", "ordinals", tool_ordinals_text(r->first_ordinal, r->next_ordinal, ordinals));
    if (r->trim_segment > 0)
        printf("%-12s kept from record %" PRIu64 " on, %s\n", "trimmed", r->trim_ordinal, tool_segment_text(r->trim_segment, name));
    bytes("bytes", r->bytes);
    bytes("body bytes", r->body_bytes);
    printf("%-12s %.3f\n", "stored ratio", ratio);
    printf("%-12s ", "compression");
    if (r->lz4_frames > 0)
        printf("lz4 in %" PRIu64 " frame%s\n", r->lz4_frames, tool_plural(r->lz4_frames));
    else
        puts("none");
    printf("%-12s %s\n", "key kind", *r->kind ? r->kind : "not known");
    key("first key", r, r->first_key, r->first_key_size);
    key("last key", r, r->last_key, r->last_key_size);
    time_of("first time", r->first_time_us);
    time_of("last time", r->last_time_us);
}


static void put_indexes(const u9_index_report *r)
{
    printf("%-12s %" PRIu64 " inside, %" PRIu64 " beside, %" PRIu64 " without\n", "indexes", r->inside, r->beside, r->none);
}

static json_t *json_indexes(const u9_index_report *r)
{
    return json_pack("{s:o, s:o, s:o}", "inside", tool_json_number(r->inside), "beside", tool_json_number(r->beside),
                     "without", tool_json_number(r->none));
}

static int run(struct info *info)
{
    u9_fault fault;
    u9_report report = {.size = sizeof report};
    u9_check_options options = {.size = sizeof options, .on_damage = on_damage,
                                .on_progress = on_progress, .ctx = info};
    tool_progress_begin(&info->bar, 1);
    u9_err err = u9_check(info->path, &options, &report, &fault);
    tool_progress_end(&info->bar);
    if (err != U9_OK) return tool_read_fault(info->path, &fault);
    report.verdict = info->worst;
    int status = TOOL_DONE;
    u9_index_report indexes = {.size = sizeof indexes};
    err = u9_indexes_look(info->path, NULL, &indexes, &fault);
    if (err == U9_NOMEM || (err == U9_IO && fault.sys == ENOMEM)) return tool_read_fault(info->path, &fault);
    int looked = err == U9_OK; /* a log whose indexes cannot be looked at is none the worse for it: nothing is said of them */
    tool_page(info->unpaged);
    if (info->json) {
        json_t *json = tool_json_report(NULL, info->path, &report, &info->losses);
        status = tool_put_object(looked ? tool_json_with(json, "indexes", json_indexes(&indexes)) : json);
    } else {
        put_report(info, &report);
        tool_put_unconfirmed(info->path, &report);
        if (looked) put_indexes(&indexes);
    }
    if (!info->json && report.begins_late) tool_say(0, "%s: %s", info->path, tool_late_begin);
    return status == TOOL_DONE ? info->lost : status;
}

enum { NO_PAGER = 256 };

static const struct argp_option option_table[] = {
    {"json", 'j', 0, 0, "One JSON object, numbers of 64 bits as strings", 0},
    TOOL_PAGER_OPTION(NO_PAGER),
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct info *info = (struct info *)state->input;
    switch (option) {
    case 'j': info->json = 1; break;
    case NO_PAGER: info->unpaged = 1; break;
    default: return tool_argp_log(option, arg, state, &info->path);
    }
    return 0;
}

int verb_info(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Checks every byte of LOG and says what is in it. If records were lost to damage, the exit "
        "status is 3.",
        NULL, NULL, NULL};
    struct info info = {0};
    tool_parse(&parser, argc, argv, &info);
    if (!info.json) (void)!tool_buffer_open(&info.damages);
    int status = run(&info);
    tool_buffer_close(&info.damages);
    return status;
}
