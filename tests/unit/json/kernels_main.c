/* kernels NAME [FILE…] — every kernel of json/mask.h and json/scan.h gives the answers that their headers promise: on random
 * bytes, on bytes that matter more often than in any text, and on the files given, cut into pieces. TAP lines without numbers
 * (tests/system/kernels.test has the plan), each with NAME in front; a kernel that cannot run here is skipped. It needs
 * nothing but base, so that it can be built for another processor and run under an emulator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rand.h"
#include "json/mask.h"
#include "json/scan.h"

enum { CASES = 1000, BLOCKS_MAX = 40, FILE_BYTES_MAX = 4 << 20 };

struct bytes {
	char *p;
	size_t n;
};

/* ---- what the headers promise, said a byte at a time */

static void naive_mask(const char *p, size_t n, struct json_mask *out)
{
	bool in_string = false, escaped = false;

	memset(out, 0, n / 64 * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		uint64_t bit = UINT64_C(1) << (i % 64);
		bool quote = c == '"' && !escaped;

		if (quote)
			out[i / 64].quote |= bit;
		/* the opening quote is the first byte inside, the closing one is outside */
		in_string ^= quote;
		if (!in_string && (c == '{' || c == '}' || c == '[' || c == ']'))
			out[i / 64].bracket |= bit;
		if (c == '\\' || (in_string && (c < 0x20 || c >= 0x80)))
			out[i / 64].odd |= bit;
		escaped = c == '\\' && !escaped;
	}
}

static size_t naive_string(const char *p, size_t n, bool *high)
{
	size_t i = 0;

	for (; i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20; i++)
		*high |= (unsigned char)p[i] >= 0x80;
	return i;
}

static size_t naive_structure(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (p[i] == '\0' || strchr("\"{}[]", p[i]) == NULL))
		i++;
	return i;
}

static size_t naive_lines(const char *p, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

/* ---- does a kernel keep to it? */

/* In two calls, the state between them. Whole blocks only. */
static bool mask_agrees(const struct json_mask_kernel *k, const char *p, size_t n, size_t cut)
{
	size_t blocks = n / 64;
	struct json_mask *want = mem_get_array(blocks + 1, sizeof(*want)), *got = mem_get_array(blocks + 1, sizeof(*got));
	struct json_mask_state s = { 0 };
	bool same;

	cut = cut % (blocks + 1);
	naive_mask(p, 64 * blocks, want);
	k->run(p, cut, &s, got);
	k->run(p + 64 * cut, blocks - cut, &s, got + cut);
	same = memcmp(want, got, blocks * sizeof(*want)) == 0;
	mem_free(want);
	mem_free(got);
	return same;
}

/* From every stop on to the next, and a little of what lies between. */
static bool scan_agrees(const struct json_scan *k, const char *p, size_t n)
{
	if (k->lines(p, n) != naive_lines(p, n))
		return false;
	for (size_t at = 0; at < n;) {
		bool high = false, want_high = false;
		size_t text = k->string(p + at, n - at, &high), structure = k->structure(p + at, n - at);

		if (text != naive_string(p + at, n - at, &want_high) || high != want_high ||
			structure != naive_structure(p + at, n - at))
			return false;
		at += 1 + (text < structure ? text : structure) / 2;
	}
	return true;
}

/* Random pieces live in memory of exactly their size, so that a sanitizer sees a byte read too far. */
static struct bytes make_piece(struct rand_gen *g, size_t size)
{
	static const char common[] = "\"\"\"\\\\\\{}[]{}[],: ax0\n\x1f\x80\xff\x7f\x20\x5b\x7b\x1b";
	struct bytes b = { .n = 64 * size - rand_below(g, 64) };
	uint64_t kind = rand_below(g, 3);

	b.p = mem_get(b.n + 1);
	for (size_t i = 0; i < b.n; i++) {
		bool often = kind == 0 || (kind == 1 && rand_below(g, 40) == 0);

		b.p[i] = kind == 2 ? (char)rand_u64(g) : often ? common[rand_below(g, sizeof(common) - 1)] : 'x';
	}
	return b;
}

static bool random_agrees(const struct json_mask_kernel *mask, const struct json_scan *scan, uint64_t seed)
{
	for (uint64_t i = 0; i < CASES; i++) {
		struct rand_gen g;
		struct bytes b;
		bool same;

		rand_seed(&g, seed + i);
		b = make_piece(&g, 1 + (size_t)i * BLOCKS_MAX / CASES);
		same = mask != NULL ? mask_agrees(mask, b.p, b.n, rand_u64(&g)) : scan_agrees(scan, b.p, b.n);
		mem_free(b.p);
		if (!same) {
			printf("# differs with seed %" PRIu64 "\n", seed + i);
			return false;
		}
	}
	return true;
}

static bool file_agrees(const struct json_mask_kernel *mask, const struct json_scan *scan, const struct bytes *file,
	struct rand_gen *g)
{
	if (mask != NULL)
		return mask_agrees(mask, file->p, file->n, rand_u64(g));
	for (size_t at = 0; at < file->n;) { /* the blocks of a reader have any length */
		size_t n = 1 + rand_below(g, 20000);

		n = n < file->n - at ? n : file->n - at;
		if (!scan_agrees(scan, file->p + at, n))
			return false;
		at += n;
	}
	return true;
}

/* ---- TAP */

static bool read_file(const char *path, struct bytes *b)
{
	FILE *f = fopen(path, "rb");

	*b = (struct bytes){ .p = mem_get(FILE_BYTES_MAX) };
	if (f == NULL)
		return false;
	b->n = fread(b->p, 1, FILE_BYTES_MAX, f);
	fclose(f);
	return b->n > 0;
}

static bool tell(bool good, const char *who, const char *what, const char *kernel, const char *on)
{
	printf("%s - %s: the %s kernel %s gives the promised answers on %s\n", good ? "ok" : "not ok", who, what, kernel, on);
	fflush(stdout);
	return good;
}

/* One of mask and scan is NULL. */
static bool check_kernel(char **argv, const struct json_mask_kernel *mask, const struct json_scan *scan, uint64_t seed)
{
	const char *what = mask != NULL ? "mask" : "scan", *name = mask != NULL ? mask->name : scan->name;
	struct rand_gen g;
	bool good;

	if (!(mask != NULL ? mask->runs_here() : scan->runs_here())) {
		printf("ok - %s: the %s kernel %s # SKIP this machine cannot run it\n", argv[1], what, name);
		return true;
	}
	rand_seed(&g, seed);
	good = tell(random_agrees(mask, scan, seed), argv[1], what, name, "random bytes");
	for (char **path = argv + 2; *path != NULL; path++) {
		struct bytes file;

		good &= tell(read_file(*path, &file) && file_agrees(mask, scan, &file, &g), argv[1], what, name, *path);
		mem_free(file.p);
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *given = getenv("PROP_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	bool good = true;

	if (argc < 2)
		return 2;
	printf("# %s: PROP_SEED=%" PRIu64 "\n", argv[1], seed);
	for (size_t i = 0; json_mask_kernels[i] != NULL; i++)
		good &= check_kernel(argv, json_mask_kernels[i], NULL, seed);
	for (size_t i = 0; json_scan_kernels[i] != NULL; i++)
		good &= check_kernel(argv, NULL, json_scan_kernels[i], seed);
	return good ? 0 : 1;
}
