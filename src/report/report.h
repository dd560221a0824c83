/* Renderers: a report as text, CSV, JSON, Markdown, HTML; and back from CSV
 * and JSON. One format is one file that ends in one const struct, and one line
 * in report.c's table. */
#ifndef TARE_REPORT_REPORT_H
#define TARE_REPORT_REPORT_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/output.h"
#include "ledger/ledger.h"

/* Which raw figures JSON holds: those that were read, and the model's blocks; of the first those
 * alone that reports show again, since others publish them; none. */
enum samples { SAMPLES_ALL, SAMPLES_PUBLISHED, SAMPLES_NONE };
extern const char *const samples_names[]; /* "all", ...; NULL-terminated */

struct report_style {
    bool color;   /* terminal, and NO_COLOR not set */
    int verbose;  /* -v: evidence, inputs, notes in full */
    bool explain; /* diff --explain: the gap in words */
    enum samples samples;
};

struct format_kind {
    const char *name; /* "csv" */
    const char *summary;
    void (*render)(const struct report *report, const struct report_style *style,
                   struct buffer *out);
    /* The gap of two cells. */
    void (*render_gap)(const struct cell *a, const struct ledger *state_a, const struct cell *b,
                       const struct ledger *state_b, const struct report_style *style,
                       struct buffer *out);
    /* Reads what render wrote; NULL: this format can't be read back. */
    int (*parse)(struct slice text, const char *path, struct report *report,
                 struct tare_error *error);
};

extern const struct format_kind
    *const format_kinds[]; /* NULL-terminated; the first is the default */
int format_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests: an incomplete kind, or one name twice. */
int format_table_check(const struct format_kind *const kinds[], struct tare_error *error);
const struct format_kind *format_of_name(const char *name, struct tare_error *error);

/* An export file (core/output.h): that it can be written is tested before the load, and each write
 * makes it anew, whole. A report with a ledger that doesn't add up is not written. Errors have
 * status TARE_USAGE and name the path. */
struct export
{
    struct output output;
    const struct format_kind *format;
    enum samples samples; /* all, unless it is set once the export is open */
};
int export_open(struct export *export, const char *path, const struct format_kind *format,
                struct tare_error *error);
int export_write_text(struct export *export, struct slice text, struct tare_error *error);
int export_write(struct export *export, const struct report *report, struct tare_error *error);
void export_abandon(struct export *export); /* safe after export_write too */

/* Reads a report file by its content (JSON or CSV; path "-": standard input), and checks every
 * ledger in it. Fills *report; on failure it is empty, and the error names the file, the line or
 * the place in it, and what is wrong there. */
int report_load(const char *path, struct report *report, struct tare_error *error);

#endif
