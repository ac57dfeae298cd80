#!/bin/sh
exec /usr/lib/svc-gateway/bin/node /usr/lib/svc-gateway/daemon/main.js "$@"
