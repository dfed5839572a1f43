/* sentence.h — findings as sentences for a person at night: what was, what is, how much. Without a final period. */
#ifndef DETECT_SENTENCE_H
#define DETECT_SENTENCE_H

#include "base/arena.h"
#include "detect/optable.h"
#include "profile/verdict.h"

/* By the finding's kind; all its other members are set. v is asked for the step's time, which is said once a verdict: NULL
 * for findings behind the first. Lives in the arena. */
struct str sentence_of(const struct finding *f, const struct verdict *v, struct arena *a);

#endif
