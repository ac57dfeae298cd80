#!/bin/sh
exec /usr/lib/svc-gateway/bin/node --max-semi-space-size=8 /usr/lib/svc-gateway/daemon/main.js "$@"
