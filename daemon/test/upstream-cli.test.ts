/** `svcctl upstreams` and `svcctl explain` against a real daemon. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Front } from './harness/front-gateway.ts';
import { provider, type StandIn } from './harness/stand-in.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const front = new Front();
let desk: StandIn;
beforeAll(async () => {
  await front.start();
  desk = await front.startStandIn(provider('desk-model', 'org/other'));
});
afterAll(() => front.close());

const run = (...args: string[]) => svcctl(args, { env: envFor(front.gateway) });

it('adds, lists, tests and removes an upstream', async () => {
  expect(await run('upstreams', 'list')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/no upstreams/),
  });
  const added = await run('upstreams', 'add', 'desk', desk.url, 'UPSTREAM_DESK', 'vllm');
  expect(added).toMatchObject({ code: 0, err: '' });
  expect(added.out).toMatch(
    new RegExp(`${desk.url}/v1.*vllm.*UPSTREAM_DESK is not set.*upstreams test desk`, 's'),
  );
  expect(await run('upstreams', 'test', 'desk')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/models\s+FAILED\s+-\s+.*Its key is not set: UPSTREAM_\w+ has no value/),
  });
  appendFileSync(join(front.home, 'config/api.env'), 'UPSTREAM_DESK=sk-desk-0123456789\n');
  await expect
    .poll(async () => (await run('upstreams', 'test', 'desk', 'desk-model')).out, { timeout: 20_000 })
    .toMatch(/models\s+ok\s+200\s+.*2 models.*chat\s+ok\s+200\s+.*It answered a chat/s);
  expect(desk.requests.at(-1)?.headers.authorization).toBe('Bearer sk-desk-0123456789');
  const listed = await run('upstreams', 'list');
  expect(listed.out).toMatch(/desk\s+ok\s+2\s+local\s+http:/);
  expect(listed.out).not.toContain('sk-desk');
  expect((await run('upstreams', 'list', '--json')).json()).toMatchObject({
    upstreams: [{ name: 'desk', health: 'ok', key_env: 'UPSTREAM_DESK', key_set: true }],
  });
});

it('explain prints the steps and the target of a request', async () => {
  const remote = await run('explain', 'desk-model');
  expect(remote).toMatchObject({ code: 0, err: '' });
  expect(remote.out).toMatch(/desk-model on \/v1\/chat\/completions/);
  expect(remote.out).toMatch(
    /1 loaded-slot\s+-\s+no loaded slot.*3 upstream-cached\s+=>\s+upstream desk lists/s,
  );
  expect(remote.out).toMatch(
    /Goes to upstream desk\. Every failure goes to the caller: no other upstream is tried\.\n$/,
  );
  const local = await run('explain', 'agent', '--path', '/v1/completions');
  expect(local.out).toMatch(
    /agent on \/v1\/completions, for slot agent.*Goes to slot agent; its model would be loaded/s,
  );
  expect(local.out).toMatch(
    /^ {2}agent: needs [\d.]+ [KMG]iB, [\d.]+ [KMG]iB free in pool host \(starts\)$/m,
  );
  const nowhere = await run('explain', 'nothing-like-it');
  expect(nowhere).toMatchObject({
    code: 1,
    out: expect.stringMatching(/Refused: .*\(dispatch\.no_route\)\n$/),
  });
  const mistyped = await run('explain', 'desk-modle');
  expect(mistyped.out).toMatch(/Did you mean desk-model\? \(dispatch\.no_route\)\n$/);
  const elsewhere = await run('explain', 'agent', '--path', '/v1/foo');
  expect(elsewhere).toMatchObject({ code: 1, out: '' });
  expect(elsewhere.err).toMatch(
    /path must be an inference route such as \/v1\/chat\/completions\. \(request/,
  );
});

it('explain names the memory limit when it is the reason for a rejection', async () => {
  const limit = (memoryLimit: number) =>
    front.send('PUT', '/api/settings', { body: { values: { memoryLimit } } });
  expect((await limit(1_000_000)).status).toBe(200);
  const { out } = await run('explain', 'agent');
  await limit(0);
  expect(out).toMatch(
    /^Refused: Slot \S+ needs \d+ MiB of memory; the setting slots\.memory_limit leaves 0 MiB\./m,
  );
  expect(out).toMatch(
    /^ {2}agent: needs [\d.]+ [KMG]iB, 977 KiB left below slots\.memory_limit in pool host, [\d.]+ [KMG]iB short \(refused\)$/m,
  );
  expect(out).not.toContain('free');
});

it('a key as an argument is rejected and not repeated, and so are invalid arguments', async () => {
  for (const args of [
    ['add', 'x', 'http://desk.lan', 'sk-secret-0123'],
    ['add', 'x'],
    ['test'],
    ['rm'],
    ['list', 'x'],
  ]) {
    const refused = await run('upstreams', ...args);
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/Usage: svcctl upstreams/),
    });
    expect(refused.err).not.toContain('sk-secret');
  }
});

it('removal needs confirmation', async () => {
  expect(await run('upstreams', 'rm', 'desk')).toMatchObject({ code: 5 });
  expect(await run('upstreams', 'rm', 'desk', '--force')).toMatchObject({ code: 0 });
  expect(await run('upstreams', 'rm', 'desk', '--force')).toMatchObject({
    code: 1,
    err: expect.stringContaining('upstream.not_found'),
  });
});
