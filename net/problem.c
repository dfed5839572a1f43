#include "net/problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "json/write.h"

struct problem_row {
	const char *word;
	int status;
	const char *title;
};

static const struct problem_row problems[] = {
	[PROBLEM_PARAMETER] = { "parameter", 400, "A parameter is wrong" },
	[PROBLEM_REQUEST] = { "request", 400, "The request is not HTTP as it should be" },
	[PROBLEM_NOT_IMPLEMENTED] = { "request", 501, "The request asks for something this server does not know" },
	[PROBLEM_VERSION] = { "request", 505, "The request is of an HTTP version that this server does not speak" },
	[PROBLEM_BODY] = { "body", 400, "The body cannot be read" },
	[PROBLEM_UNAUTHORIZED] = { "unauthorized", 401, "A token is needed" },
	[PROBLEM_FORBIDDEN] = { "forbidden", 403, "The token does not allow this" },
	[PROBLEM_NOT_FOUND] = { "not-found", 404, "There is no such thing" },
	[PROBLEM_METHOD] = { "method", 405, "The method does not apply here" },
	[PROBLEM_TIMEOUT] = { "timeout", 408, "The request took too long to arrive" },
	[PROBLEM_TOO_LARGE] = { "too-large", 413, "The body is too large" },
	[PROBLEM_MEDIA_TYPE] = { "media-type", 415, "The body is of a type that is not taken here" },
	[PROBLEM_UNPROCESSABLE] = { "unprocessable", 422, "The body says something that cannot be" },
	[PROBLEM_HEADERS_TOO_LARGE] = { "headers-too-large", 431, "The request's headers are too large" },
	[PROBLEM_INTERNAL] = { "internal", 500, "The server failed" },
	[PROBLEM_BUSY] = { "busy", 503, "Too much at once" },
	[PROBLEM_NOT_READY] = { "not-ready", 503, "Not ready" },
	[PROBLEM_FULL] = { "full", 507, "No space left" },
};
_Static_assert(COUNT(problems) == PROBLEMS, "describe every problem");

enum { PROBLEM_DETAIL_MAX = 600 };

int problem_status(enum problem p)
{
	return problems[p].status;
}

const char *problem_word(enum problem p)
{
	return problems[p].word;
}

void problem_reply(struct http_reply *rp, enum problem p, const char *parameter, const char *fmt, ...)
{
	char detail[PROBLEM_DETAIL_MAX], type[64];
	struct json_writer w;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	snprintf(type, sizeof(type), "urn:trainspotter:%s", problems[p].word);

	rp->status = problems[p].status;
	rp->content_type = "application/problem+json";
	buf_reset(&rp->body);
	jw_init(&w, &rp->body);
	jw_object(&w);
	jw_key_text(&w, "type", type);
	jw_key_text(&w, "title", problems[p].title);
	jw_key_i64(&w, "status", problems[p].status);
	jw_key_text(&w, "detail", detail);
	if (parameter != NULL)
		jw_key_text(&w, "parameter", parameter);
	jw_end(&w);
	buf_byte(&rp->body, '\n');

	if (p == PROBLEM_UNAUTHORIZED)
		http_reply_header(rp, "WWW-Authenticate", "Bearer realm=\"trainspotter\"");
	if (p == PROBLEM_BUSY)
		http_reply_header(rp, "Retry-After", "1");
}
