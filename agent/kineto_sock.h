/* kineto_sock.h — the sockets at which libkineto looks for a daemon, and what may be answered there.
 *
 *	abstract   \0dynolog\0     the NUL at the end is part of the name
 *	folder     DIR/dynolog     where jobs have KINETO_IPC_SOCKET_DIR=DIR: mode 0666, a stale one is replaced
 *
 * libkineto ends its process (std::terminate) when an answer comes from an address that it did not expect: from no
 * address, from a path when its own is abstract, or from a path in another folder than its own, byte for byte, even
 * when both lead to the same place. So an answer leaves by the socket that the question came in by, and only to a sender
 * whose address is of the same make; to all others there is silence.
 *
 * The kernel tells the sender's pid and uid, as this host counts them (SO_PASSCRED), and when the datagram came in.
 * Runs on: opening and closing on the main thread (a folder can be slow), the rest on the poll thread, which waits 20 ms at
 * most, and only while the kernel holds all the answers it has room for. */
#ifndef AGENT_KINETO_SOCK_H
#define AGENT_KINETO_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "agent/kineto_wire.h"
#include "base/err.h"
#include "base/str.h"

#define KINETO_SOCKET "dynolog"

/* libkineto does not check that DIR/dynoconfigclientUUID fits into an address. */
enum { KINETO_SOCKET_DIR_MAX = 50 };

struct kineto_sock {
	int fd; /* -1: not open */
	char dir[KINETO_SOCKET_DIR_MAX + 1]; /* "": abstract */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	dev_t dev; /* of the socket in its folder */
	ino_t ino;
};

enum kineto_sender {
	KINETO_SENDER_OK,
	KINETO_SENDER_UNNAMED, /* has no address */
	KINETO_SENDER_STRANGE, /* of another make; an answer would end it */
	KINETO_SENDERS
};

struct kineto_got {
	struct sockaddr_un from;
	socklen_t from_len;
	enum kineto_sender sender;
	pid_t pid; /* 0: of a pid namespace that cannot be seen from here */
	uid_t uid;
	int64_t wall_ns; /* when it came in; 0 where the kernel does not say */
	bool too_long;
	size_t n;
	char bytes[KINETO_DATAGRAM_MAX];
};

/* dir "": the abstract one. E_BUSY when somebody listens there. */
int kineto_sock_open(struct kineto_sock *s, const char *dir, const char *name, struct err *e) MUST_USE;
/* Removes the socket from its folder, if it is still ours. */
void kineto_sock_close(struct kineto_sock *s);
/* Is the socket in its folder another one by now, or gone? */
bool kineto_sock_stolen(const struct kineto_sock *s);

bool kineto_sock_get(int fd, const char *dir, struct kineto_got *out); /* false: nothing is there */
/* Only to a sender that is KINETO_SENDER_OK. false when it does not take the answer now. */
bool kineto_sock_answer(int fd, const struct kineto_got *to, struct str datagram);
/* The folder of a sender's address, for people. */
struct str kineto_sock_folder(const struct kineto_got *g);

#endif
