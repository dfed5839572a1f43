/* pb.h — the C code that protoc-c makes of trainspotter.proto, with short names and without warnings about it. */
#ifndef WIRE_PB_H
#define WIRE_PB_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "wire/trainspotter.pb-c.h"
#pragma GCC diagnostic pop

typedef Trainspotter__V1__WindowBatch pb_batch;
typedef Trainspotter__V1__Window pb_window;
typedef Trainspotter__V1__Label pb_label;
typedef Trainspotter__V1__Gauge pb_gauge;
typedef Trainspotter__V1__Ops pb_ops;

#endif
