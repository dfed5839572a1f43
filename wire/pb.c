/* The code that protoc-c makes, compiled with our flags but for the warnings that it cannot help. */
#include "wire/pb.h"

#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "wire/trainspotter.pb-c.c"
