/* help.h — traces from text, tables as text, files that last as long as a test. */
#ifndef TESTS_UNIT_TRACE_HELP_H
#define TESTS_UNIT_TRACE_HELP_H

#include <check.h>
#include <stddef.h>

#include "base/buf.h"
#include "trace/keyavg.h"
#include "trace/reader.h"

/* Reads all of text in blocks of so many bytes (0: one block). Fails the test where that is an error. */
struct trace *help_read(struct str text, size_t block, struct trace_report *report);

/* The same of one block, with what is read besides (TRACE_…). */
struct trace *help_read_more(struct str text, unsigned want);

/* The rows of a trace: "name device annotation calls self_cpu cpu_total self_device device_total\n" each, as in the
 * tsv of summarize but with blanks. Behind them: by shapes " dims", with memory " cpu,self device,self" bytes. */
void help_table(struct trace *t, struct buf *out);
/* Reads, makes the table, compares: what the test is about nearly always. */
void help_expect(const char *text, const char *table);
void help_expect_more(const char *text, unsigned want, const char *table);
/* An event of a trace: help_event(&b, "cpu_op", "aten::mm", 1, 100, 10, "\"External id\":1"). Times in microseconds;
 * args NULL: none. Puts a comma in front of all but the first. */
void help_event(struct buf *b, const char *cat, const char *name, int tid, double ts, double dur, const char *args);
void help_alloc(struct buf *b, double ts, int device_type, int64_t bytes); /* an event named [memory] */
void help_begin(struct buf *b); /* {"traceEvents":[ */
void help_end(struct buf *b);	/* ]} */

/* "2 bad_number@17, 1 truncated@400": losses, then " | ", then notes without offsets. */
void help_report(const struct trace_report *r, struct buf *out);

/* After mem_fail_at: were there fewer allocations than it wanted to see fail? */
bool help_fails_still(void);

/* A folder in /tmp, removed with the files help_write put there. */
const char *help_dir(void);
const char *help_write(const char *name, struct str content); /* the path, valid until help_dir_drop */
void help_dir_drop(void);

/* An archive, one file after the other; in the end help_tar_end. type: '0' for a plain file. */
void help_tar_sum(char *header); /* puts the right checksum into 512 bytes */
void help_tar_header(struct buf *tar, const char *name, const char *prefix, char type, size_t size, const char *magic);
void help_tar_content(struct buf *tar, struct str content);
void help_tar_file(struct buf *tar, const char *name, struct str content);
void help_tar_end(struct buf *tar);

/* gzip (one member) and zstd of text, into out. */
void help_gzip(struct str text, struct buf *out);
void help_zstd(struct str text, struct buf *out);

#endif
