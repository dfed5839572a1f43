#include "json/mask.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/prop.h"

Suite *suite_mask(void);

/* What the header promises, said a byte at a time. */
static void naive(const char *p, size_t n, struct json_mask *out)
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
		if (in_string && (c == '\\' || c < 0x20 || c >= 0x80))
			out[i / 64].odd |= bit;
		escaped = c == '\\' && !escaped;
	}
}

static bool kernel_is_naive(struct rand_gen *g, size_t size, void *arg)
{
	static const char common[] = "\"\"\"\\\\\\{}[]{}[],: ax0\n\x1f\x80\xff\x7f\x20\x5b\x7b";
	const struct json_mask_kernel *k = arg;
	size_t n = size * 64, cut = rand_below(g, size + 1);
	struct json_mask *want = mem_get_array(size, sizeof(*want)), *got = mem_get_array(size, sizeof(*got));
	struct json_mask_state s = { 0 };
	char *p = mem_get(n);
	bool any = rand_below(g, 2), same;

	for (size_t i = 0; i < n; i++)
		p[i] = any ? (char)rand_u64(g) : common[rand_below(g, sizeof(common) - 1)];
	naive(p, n, want);
	k->run(p, cut, &s, got); /* in two calls: the state goes between them */
	k->run(p + 64 * cut, size - cut, &s, got + cut);
	same = memcmp(want, got, size * sizeof(*want)) == 0;
	mem_free(p);
	mem_free(want);
	mem_free(got);
	return same;
}

START_TEST(every_kernel_marks_what_the_header_says)
{
	const struct json_mask_kernel *k = json_mask_kernels[_i];
	char name[64];

	if (!k->runs_here()) {
		printf("# the kernel %s cannot run on this machine: not tested\n", k->name);
		return;
	}
	snprintf(name, sizeof(name), "kernel %s", k->name);
	/* Check drops constness of what it hands on; the kernel is only read. */
	prop_check(name, 3000, 40, kernel_is_naive, (void *)(uintptr_t)k);
}
END_TEST

START_TEST(the_best_kernel_runs_here)
{
	ck_assert(json_mask_best()->runs_here());
}
END_TEST

Suite *suite_mask(void)
{
	Suite *s = suite_create("json/mask");
	TCase *tc = tcase_create("mask");
	int n = 0;

	while (json_mask_kernels[n] != NULL)
		n++;
	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, every_kernel_marks_what_the_header_says, 0, n);
	tcase_add_test(tc, the_best_kernel_runs_here);
	suite_add_tcase(s, tc);
	return s;
}
