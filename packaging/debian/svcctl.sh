#!/bin/sh
exec /usr/lib/svc-gateway/bin/node --disable-warning=ExperimentalWarning /usr/lib/svc-gateway/daemon/cli/main.cjs "$@"
