#!/bin/sh
# Named before Node starts, so that the program itself is not compiled again.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-/usr/lib/svc-gateway/.cache/compile}"
# With so much room for the young, a command ends before its first collection.
exec /usr/lib/svc-gateway/bin/node --disable-warning=ExperimentalWarning --min-semi-space-size=4 \
  /usr/lib/svc-gateway/daemon/cli/main.cjs "$@"
