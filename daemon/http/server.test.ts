import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAuth } from '../auth/auth.ts';
import { recordedLog } from '../kit/testing/recorded-log.ts';
import { scratch } from '../kit/testing/scratch.ts';
import type { Handlers } from '../routes/handler.ts';
import { openSettings } from '../settings/settings.ts';
import { openStore } from '../store/store.ts';
import { type HeldListener, holdListener } from '../test/harness/held-listener.ts';
import { createMatcher } from './matcher.ts';
import { type HttpServer, startHttp } from './server.ts';

let held: HeldListener;
let http: HttpServer;
let closeParts: () => void;
/** What the one route does. */
let answer: NonNullable<Handlers['health']>;

/** A gateway without parts behind a listener that the service manager keeps. */
beforeEach(async () => {
  const { log } = recordedLog();
  const settings = await openSettings({ env: { SVC_HOME: scratch() }, log, watch: false });
  const store = openStore({ folder: settings.folders.state, log });
  const listener = () => ({ bindHost: '127.0.0.1', port: 0, loopback: true });
  const secretFile = join(settings.folders.state, 'secret.bin');
  const auth = await createAuth({ settings, store, log, secretFile, listener });
  held = await holdListener();
  const handlers = { health: (ctx, call, body) => answer(ctx, call, body) } as Handlers;
  const parts = { auth, log, matcher: createMatcher(), handlers, sockets: { 'v1.realtime': () => {} } };
  http = await startHttp(
    { ...parts, refused: () => {}, secrets: () => [] },
    { host: '127.0.0.1', port: held.port, fd: held.fd, maxConnections: 64 },
  );
  closeParts = () => {
    settings.close();
    store.close();
  };
});
afterEach(async () => {
  closeParts();
  await held.close();
});

it('an answer that is made in the turn in which a stop begins arrives whole', async () => {
  let stopped: Promise<void> | undefined;
  answer = async (ctx) => {
    ctx.res.write('one ');
    ctx.res.end('two');
    stopped = http.stop(2_000);
    return undefined;
  };
  const body = await new Promise<string>((resolve, reject) => {
    const asked = request({ port: held.port, host: '127.0.0.1', path: '/api/health' }, (res) => {
      text(res).then(resolve, reject);
    });
    asked.once('error', reject);
    asked.end();
  });
  expect(body).toBe('one two');
  await stopped;
});
