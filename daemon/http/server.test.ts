import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAuth } from '../auth/auth.ts';
import { memorySessions, memorySettings } from '../auth/testing.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import type { Handler, Handlers } from '../routes/handler.ts';
import { createMatcher } from './matcher.ts';
import { startHttp } from './server.ts';

/** A gateway that serves only `/api/health`, by `health`. */
async function serving(health: Handler) {
  const { log, lines } = recordedLog();
  const auth = await createAuth({
    settings: memorySettings({}),
    store: { sessions: memorySessions(), audit: { add: () => {}, list: () => [] }, isContentLost: false },
    log,
    secretFile: join(scratch(), 'secret.bin'),
    listener: () => ({ bindHost: '127.0.0.1', port: 0, loopback: true }),
  });
  const handlers = { health } as Partial<Handlers> as Handlers;
  const deps = {
    auth,
    log,
    matcher: createMatcher(),
    handlers,
    sockets: { 'v1.realtime': async () => {} },
    refused: () => {},
    secrets: () => [],
  };
  const http = await startHttp(deps, { host: '127.0.0.1', port: 0, maxConnections: 16 });
  return { http, lines, url: `http://127.0.0.1:${http.port}/api/health` };
}

test('a handler that writes after the end of its response is logged and has no other effect', async () => {
  const { http, lines, url } = await serving(async ({ res }) => {
    res.end('whole');
    res.write('more');
  });
  for (const _ of [1, 2]) expect(await (await fetch(url)).text()).toBe('whole');
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { err: { code: 'ERR_STREAM_WRITE_AFTER_END' } },
    { err: { code: 'ERR_STREAM_WRITE_AFTER_END' } },
  ]);
  await http.stop(100);
});
