/* code.h — the ways a thing can fail, everywhere in the project.
 * Functions return OK or one of these (always negative); the sentence for people travels in struct err (base/err.h). */
#ifndef BASE_CODE_H
#define BASE_CODE_H

enum code {
	OK = 0,
	E_SYS = -1,	    /* a system call failed; the sentence has strerror */
	E_NOMEM = -2,	    /* memory of a size that came from outside */
	E_LIMIT = -3,	    /* a ceiling of ours was hit */
	E_FORMAT = -4,	    /* bytes from outside are not what they should be */
	E_USAGE = -5,	    /* a person's option, parameter or configuration is wrong */
	E_NOT_FOUND = -6,   /* no such thing */
	E_EXISTS = -7,	    /* there already */
	E_FULL = -8,	    /* no space left on the disk */
	E_BUSY = -9,	    /* try again later: queue full, locked by another process */
	E_DENIED = -10,	    /* not allowed: token, role, permission */
	E_NET = -11,	    /* no answer, connection refused, time-out */
	E_CORRUPT = -12,    /* our own file is damaged */
	E_UNSUPPORTED = -13, /* understood, but not done by this build or version */
	E_STOPPED = -14,    /* asked to stop meanwhile */
};

/* Lower-case word for logs, "ok" for 0, "unknown" for what is not in the list. */
const char *code_name(int code);

/* The compiler warns where the answer of such a function is dropped. */
#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
