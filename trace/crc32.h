/* crc32.h — the checksum of gzip members (RFC 1952, 8: CRC-32 of ISO 3309), at the speed of memory where the processor
 * multiplies without carries. zlib's own takes a fifth of the time of inflating a trace.
 *
 * One kernel for each kind of processor, all with the same answers. Pure functions; any thread. */
#ifndef TRACE_CRC32_H
#define TRACE_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crc32_kernel {
	const char *name;
	bool (*runs_here)(void);
	uint32_t (*add)(uint32_t crc, const void *p, size_t n);
};

/* All that were built for this kind of processor, the slowest (zlib's) first; NULL at the end. */
extern const struct crc32_kernel *const crc32_kernels[];

/* The checksum of what crc is that of with n bytes behind it; crc is 0 before the first. */
uint32_t crc32_add(uint32_t crc, const void *p, size_t n);

#endif
