#include "trace/crc32.h"

#include "tests/support/prop.h"
#include "tests/unit/trace/help.h"

Suite *suite_crc32(void);

/* As RFC 1952 defines it, a bit at a time. */
static uint32_t naive_add(uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

static bool agrees(struct rand_gen *g, size_t size, void *arg)
{
	const struct crc32_kernel *k = arg;
	size_t n = rand_below(g, size + 1), from = rand_below(g, 64), cut = rand_below(g, n + 1);
	uint32_t before = (uint32_t)rand_u64(g), want, got;
	uint8_t *bytes = mem_get(from + n + 1), *p = bytes + from; /* at any alignment */

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)rand_u64(g);
	want = naive_add(before, p, n);
	got = k->add(k->add(before, p, cut), p + cut, n - cut);
	mem_free(bytes);
	return got == want;
}

START_TEST(every_kernel_agrees_with_the_definition)
{
	for (size_t i = 0; crc32_kernels[i] != NULL; i++) {
		const struct crc32_kernel *k = crc32_kernels[i];

		if (k->runs_here())
			prop_check(k->name, 2000, 3000, agrees, (void *)(uintptr_t)k);
		else
			printf("# %s cannot run here\n", k->name);
	}
}
END_TEST

START_TEST(the_published_check_value_comes_out)
{
	ck_assert_uint_eq(crc32_add(0, "123456789", 9), 0xcbf43926);
	ck_assert_uint_eq(crc32_add(0, NULL, 0), 0);
}
END_TEST

Suite *suite_crc32(void)
{
	Suite *s = suite_create("trace/crc32");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, every_kernel_agrees_with_the_definition);
	tcase_add_test(tc, the_published_check_value_comes_out);
	suite_add_tcase(s, tc);
	return s;
}
