/** M01: a wall clock that jumps by years, forwards and backwards. Durations use the monotonic clock, so nothing waits for years. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tierOf } from './harness/auth-gateways.ts';
import { drawnPng } from './harness/drawn-png.ts';
import { ADMIN_KEY, until } from './harness/gateway.ts';
import { login, replyText, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { clockOf, createClock } from './harness/set-clock.ts';
import { slot } from './harness/slots.ts';
import { type Colour, chatWith, replyOf, startThree } from './harness/three-models.ts';

const TEN_YEARS = 3_652 * 86_400_000;
const SESSION_MS = 8 * 3_600_000;
const IMAGE_ID = '12345678-1234-4234-8234-123456789abc';
/** The date of a machine without a clock battery. */
const clock = createClock(1_000 - Date.now());
afterAll(clock.remove);
const gateway = new OneGateway(() => startThree(undefined, { ...clock.env, SVC_ADMIN_KEY: ADMIN_KEY }));

const replyOfSlot = async (colour: Colour) => replyText(await chatWith(gateway, colour));
const tryLogin = () =>
  send(gateway, 'POST', '/api/auth/login', { body: { key: 'wrong' }, from: '127.0.0.9' });
const imageFile = () => join(gateway.home, 'state', 'images', `${IMAGE_ID}.png`);

describe('M01 the wall clock', () => {
  it('at 1970: serves requests and logins', async () => {
    expect(await clockOf(gateway)).toBeLessThan(86_400_000);
    mkdirSync(join(gateway.home, 'state', 'images'), { recursive: true, mode: 0o700 });
    writeFileSync(imageFile(), drawnPng({ width: 16, height: 16, seed: 1 }), { mode: 0o600 });
    expect(await tierOf(gateway, { cookie: await login(gateway, ADMIN_KEY) })).toBe('admin');
    expect(await replyOfSlot('red')).toBe(replyOf('red'));
  });

  it('that is corrected ends the earlier sessions and only those', async () => {
    const before = await login(gateway, ADMIN_KEY);
    await clock.set(gateway, 0);
    expect(await tierOf(gateway, { cookie: before })).toBe('anon');
    const after = await login(gateway, ADMIN_KEY);
    await clock.set(gateway, SESSION_MS / 2);
    expect(await tierOf(gateway, { cookie: after })).toBe('admin');
    await clock.set(gateway, 0);
    expect(await tierOf(gateway, { cookie: after })).toBe('admin');
  });

  it('ten years forwards and back: a block of the limiter keeps its duration, a session from the future is invalid', async () => {
    for (let n = 0; n < 10; n++) expect((await tryLogin()).status).toBe(401);
    for (const ms of [TEN_YEARS, -TEN_YEARS, TEN_YEARS, 0]) {
      await clock.set(gateway, ms);
      const blocked = await tryLogin();
      expect(blocked.status).toBe(429);
      expect(Number(blocked.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    await clock.set(gateway, TEN_YEARS);
    const future = await login(gateway, ADMIN_KEY);
    await clock.set(gateway, 0);
    expect(await tierOf(gateway, { cookie: future })).toBe('anon');
  });

  it('ten years back: a loaded model is evicted for another without delay', { timeout: 60_000 }, async () => {
    expect(await replyOfSlot('red')).toBe(replyOf('red'));
    await clock.set(gateway, -TEN_YEARS);
    expect(await replyOfSlot('blue')).toBe(replyOf('blue'));
    expect(await replyOfSlot('green')).toBe(replyOf('green'));
  });

  it('ten years back while a slot has failed: the retry is seconds away, and Retry-After says so', {
    timeout: 60_000,
  }, async () => {
    await clock.set(gateway, 0);
    const { pid } = await slot(gateway, 'green');
    process.kill(pid as number, 'SIGKILL');
    await until(async () => (await slot(gateway, 'green')).state === 'error', 'the failure');
    await clock.set(gateway, -TEN_YEARS);
    const refused = await chatWith(gateway, 'green');
    if (refused.status !== 200) {
      expect(refused.code).toBe('slot.failed');
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(5);
    }
    await until(async () => (await slot(gateway, 'green')).state === 'ready', 'the next attempt', 30_000);
    expect(await replyOfSlot('green')).toBe(replyOf('green'));
  });

  it('has removed no image and caused no error', () => {
    expect(existsSync(imageFile())).toBe(true);
    expect(gateway.output()).not.toMatch(/unexpected/);
  });
});
