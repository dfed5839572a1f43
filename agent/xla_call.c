#include "agent/xla_call.h"

#include <stdio.h>

#include "agent/xla_wire.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/grpc_client.h"

static const int64_t connect_ns = 2 * NS_PER_S;
/* A process that ends shuts its server down first: so long may it take to be gone. */
static const int64_t dying_ns = 3 * NS_PER_S, dying_step_ns = 100 * NS_PER_MS;

static void say(struct xla_call *c, const char *why)
{
	snprintf(c->why, sizeof(c->why), "%s", why);
}

/* A status that is not 0, by what the server says with it. */
static enum xla_end judge_status(const struct grpc_answer *a)
{
	static const struct {
		struct str part;
		enum xla_end end;
	} texts[] = {
		{ { XLA_SAYS_BUSY, sizeof(XLA_SAYS_BUSY) - 1 }, XLA_BUSY },
		{ { "No such file or directory", 25 }, XLA_NO_FOLDER },
		{ { "Permission denied", 17 }, XLA_NO_FOLDER },
		{ { "Read-only file system", 21 }, XLA_NO_FOLDER },
		{ { "is not a directory", 18 }, XLA_NO_FOLDER },
		{ { "No space left on device", 23 }, XLA_NO_FOLDER },
	};

	if (a->status == GRPC_UNIMPLEMENTED)
		return XLA_WRONG;
	for (size_t i = 0; i < COUNT(texts); i++)
		if (str_contains(str_of(a->text), texts[i].part))
			return texts[i].end;
	return XLA_FAILED;
}

static enum xla_end judge_failure(enum http_failure f)
{
	switch (f) {
	case HTTP_UNREACHABLE: return XLA_REFUSED;
	case HTTP_TIMED_OUT: return XLA_TIMEOUT;
	case HTTP_BROKEN: return XLA_BROKEN;
	case HTTP_STRANGE:
	case HTTP_TOO_LARGE: return XLA_WRONG;
	case HTTP_STOPPED: return XLA_STOPPED;
	case HTTP_MISUSED:
	case HTTP_ANSWERED:
	case HTTP_FAILURES: break;
	}
	return XLA_FAILED;
}

static enum xla_end judge_answer(struct xla_call *c, const struct grpc_answer *a)
{
	struct xla_response rs;
	struct err e = { 0 };

	if (a->status != GRPC_OK) {
		snprintf(c->why, sizeof(c->why), "status %d: %s", a->status, a->text);
		return judge_status(a);
	}
	if (xla_wire_parse_response(buf_view(&a->message), &rs, &e) < 0) {
		say(c, e.text);
		return XLA_WRONG;
	}
	return rs.empty ? XLA_EMPTY : XLA_TAKEN;
}

static enum xla_end ask(struct xla_call *c, const struct thread *t)
{
	const struct xla_request rq = { .root = str_of(c->folder.path), .session = str_of(c->folder.session),
		.host = str_of(c->host), .duration_ns = c->duration_ns, .host_level = c->host_level };
	struct grpc_ask g = { .address = c->job.address, .path = XLA_METHOD, .connect_ns = connect_ns,
		.total_ns = c->duration_ns + c->timeout_ns, .max_answer_bytes = XLA_RESPONSE_MAX, .thread = t };
	struct grpc_answer a = { .status = 0 };
	struct err e = { 0 };
	enum xla_end end;
	struct buf b;

	buf_init(&b, XLA_REQUEST_MAX);
	if (xla_wire_put_request(&rq, &b, &e) < 0) {
		end = XLA_FAILED;
		say(c, e.text);
	} else {
		g.message = buf_view(&b);
		if (grpc_call(&g, &a, &e) == OK) {
			end = judge_answer(c, &a);
		} else {
			end = judge_failure(a.failure);
			say(c, e.text);
		}
		grpc_answer_fini(&a);
	}
	buf_fini(&b);
	return end;
}

/* Whatever went wrong, it is explained when the process is no more. */
static bool has_died(const struct xla_call *c, struct thread *t)
{
	bool lives = true;

	if (!c->job.known || (c->end != XLA_REFUSED && c->end != XLA_BROKEN && c->end != XLA_WRONG && c->end != XLA_TIMEOUT))
		return false;
	for (int64_t waited = 0; waited <= dying_ns; waited += dying_step_ns) {
		lives = worker_lives(&c->job.who, c->proc);
		if (!lives || c->end != XLA_BROKEN || thread_sleep(t, dying_step_ns))
			break;
	}
	return !lives;
}

static uid_t user_of(const struct xla_call *c)
{
	return c->job.listens ? c->job.uid : XLA_ANYBODY;
}

static enum xla_end take(struct xla_call *c)
{
	char name[XLA_HOST + sizeof(XLA_FILE)];
	struct err e = { 0 };
	int rc;

	snprintf(name, sizeof(name), "%s" XLA_FILE, c->host);
	rc = xla_folder_take(&c->folder, name, user_of(c), c->max_bytes, &c->file, &e);
	if (rc == OK)
		return XLA_TAKEN;
	say(c, e.text);
	return rc == E_LIMIT ? XLA_TOO_LARGE : rc == E_DENIED ? XLA_FOREIGN : XLA_UNWRITTEN;
}

/* After a call that has no answer the job may still write: a folder that is gone it would make again, as its own. */
static void let_go(struct xla_call *c)
{
	struct err e = { 0 };

	if (c->end == XLA_TIMEOUT || c->end == XLA_STOPPED || c->end == XLA_BROKEN)
		xla_folder_leave(&c->folder);
	else if (xla_folder_remove(&c->folder, &e) < 0)
		log_warn("xla.stuck", "dir=\"%s\" err=\"%s\" action=\"tried again\"", c->dir, e.text);
}

void xla_call_do(struct xla_call *c, struct thread *t)
{
	struct err e = { 0 };

	if (c->job.known && !worker_lives(&c->job.who, c->proc)) {
		c->end = XLA_DIED; /* whoever listens there now is another one: the next scan tells */
		return;
	}
	if (xla_folder_make(&c->folder, c->job.known ? c->job.who.root : "", c->dir, user_of(c), &e) < 0) {
		c->end = XLA_NO_FOLDER;
		say(c, e.text);
	} else {
		c->end = ask(c, t);
		if (c->end == XLA_TAKEN)
			c->end = take(c);
	}
	if (has_died(c, t))
		c->end = XLA_DIED;
	if (c->end != XLA_TAKEN)
		let_go(c);
}

void xla_call_fini(struct xla_call *c)
{
	struct err e = { 0 };

	if (c->folder.fd >= 0 && xla_folder_remove(&c->folder, &e) < 0)
		log_warn("xla.stuck", "dir=\"%s\" err=\"%s\" action=\"tried again\"", c->dir, e.text);
}
