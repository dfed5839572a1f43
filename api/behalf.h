/* behalf.h — for whom does somebody on this machine ask? A request that comes over loopback without a token is trusted, but
 * three kinds of them are others': of a web page whose owner made its name mean 127.0.0.1 (DNS rebinding: Host is a name that
 * can be owned), of a web page of another origin (Origin), and what a proxy here passes on. Pure. Inside api/ only. */
#ifndef API_BEHALF_H
#define API_BEHALF_H

#include <stdbool.h>

#include "net/http_server.h"

/* The name of the header that tells of somebody else, or NULL. A proxy's word counts where something is to be written: one
 * that reads for its users, as Grafana does, says by itself who may. */
const char *behalf_of_other(const struct http_request *rq, bool writes);

#endif
