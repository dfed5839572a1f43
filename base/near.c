#include "base/near.h"

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the usual table are enough: swaps look back two. */
size_t near_distance(struct str a, struct str b)
{
	size_t rows[3][LONGEST + 1];

	a = str_upto(a, LONGEST);
	b = str_upto(b, LONGEST);
	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			now[j] = least(least(now[j - 1], up[j]) + 1, up[j - 1] + (a.p[i - 1] != b.p[j - 1]));
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				now[j] = least(now[j], up2[j - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

void near_init(struct near_word *n, struct str word)
{
	*n = (struct near_word){ .word = word, .distance = SIZE_MAX };
}

void near_try(struct near_word *n, const char *known)
{
	size_t d = near_distance(n->word, str_of(known));

	if (d >= n->distance)
		return;
	n->distance = d;
	n->best = known;
}

/* One slip in three letters, and never more than three. */
const char *near_best(const struct near_word *n)
{
	size_t allowed = least(1 + n->word.n / 4, 3);

	return n->best != NULL && n->distance <= allowed && n->distance < n->word.n ? n->best : NULL;
}
