/* http_client.c — curl_easy in the caller's thread. Every option is set anew for each exchange, so that nothing of the
 * last one (method, body, headers) can leak into the next; the connection itself is kept by the handle. */
#include "net/http_client.h"

#include <ctype.h>
#include <pthread.h>

#include <curl/curl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"

#define CLIENT_MAGIC UINT32_C(0x68747063)

enum {
	CLIENT_HEADERS_MAX = 8192,
	CLIENT_FIELDS_MAX = 16384,
	CLIENT_ANSWER_DEFAULT = 64 << 20,
};
static const int64_t client_connect_default_ns = 10 * NS_PER_S;
static const int64_t client_total_default_ns = 60 * NS_PER_S;
static const int64_t client_retry_after_max_ns = NS_PER_DAY;

struct http_client {
	uint32_t magic;
	CURL *curl;
	char *token, *ca_file, *user_agent;
	int64_t connect_ns, total_ns;
	bool too_large;
	enum http_failure failure;
	struct http_answer answer;
	char why[CURL_ERROR_SIZE];
};

static pthread_once_t client_once = PTHREAD_ONCE_INIT;

static void client_global_init(void)
{
	must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

static bool client_header_safe(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return true;
}

int http_client_open(struct http_client **out, const struct http_client_settings *s, struct err *e)
{
	struct http_client *c;

	*out = NULL;
	if (!client_header_safe(str_of(s->token)))
		return err_set(e, E_USAGE, "the token has a line break or a control character in it");
	pthread_once(&client_once, client_global_init);

	c = mem_get(sizeof(*c));
	c->magic = CLIENT_MAGIC;
	c->token = mem_dup_text(s->token);
	c->ca_file = mem_dup_text(s->ca_file);
	c->user_agent = mem_dup_text(s->user_agent);
	c->connect_ns = s->connect_ns > 0 ? s->connect_ns : client_connect_default_ns;
	c->total_ns = s->total_ns > 0 ? s->total_ns : client_total_default_ns;
	buf_init(&c->answer.body, s->max_answer_bytes > 0 ? s->max_answer_bytes : CLIENT_ANSWER_DEFAULT);
	buf_init(&c->answer.fields, CLIENT_FIELDS_MAX);
	c->curl = curl_easy_init();
	if (c->curl == NULL) {
		http_client_close(c);
		return err_set(e, E_NOMEM, "curl: no memory for a handle");
	}
	*out = c;
	return OK;
}

void http_client_close(struct http_client *c)
{
	if (c == NULL)
		return;
	must(c->magic == CLIENT_MAGIC);
	curl_easy_cleanup(c->curl);
	buf_fini(&c->answer.body);
	buf_fini(&c->answer.fields);
	mem_free(c->token);
	mem_free(c->ca_file);
	mem_free(c->user_agent);
	c->magic = MAGIC_DEAD;
	mem_free(c);
}

static size_t on_answer_bytes(char *p, size_t each, size_t n, void *arg)
{
	struct http_client *c = MAGIC_CHECK((struct http_client *)arg, CLIENT_MAGIC);

	/* CURLOPT_MAXFILESIZE does not bound chunked bodies, so the buffer's ceiling does */
	buf_add(&c->answer.body, p, each * n);
	if (c->answer.body.rc == OK)
		return each * n;
	c->too_large = true;
	return 0;
}

/* Too many of them end no exchange: whoever wants them looks at the buffer's error. */
static size_t on_field(char *p, size_t each, size_t n, void *arg)
{
	struct http_client *c = MAGIC_CHECK((struct http_client *)arg, CLIENT_MAGIC);

	buf_add(&c->answer.fields, p, each * n);
	return each * n;
}

static void client_url_host(const char *url, char *host, size_t cap)
{
	CURLU *u = curl_url();
	char *part = NULL;

	str_copy_to(STR("(bad URL)"), host, cap);
	if (u != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(u, CURLUPART_HOST, &part, 0) == CURLUE_OK)
		str_copy_to(str_of(part), host, cap);
	curl_free(part);
	curl_url_cleanup(u);
}

/* A proxy named in the environment is for the network; this machine is reached without it. */
static bool client_host_is_here(const char *host)
{
	return str_eq(str_of(host), STR("localhost")) || str_eq(str_of(host), STR("[::1]")) ||
	       str_has_prefix(str_of(host), STR("127."));
}

static int on_progress(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
	(void)down_all;
	(void)down;
	(void)up_all;
	(void)up;
	return thread_stopping(arg);
}

static void client_set_limits(struct http_client *c, const struct http_ask *ask)
{
	int64_t total_ns = ask->total_ns > 0 ? ask->total_ns : c->total_ns;

	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(c->connect_ns / NS_PER_MS));
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)(total_ns / NS_PER_MS));
	if (ask->thread != NULL) {
		curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
		curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, ask->thread);
	}
	curl_easy_setopt(c->curl, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->why);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer_bytes);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, on_field);
	curl_easy_setopt(c->curl, CURLOPT_HEADERDATA, c);
	if (c->ca_file != NULL)
		curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca_file);
	if (c->user_agent != NULL)
		curl_easy_setopt(c->curl, CURLOPT_USERAGENT, c->user_agent);
}

static void client_set_method(struct http_client *c, const struct http_ask *ask)
{
	if (str_eq(str_of(ask->method), STR("HEAD"))) {
		curl_easy_setopt(c->curl, CURLOPT_NOBODY, 1L);
		return;
	}
	if (!str_eq(str_of(ask->method), STR("GET"))) {
		curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, str_empty(ask->body) ? "" : ask->body.p);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->body.n);
	}
	if (!str_eq(str_of(ask->method), STR("GET")) && !str_eq(str_of(ask->method), STR("POST")))
		curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, ask->method);
}

/* Appends a line to the list; on failure the list is freed and *list is NULL with *failed true. */
static void client_header(struct curl_slist **list, bool *failed, const char *name, const char *value)
{
	struct curl_slist *more;
	struct buf line;

	if (*failed)
		return;
	buf_init(&line, CLIENT_HEADERS_MAX);
	buf_text(&line, name);
	buf_text(&line, value);
	more = line.rc == OK && client_header_safe(buf_view(&line)) ? curl_slist_append(*list, line.p) : NULL;
	if (more == NULL)
		*failed = true;
	else
		*list = more;
	buf_fini(&line);
}

static int client_set_headers(struct http_client *c, const struct http_ask *ask, struct curl_slist **list, struct err *e)
{
	bool failed = false;

	/* an Expect of curl's own costs a second against servers that ignore it */
	client_header(list, &failed, "Expect:", "");
	client_header(list, &failed, ask->content_type != NULL ? "Content-Type: " : "Content-Type:",
		ask->content_type != NULL ? ask->content_type : "");
	if (ask->content_encoding != NULL)
		client_header(list, &failed, "Content-Encoding: ", ask->content_encoding);
	if (ask->header != NULL)
		client_header(list, &failed, ask->header, "");
	if (c->token != NULL && c->token[0] != '\0')
		client_header(list, &failed, "Authorization: Bearer ", c->token);
	if (failed)
		return err_set(e, E_USAGE, "a request header is too long or has a control character in it");
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, *list);
	return OK;
}

static void client_read_answer(struct http_client *c)
{
	const char *type = NULL;
	curl_off_t retry_s = 0;
	long status = 0;

	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(c->curl, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &retry_s);
	c->answer.status = (int)status;
	str_copy_to(str_of(type), c->answer.content_type, sizeof(c->answer.content_type));
	if (retry_s > client_retry_after_max_ns / NS_PER_S)
		retry_s = client_retry_after_max_ns / NS_PER_S;
	c->answer.retry_after_ns = retry_s > 0 ? (int64_t)retry_s * NS_PER_S : 0;
}

static int client_set_protocol(struct http_client *c, const struct http_ask *ask, struct err *e)
{
	if (!ask->http2 ||
		curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) == CURLE_OK)
		return OK;
	return err_set(e, E_UNSUPPORTED, "this libcurl (%s) speaks no HTTP/2", curl_version());
}

static enum http_failure client_why(const struct http_client *c, CURLcode code)
{
	static const struct {
		CURLcode code;
		enum http_failure why;
	} table[] = {
		{ CURLE_COULDNT_CONNECT, HTTP_UNREACHABLE }, { CURLE_COULDNT_RESOLVE_HOST, HTTP_UNREACHABLE },
		{ CURLE_OPERATION_TIMEDOUT, HTTP_TIMED_OUT }, { CURLE_ABORTED_BY_CALLBACK, HTTP_STOPPED },
		{ CURLE_HTTP2, HTTP_STRANGE }, { CURLE_HTTP2_STREAM, HTTP_STRANGE },
		{ CURLE_WEIRD_SERVER_REPLY, HTTP_STRANGE }, { CURLE_UNSUPPORTED_PROTOCOL, HTTP_MISUSED },
		{ CURLE_URL_MALFORMAT, HTTP_MISUSED },
	};

	if (c->too_large)
		return HTTP_TOO_LARGE;
	if (code == CURLE_UNSUPPORTED_PROTOCOL && strstr(c->why, "HTTP/0.9") != NULL)
		return HTTP_STRANGE; /* what came is no HTTP: curl takes it for a version that it does not speak */
	for (size_t i = 0; i < COUNT(table); i++)
		if (table[i].code == code)
			return table[i].why;
	return HTTP_BROKEN;
}

static int client_failure(struct http_client *c, CURLcode code, const char *host, struct err *e)
{
	const char *why = c->why[0] != '\0' ? c->why : curl_easy_strerror(code);

	c->failure = client_why(c, code);
	switch (c->failure) {
	case HTTP_TOO_LARGE:
		return err_set(e, E_LIMIT, "%s: the answer is larger than %zu bytes", host, c->answer.body.cap);
	case HTTP_MISUSED: return err_set(e, E_USAGE, "%s: not an http or https URL: %s", host, why);
	case HTTP_STOPPED: return err_set(e, E_STOPPED, "%s: given up, since the program stops", host);
	case HTTP_ANSWERED:
	case HTTP_UNREACHABLE:
	case HTTP_TIMED_OUT:
	case HTTP_BROKEN:
	case HTTP_STRANGE:
	case HTTP_FAILURES: break;
	}
	return err_set(e, E_NET, "%s: %s", host, why);
}

enum http_failure http_failure(const struct http_client *c)
{
	return c->failure;
}

int http_exchange(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
{
	struct curl_slist *headers = NULL;
	char host[256];
	CURLcode code;
	int rc;

	must(c->magic == CLIENT_MAGIC);
	*out = NULL;
	c->too_large = false;
	c->failure = HTTP_MISUSED;
	c->why[0] = '\0';
	buf_reset(&c->answer.body);
	buf_reset(&c->answer.fields);
	client_url_host(ask->url, host, sizeof(host));

	curl_easy_reset(c->curl);
	client_set_limits(c, ask);
	client_set_method(c, ask);
	curl_easy_setopt(c->curl, CURLOPT_URL, ask->url);
	if (client_host_is_here(host))
		curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
	rc = client_set_headers(c, ask, &headers, e);
	if (rc == OK)
		rc = client_set_protocol(c, ask, e);
	if (rc != OK)
		goto out;

	code = curl_easy_perform(c->curl);
	if (code != CURLE_OK) {
		rc = client_failure(c, code, host, e);
		goto out;
	}
	c->failure = HTTP_ANSWERED;
	client_read_answer(c);
	*out = &c->answer;
out:
	/* the handle points at the list until the next reset */
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	return rc;
}

void http_encode(struct str s, struct buf *out)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x80 && isalnum(c)) || c == '-' || c == '.' || c == '_' || c == '~') {
			buf_byte(out, c);
			continue;
		}
		buf_byte(out, '%');
		buf_byte(out, digits[c >> 4]);
		buf_byte(out, digits[c & 15]);
	}
}

int64_t http_backoff_ns(unsigned attempt, int64_t first_ns, int64_t cap_ns, double unit_random)
{
	int64_t most = first_ns;

	for (unsigned i = 0; i < attempt && most < cap_ns; i++)
		if (__builtin_mul_overflow(most, 2, &most))
			most = cap_ns;
	if (most > cap_ns)
		most = cap_ns;
	return (int64_t)((double)most * unit_random);
}
