import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsOf, idsOf, listOf, UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const forever = new AbortController().signal;
describe('model lists', () => {
  it('a missing list is read once for all waiting callers, and is then fresh, also after a restart', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a', 'org/b'));
    const upstreams = await bench.desk(fakeUpstream);
    expect(factsOf(upstreams, 'desk')).toMatchObject({ isCold: true, models: [] });
    await Promise.all([upstreams.refreshCold(forever), upstreams.refreshCold(forever)]);
    expect(fakeUpstream.requests).toEqual(['/v1/models']);
    expect(idsOf(upstreams, 'desk')).toEqual(['a', 'org/b']);
    expect(factsOf(upstreams, 'desk')?.isCold).toBe(false);
    const reopened = bench.open();
    expect(idsOf(reopened, 'desk')).toEqual(['a', 'org/b']);
    expect(factsOf(reopened, 'desk')?.isCold).toBe(false);
    bench.wait(601_000);
    expect(factsOf(reopened, 'desk')).toMatchObject({ isCold: true, models: [{ id: 'a' }, { id: 'org/b' }] });
    expect(fakeUpstream.requests).toHaveLength(1);
  });

  it('a stored list is valid only for the address that it came from', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    await (await bench.desk(fakeUpstream)).refreshCold(forever);
    bench.file('desk', 'base_url = "http://elsewhere.test/v1"');
    expect(idsOf(bench.open(), 'desk')).toEqual([]);
  });

  it('one failing or silent upstream never fails the request, and none is contacted again immediately', async () => {
    const good = await bench.fakeUpstream(listOf('a'));
    const bad = await bench.fakeUpstream((_req, res) => res.destroy());
    bench.file('bad', `base_url = "${bad.url}"`);
    bench.file('gone', 'base_url = "http://127.0.0.1:1"');
    const upstreams = await bench.desk(good);
    await upstreams.refreshCold(forever);
    expect(idsOf(upstreams, 'desk')).toEqual(['a']);
    expect(factsOf(upstreams, 'bad')).toMatchObject({ isCold: false, isHealthy: false });
    expect(factsOf(upstreams, 'gone')).toMatchObject({ isCold: false, isHealthy: false });
    await upstreams.refreshCold(forever);
    expect(bad.requests).toHaveLength(1);
    bench.wait(5_000);
    expect(factsOf(upstreams, 'bad')?.isCold).toBe(true);
  });

  it('a caller that disconnects stops waiting, and no upstream is marked as failed', async () => {
    const fakeUpstream = await bench.fakeUpstream(() => {});
    const upstreams = await bench.desk(fakeUpstream);
    const leaving = new AbortController();
    const waiting = upstreams.refreshCold(leaving.signal);
    await expect.poll(() => fakeUpstream.requests.length).toBe(1);
    leaving.abort();
    await waiting;
    expect(upstreams.detail('desk')).toMatchObject({ health: 'unknown', reason: null });
  });

  it.each([
    ['401', 401, '{}', 'auth_failed', /requires a key/],
    ['redirect', 302, '', 'unknown', /redirects/],
    ['404', 404, '<html>', 'unknown', /no model list at this path/],
    ['500', 500, 'oops', 'failing', /status 500/],
    ['HTML', 200, '<html>', 'unknown', /not a model list/],
    ['another shape', 200, '{"data":{}}', 'unknown', /not a model list/],
  ])(
    '%s is reported to the administrator and has no other effect',
    async (_, status, body, health, message) => {
      const canary = await bench.fakeUpstream(listOf('stolen'));
      const fakeUpstream = await bench.fakeUpstream((_req, res) => {
        res.writeHead(status, { location: `${canary.url}/v1/models` });
        res.end(body);
      });
      const upstreams = await bench.desk(fakeUpstream);
      const outcome = await upstreams.readList('desk', forever);
      expect(outcome).toMatchObject({ ok: false, status });
      expect(outcome.message).toMatch(message);
      expect(upstreams.detail('desk')).toMatchObject({ health, models: 0 });
      expect(canary.requests).toEqual([]);
    },
  );

  it('an unrequested compressed list is decoded, but never beyond the limit', async () => {
    let body = gzipSync(JSON.stringify({ data: [{ id: 'packed' }] }));
    const fakeUpstream = await bench.fakeUpstream((_req, res) => {
      res.setHeader('content-encoding', 'gzip');
      res.end(body);
    });
    const upstreams = await bench.desk(fakeUpstream);
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: true });
    expect(fakeUpstream.headers[0]?.['accept-encoding']).toBe('identity');
    body = gzipSync(Buffer.alloc(64 << 20, ' '));
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: false, message: /compressed/ });
    expect(idsOf(upstreams, 'desk')).toEqual(['packed']);
  });

  it('applies the patterns of the file immediately, and a fixed list sends no requests', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a/x', 'a/y', 'b'));
    const upstreams = await bench.desk(fakeUpstream, 'include = ["a/*"]\nexclude = ["*y"]');
    await upstreams.refreshCold(forever);
    expect(idsOf(upstreams, 'desk')).toEqual(['a/x']);
    bench.file('desk', `base_url = "${fakeUpstream.url}"`);
    upstreams.reload();
    expect(idsOf(upstreams, 'desk')).toEqual(['a/x', 'a/y', 'b']);
    bench.file('desk', `base_url = "${fakeUpstream.url}"\nmodels = ["only"]`);
    upstreams.reload();
    expect(factsOf(upstreams, 'desk')).toMatchObject({ isCold: false, models: [{ id: 'only' }] });
    expect(fakeUpstream.requests).toHaveLength(1);
  });

  it('sends requests under the base path with the key in its own header, and identifies itself', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    bench.environment = { UPSTREAM_X: 'sk-0123456789' };
    bench.file(
      'desk',
      `base_url = "${fakeUpstream.url}/openai/v1/"\nkey_env = "UPSTREAM_X"\nheader = "Api-Key"\nkind = "svc"`,
    );
    const upstreams = bench.open();
    await upstreams.refreshCold(forever);
    expect(fakeUpstream.requests).toEqual(['/openai/v1/models?show_all=true']);
    expect(fakeUpstream.headers[0]).toMatchObject({
      'api-key': 'sk-0123456789',
      'x-svc-hops': upstreams.instance,
    });
    expect(fakeUpstream.headers[0]).not.toHaveProperty('authorization');
  });
});

describe('files', () => {
  it('a broken file keeps its last good settings; a deleted one removes its upstream', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    const upstreams = await bench.desk(fakeUpstream);
    await upstreams.refreshCold(forever);
    bench.file('desk', 'base_url = ');
    upstreams.reload();
    expect(upstreams.problems()).toMatchObject([{ file: 'upstreams/desk.toml', line: 1 }]);
    expect(idsOf(upstreams, 'desk')).toEqual(['a']);
    bench.file('desk', `base_url = "${fakeUpstream.url}"\nenabled = false`);
    upstreams.reload();
    expect(upstreams.list()).toEqual([]);
    expect(upstreams.views()).toMatchObject([{ name: 'desk', health: 'disabled' }]);
    expect(() => upstreams.connect('desk')).toThrowError(/removed or disabled/);
  });

  it('emits health and models, once per change', async () => {
    const events: unknown[] = [];
    bench.bus.subscribe(({ name, payload }) => name === 'upstream' && events.push(payload));
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    const upstreams = await bench.desk(fakeUpstream);
    await upstreams.refreshCold(forever);
    upstreams.connect('desk').onEnd({ status: 200 });
    upstreams.connect('desk').onEnd({ status: 500 });
    expect(events).toEqual([
      { name: 'desk', health: 'unknown', models: 0 },
      { name: 'desk', health: 'ok', models: 1 },
      { name: 'desk', health: 'failing', models: 1 },
    ]);
  });

  it('a call that ends after its upstream was removed or moved emits no event', () => {
    bench.file('desk', 'base_url = "http://desk.test"\ndaily_requests = 5');
    const upstreams = bench.open();
    const [moved, removed] = [upstreams.connect('desk'), upstreams.connect('desk')];
    const events: unknown[] = [];
    bench.bus.subscribe(({ name, payload }) => name === 'upstream' && events.push(payload));
    bench.file('desk', 'base_url = "http://elsewhere.test"\ndaily_requests = 5');
    upstreams.reload();
    moved.onEnd({ failed: { code: 'ECONNREFUSED' } });
    expect(upstreams.detail('desk')).toMatchObject({ health: 'unknown', requests_today: 1 });
    rmSync(join(bench.folders.config, 'upstreams', 'desk.toml'));
    upstreams.reload();
    const last = events.length;
    removed.onEnd({ status: 500 });
    expect(events.slice(last)).toEqual([]);
    expect(events).not.toContainEqual(expect.objectContaining({ health: 'failing' }));
    expect(events.at(-1)).toEqual({ name: 'desk', health: 'removed', models: 0 });
  });
});
