/* podinfo.h — the files of the Kubernetes downward API, as the kubelet writes labels and annotations. Pure.
 *
 *	app.kubernetes.io/name="llm-decode"
 *	note="two\nlines, a \"quote\", a tab\t and \u00a0"
 *
 * One a line, ordered by key; the value in the quotes of Go's strconv.Quote (\a \b \f \n \r \t \v \\ \" \xNN \uNNNN \UNNNNNNNN), so
 * a value never spans lines. A value without quotes is taken as it stands. */
#ifndef AGENT_PODINFO_H
#define AGENT_PODINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The value of a key, NUL-terminated: false, and out is "", where there is none, where its quotes are broken, where it has a NUL or
 * does not fit into cap bytes. It may be no UTF-8. */
bool podinfo_get(struct str text, struct str key, char *out, size_t cap);

#endif
