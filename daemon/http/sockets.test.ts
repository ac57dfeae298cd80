import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { type Auth, createAuth } from '../auth/auth.ts';
import { issueCookie } from '../auth/session-cookie.ts';
import { openSigningSecret } from '../auth/signing-secret.ts';
import { aRequest } from '../auth/testing.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import type { Handlers, SocketContext, SocketHandler } from '../routes/handler.ts';
import { openSettings } from '../settings/open-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { openStore } from '../store/store.ts';
import { admit } from './guards.ts';
import { createMatcher } from './matcher.ts';
import { type HttpServer, startHttp } from './server.ts';
import { Sockets } from './sockets.ts';
import { upgradeOf } from './upgrade-guard.ts';

const KEYS = { SVC_ADMIN_KEY: 'the-first-admin-key', SVC_CLIENT_KEY: 'the-first-client-key' };

interface Listener {
  auth: Auth;
  settings: Settings;
  http: HttpServer;
  secretFile: string;
}

let home: string;
let running: Listener;
let closeParts: () => void;
/** The handler of `/v1/realtime`. It keeps the socket open by default. */
let serve: SocketHandler;
const opened = new Set<WebSocket>();

const startListener = (auth: Auth) =>
  startHttp(
    {
      auth,
      log: recordedLog().log,
      matcher: createMatcher(),
      handlers: {} as Handlers,
      sockets: { 'v1.realtime': (ctx) => serve(ctx) },
      refused: () => {},
      secrets: () => [],
    },
    { host: '127.0.0.1', port: 0, maxConnections: 1024 },
  );

/** A listener with real settings, store and keys. Its only socket route stays open. */
beforeEach(async () => {
  home = scratch();
  serve = ({ websocket }) => websocket.send('in');
  const { log } = recordedLog();
  const settings = await openSettings({ env: { SVC_HOME: home, ...KEYS }, log, watch: false });
  await settings.persist('requireAuth', true);
  await settings.persist('allowedOrigins', ['https://chat.mydomain.org']);
  const store = openStore({ folder: settings.folders.state, log });
  const secretFile = join(settings.folders.state, 'secret.bin');
  const listener = () => ({ bindHost: '127.0.0.1', port: 0, loopback: true });
  const auth = await createAuth({ settings, store, log, secretFile, listener });
  const http = await startListener(auth);
  running = { auth, settings, http, secretFile };
  closeParts = () => {
    settings.close();
    store.close();
  };
});

afterEach(async () => {
  vi.useRealTimers();
  for (const socket of opened) socket.terminate();
  opened.clear();
  await running.http.stop(100);
  closeParts();
});

interface Peer {
  socket: WebSocket;
  /** The close code, once it is closed. */
  closed: Promise<number>;
}

/** Connects and waits for the first message of the handler, or for the close. */
function connect(headers: Record<string, string> = {}): Promise<Peer> {
  const socket = new WebSocket(`ws://127.0.0.1:${running.http.port}/v1/realtime`, { headers });
  opened.add(socket);
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)));
  return new Promise((resolve) => {
    socket.once('message', () => resolve({ socket, closed }));
    socket.once('close', () => resolve({ socket, closed }));
  });
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const session = () => {
  const { setCookie } = running.auth.login(KEYS.SVC_ADMIN_KEY, aRequest({ method: 'POST' }));
  return { cookie: setCookie.split(';')[0] as string };
};

/** Expects that a ping is answered. Everything sent before has arrived then. */
async function expectOpen({ socket }: Peer): Promise<void> {
  expect(socket.readyState).toBe(WebSocket.OPEN);
  const back = new Promise((resolve) => socket.once('pong', resolve));
  socket.ping();
  await back;
  expect(socket.readyState).toBe(WebSocket.OPEN);
}

describe('the id of a request', () => {
  const idOfHandshake = (headers: Record<string, string>) => {
    const socket = new WebSocket(`ws://127.0.0.1:${running.http.port}/v1/realtime`, { headers });
    opened.add(socket);
    socket.on('error', () => {});
    return new Promise<unknown>((resolve) =>
      socket.once('upgrade', ({ headers: answer }) => resolve(answer['x-request-id'])),
    );
  };

  it('is in the handshake response and equals that of the handler', async () => {
    const served = new Promise<string>((resolve) => {
      serve = ({ state }) => resolve(state.id);
    });
    expect(await idOfHandshake(bearer(KEYS.SVC_CLIENT_KEY))).toBe(await served);
  });

  it('is also in the response when the socket is closed at once', async () =>
    expect(await idOfHandshake({})).toEqual(expect.stringMatching(/^\S+$/)));
});

describe('messages', () => {
  it('that arrive in one packet are handled in separate event loop turns, in order', async () => {
    const received: string[] = [];
    let maxActive = 0;
    let active = 0;
    serve = ({ websocket: socket }) => {
      socket.on('message', (data) => {
        received.push(String(data));
        maxActive = Math.max(maxActive, ++active);
        setImmediate(() => (active = 0));
      });
      socket.send('in');
    };
    const client = await connect(bearer(KEYS.SVC_CLIENT_KEY));
    const sent = Array.from({ length: 200 }, (_, at) => String(at));
    for (const word of sent) client.socket.send(word);
    await expectOpen(client);
    expect([received, maxActive]).toEqual([sent, 1]);
  });
});

describe('W02 open sockets are checked again', () => {
  it('when a key is rotated: its callers are closed with 4401, all others stay', async () => {
    const client = await connect(bearer(KEYS.SVC_CLIENT_KEY));
    const admin = await connect(bearer(KEYS.SVC_ADMIN_KEY));
    const browser = await connect(session());
    await running.auth.rotate('client');
    expect(await client.closed).toBe(4401);
    await expectOpen(admin);
    await expectOpen(browser);
    await running.auth.rotate('admin');
    expect(await admin.closed).toBe(4401);
    await expectOpen(browser);
  });

  it('when a session logs out or all sessions are ended', async () => {
    const [first, second] = [session(), session()];
    const loggedOut = await connect(first);
    const other = await connect(second);
    const client = await connect(bearer(KEYS.SVC_CLIENT_KEY));
    running.auth.logout(aRequest({ method: 'POST', with: { Cookie: first.cookie } }));
    expect(await loggedOut.closed).toBe(4401);
    await expectOpen(other);
    await running.auth.endSessions();
    expect(await other.closed).toBe(4401);
    await expectOpen(client);
  });

  it('when enforcement is turned on: only callers with a credential stay', async () => {
    await running.auth.requireAuth(false);
    const anon = await connect();
    const client = await connect(bearer(KEYS.SVC_CLIENT_KEY));
    await running.auth.requireAuth(true);
    expect(await anon.closed).toBe(4401);
    await expectOpen(client);
  });

  it('when the settings change: an origin that is no longer listed is closed with 4403', async () => {
    const listed = await connect({ ...bearer(KEYS.SVC_CLIENT_KEY), origin: 'https://chat.mydomain.org' });
    await expectOpen(listed);
    await running.settings.persist('allowedOrigins', []);
    expect(await listed.closed).toBe(4403);
  });

  it('when enforcement is turned off, a host name that is not listed is closed', async () => {
    const unlisted = await connect({ ...bearer(KEYS.SVC_CLIENT_KEY), host: 'www.attacker.org' });
    await expectOpen(unlisted);
    await running.auth.requireAuth(false);
    expect(await unlisted.closed).toBe(4403);
  });

  it('every 60 s without any event: the socket of an expired session is closed', async () => {
    await running.http.stop(0);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const secret = (await openSigningSecret(running.secretFile)).current();
    running.http = await startListener(running.auth);
    const expiresAt = Math.floor(Date.now() / 1000) + 2;
    const short = { cookie: `svc_session=${issueCookie(secret, { sessionId: 'short', expiresAt })}` };
    const peer = await connect(short);
    vi.advanceTimersByTime(60_000);
    await expectOpen(peer);
    await vi.waitUntil(() => Date.now() / 1000 >= expiresAt, { timeout: 4_000, interval: 20 });
    vi.advanceTimersByTime(60_000);
    expect(await peer.closed).toBe(4401);
  });
});

describe('W01 W03 limits of one socket', () => {
  const client = bearer(KEYS.SVC_CLIENT_KEY);

  it('a message over 32 MiB closes it with 1009', async () => {
    const peer = await connect(client);
    peer.socket.send(Buffer.alloc((32 << 20) + 1));
    expect(await peer.closed).toBe(1009);
  });

  it('a handler that fails closes it with 1011, and the next one is served', async () => {
    serve = () => {
      throw new Error('a defect');
    };
    expect(await (await connect(client)).closed).toBe(1011);
    serve = ({ websocket }) => websocket.send('in');
    await expectOpen(await connect(client));
  });

  it('W03 the 225th client socket is refused with 1013, and the last 32 are reserved for admins until others close', async () => {
    const peers = await Promise.all(Array.from({ length: 224 }, () => connect(client)));
    expect(await (await connect(client)).closed).toBe(1013);
    const admin = bearer(KEYS.SVC_ADMIN_KEY);
    const admins = await Promise.all(Array.from({ length: 32 }, () => connect(admin)));
    await Promise.all(admins.map(expectOpen));
    expect(await (await connect(admin)).closed).toBe(1013);
    const closing = [...admins, ...peers.slice(0, 10)];
    for (const { socket } of closing) socket.close();
    await Promise.all(closing.map(({ closed }) => closed));
    await expectOpen(await connect(client));
  });

  it('the stop of the gateway closes it with 1001', async () => {
    const peer = await connect(client);
    await running.http.stop(2_000);
    expect(await peer.closed).toBe(1001);
  });

  it('a socket during its handshake is also closed with 1001', async () => {
    const { auth } = running;
    const { log } = recordedLog();
    const sockets = new Sockets({ auth, log, refused: () => {}, secrets: () => [] });
    sockets.closeAll();
    const codes: number[] = [];
    const websocket = Object.assign(new EventEmitter(), {
      pause: () => {},
      resume: () => {},
      close: (code: number) => void codes.push(code),
    }) as unknown as WebSocket;
    const headers = { host: 'localhost', ...client };
    const rawHeaders = Object.entries(headers).flat();
    const req = { method: 'GET', url: '/v1/realtime', headers, rawHeaders, socket: {} };
    const ctx = { req, websocket } as unknown as SocketContext;
    const route = createMatcher()('GET', '/v1/realtime').route;
    Object.assign(upgradeOf(ctx.req), admit({ auth, log }, ctx.req, true), { route });
    await sockets.middleware(ctx, () => expect.unreachable());
    websocket.emit('close');
    expect(codes).toEqual([1001]);
  });
});
