// libmosquitto as Swift sees it. (Debian: libmosquitto-dev.)
#ifndef GIMBAL_CMOSQUITTO_H
#define GIMBAL_CMOSQUITTO_H

#include <mosquitto.h>
#include <mqtt_protocol.h>

#endif
