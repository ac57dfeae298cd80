/** C24: for any request target, only an open route serves a caller without a credential. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, effectiveClass } from '../auth/gate.ts';
import type { Tier } from '../contract/auth.ts';
import { ROUTES, type RouteRow, routeRows } from '../contract/routes.ts';
import { createMatcher } from '../http/matcher.ts';
import { splitTarget } from '../lib/net/request-target.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { parseRaw, rawExchange } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { isOpenTarget, LOCKED, RANK } from './harness/open-targets.ts';
import { scale, seed } from './harness/scale.ts';
import { handshake } from './harness/socket.ts';

const SEED = seed('targets C24');
/** Inputs of the in-process fuzz of the catalogue, which are cheap. */
const RUNS = scale(1_000_000);
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'Post',
];

const rows = Object.values(ROUTES) as RouteRow[];
const segments = [
  ...new Set(rows.flatMap(({ path }) => path.split('/')).map((each) => each.replace(/[:*]/, ''))),
];

/** Pieces that targets are made of: real segments, ways to leave them, encodings, separators. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...segments) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '.',
      '..',
      '%2e',
      '%2E%2e',
      '%252e',
      '...',
      '',
      '%00',
      '%2f',
      '%5c',
      '\\',
      'a@[x',
      ';a=b',
      '%20',
      '*',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'MODELS',
      'Api',
      'V1',
      'модели',
      '%d0%bc',
      '\u2025',
      'models.json',
      'index.html',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);
const tail = fc.constantFrom(
  '',
  '',
  '',
  '/',
  '?',
  '#',
  '?show_all=true',
  '#/v1/models',
  '?/v1/models',
  '//',
  '%',
  '?api_key=',
  ';',
);
const prefix = fc.constantFrom(
  '',
  '',
  '',
  '',
  '',
  '/',
  'http://127.0.0.1',
  'http://localhost',
  'HTTP://127.0.0.1',
  'http:/',
  '*',
);
const joined = fc
  .tuple(
    prefix,
    fc.array(fc.tuple(fc.constantFrom('/', '/', '/', '/', '//', '\\', '%2f', '/./'), piece), {
      maxLength: 6,
    }),
    tail,
  )
  .map(([start, parts, end]) => start + parts.map(([slash, text]) => slash + text).join('') + end);
/** A path of the table, whole or with one character changed. */
const near = fc
  .tuple(
    fc.constantFrom(...rows.map(({ path }) => path.replace(/[:*]\w+/g, 'x'))),
    fc.nat(40),
    fc.constantFrom('', '/', '%', 'A', '.', '?', '#', '\\', ';', '%2f'),
  )
  .map(([path, at, text]) => path.slice(0, at) + text + path.slice(at));
/** Targets that a URL parser reads as one with a host, or cannot parse. */
const hostLike = fc
  .tuple(
    fc.constantFrom('//', '/\\', '\\\\', '///'),
    fc.constantFrom('a@[x', '[', 'x@h', 'a:b@c:99999', '%zz'),
    fc.constantFrom('', '/', '\\'),
    piece,
  )
  .map((parts) => parts.join(''));
const target = fc.oneof({ weight: 4, arbitrary: joined }, { weight: 4, arbitrary: near }, hostLike);
const method = fc.constantFrom(...METHODS);

describe('in process: matcher and gate', () => {
  const match = createMatcher();

  it('C24 the decided class is the class of the matched row; nothing else lets an anonymous caller pass', () => {
    let ran = 0;
    fc.assert(
      fc.property(
        method,
        target,
        fc.constantFrom('anon', 'client', 'admin') as fc.Arbitrary<Tier>,
        (verb, raw, tier) => {
          const split = splitTarget(raw);
          if (!split) return;
          const { route, params, allow } = match(verb, split.path);
          const verdict = decide(route?.auth ?? 'admin', tier, LOCKED);
          const needed = RANK[effectiveClass(route?.auth ?? 'admin', LOCKED)];
          expect(verdict === 'pass').toBe(RANK[tier] >= needed);
          if (tier === 'anon' && verdict === 'pass')
            expect(isOpenTarget(verb, raw), `${verb} ${raw}`).toBe(true);
          if (!route) return;
          ran++;
          expect(route).toMatchObject(ROUTES[route.id]);
          expect([route.method, ...(route.method === 'GET' ? ['HEAD'] : [])]).toContain(verb);
          expect(allow).toContain(verb);
          for (const value of Object.values(params)) expect(value).not.toBe('');
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
    expect(ran).toBeGreaterThan(RUNS / 100);
  }, 60_000);

  it('C24 a path of the table matches its own row only', () => {
    for (const row of routeRows()) {
      const path = row.path.replace(/[:*]\w+/g, 'x');
      for (const changed of [
        path.toUpperCase(),
        `${path}/`,
        `/${path}`,
        `${path}%00`,
        path.replace('/', '/./'),
      ]) {
        if (changed === path) continue;
        const found = match(row.method, changed).route;
        // `/v1/` has a separate row.
        if (found && found.path !== changed) expect(found.path, changed).toMatch(/[:*]/);
        expect(found?.id === row.id && !/[:*]/.test(row.path), changed).toBe(false);
      }
    }
  });
});

describe('over the port', () => {
  const gateway = new OneGateway(() => startLocked({ env: { SVC_LOG_LEVEL: 'info' } }));

  /** Bytes that a request line can carry; the parser rejects the rest, which is sent unchanged. */
  const send = async (verb: string, raw: string, headers = '') =>
    parseRaw(
      await rawExchange(
        gateway,
        Buffer.from(`${verb} ${raw} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}connection: close\r\n\r\n`),
        5_000,
      ),
    );

  /** Returns the first bytes received, and closes the socket. */
  const firstBytes = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(text));
      socket.on('error', () => {});
      socket.on('close', () => resolve(''));
      socket.once('data', (chunk) => {
        resolve(chunk.toString('latin1'));
        socket.destroy();
      });
    });

  const fuzz = (count: number, check: (verb: string, raw: string) => Promise<void>) =>
    fc.assert(fc.asyncProperty(method, target, check), { numRuns: count, seed: SEED, endOnFailure: true });

  it('C24 no anonymous 2xx off the open list, no 5xx', async () => {
    await fuzz(scale(100_000), async (verb, raw) => {
      const { status, text } = await send(verb, raw);
      const label = `${verb} ${JSON.stringify(raw)} → ${status} ${text.slice(0, 120)}`;
      expect(status === 501 || status < 500, label).toBe(true);
      expect(status, label).toBeGreaterThanOrEqual(200);
      if (status < 300 && verb !== 'OPTIONS') expect(isOpenTarget(verb, raw), label).toBe(true);
    });
  }, 60_000);

  it('C24 a client never reaches an admin row', async () => {
    const match = createMatcher();
    await fuzz(scale(50_000), async (verb, raw) => {
      const { status } = await send(verb, raw, `authorization: Bearer ${CLIENT_KEY}\r\n`);
      const split = splitTarget(raw);
      const route = split ? match(verb, split.path).route : null;
      const label = `${verb} ${JSON.stringify(raw)} → ${status}`;
      expect(status === 501 || status === 503 || status < 500, label).toBe(true);
      if (status < 300 && verb !== 'OPTIONS') expect(['open', 'client'], label).toContain(route?.auth);
    });
  }, 60_000);

  it('C24 an upgrade with any target ends in a close or a refusal, and the gateway lives', async () => {
    await fuzz(scale(50_000), async (_verb, raw) => {
      const response = await firstBytes(handshake(raw, { authorization: `Bearer ${ADMIN_KEY}` }));
      expect(response, raw).toMatch(/^HTTP\/1\.1 (101|400|404|426) /);
    });
    expect((await send('GET', '/api/health')).status).toBe(200);
    expect(gateway.output()).not.toContain('unexpected');
  }, 60_000);
});
