// libevent's core as Swift sees it. (Debian: libevent-dev.)
#ifndef GIMBAL_CLIBEVENT_H
#define GIMBAL_CLIBEVENT_H

#include <event2/event.h>
#include <event2/listener.h>

#endif
