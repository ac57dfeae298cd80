import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listOf, type Player, UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const forever = new AbortController().signal;
const facts = (upstreams: ReturnType<UpstreamsBench['open']>, name: string) =>
  upstreams.list().find((each) => each.name === name);
const ids = (upstreams: ReturnType<UpstreamsBench['open']>, name: string) =>
  facts(upstreams, name)?.models.map(({ id }) => id);

/** An upstream `desk` of which `player` is the server. */
async function desk(player: Player, more = '') {
  bench.file('desk', `base_url = "${player.url}"\n${more}`);
  return bench.open();
}

describe('model lists', () => {
  it('a cold one is read once for all who wait, and is then warm, over a restart too', async () => {
    const player = await bench.player(listOf('a', 'org/b'));
    const upstreams = await desk(player);
    expect(facts(upstreams, 'desk')).toMatchObject({ cold: true, models: [] });
    await Promise.all([upstreams.refreshCold(forever), upstreams.refreshCold(forever)]);
    expect(player.asked).toEqual(['/v1/models']);
    expect(ids(upstreams, 'desk')).toEqual(['a', 'org/b']);
    expect(facts(upstreams, 'desk')?.cold).toBe(false);
    const again = bench.open();
    expect(ids(again, 'desk')).toEqual(['a', 'org/b']);
    expect(facts(again, 'desk')?.cold).toBe(false);
    bench.wait(601_000);
    expect(facts(again, 'desk')).toMatchObject({ cold: true, models: [{ id: 'a' }, { id: 'org/b' }] });
    expect(player.asked).toHaveLength(1);
  });

  it('a kept list counts only for the address that it came from', async () => {
    const player = await bench.player(listOf('a'));
    await (await desk(player)).refreshCold(forever);
    bench.file('desk', 'base_url = "http://elsewhere.test/v1"');
    expect(ids(bench.open(), 'desk')).toEqual([]);
  });

  it('one failing or silent leg never fails the request, and none is asked again at once', async () => {
    const good = await bench.player(listOf('a'));
    const bad = await bench.player((_req, res) => res.destroy());
    bench.file('bad', `base_url = "${bad.url}"`);
    bench.file('gone', 'base_url = "http://127.0.0.1:1"');
    const upstreams = await desk(good);
    await upstreams.refreshCold(forever);
    expect(ids(upstreams, 'desk')).toEqual(['a']);
    expect(facts(upstreams, 'bad')).toMatchObject({ cold: false, healthy: false });
    expect(facts(upstreams, 'gone')).toMatchObject({ cold: false, healthy: false });
    await upstreams.refreshCold(forever);
    expect(bad.asked).toHaveLength(1);
    bench.wait(5_000);
    expect(facts(upstreams, 'bad')?.cold).toBe(true);
  });

  it('a caller who leaves stops waiting, and blames nobody', async () => {
    const player = await bench.player(() => {});
    const upstreams = await desk(player);
    const leaving = new AbortController();
    const waiting = upstreams.refreshCold(leaving.signal);
    await expect.poll(() => player.asked.length).toBe(1);
    leaving.abort();
    await waiting;
    expect(upstreams.detail('desk')).toMatchObject({ health: 'unknown', reason: null });
  });

  it.each([
    ['401', 401, '{}', 'auth_failed', /asks for a key/],
    ['redirect', 302, '', 'unknown', /redirects/],
    ['404', 404, '<html>', 'unknown', /no model list there/],
    ['500', 500, 'oops', 'failing', /status 500/],
    ['HTML', 200, '<html>', 'unknown', /no model list/],
    ['another shape', 200, '{"data":{}}', 'unknown', /no model list/],
  ])(
    '%s is told to the administrator and costs nobody else anything',
    async (_, status, body, health, message) => {
      const canary = await bench.player(listOf('stolen'));
      const player = await bench.player((_req, res) => {
        res.writeHead(status, { location: `${canary.url}/v1/models` });
        res.end(body);
      });
      const upstreams = await desk(player);
      const outcome = await upstreams.readList('desk', forever);
      expect(outcome).toMatchObject({ ok: false, status });
      expect(outcome.message).toMatch(message);
      expect(upstreams.detail('desk')).toMatchObject({ health, models: 0 });
      expect(canary.asked).toEqual([]);
    },
  );

  it('is decoded when it is compressed all the same, but never past the bound', async () => {
    let body = gzipSync(JSON.stringify({ data: [{ id: 'packed' }] }));
    const player = await bench.player((_req, res) => {
      res.setHeader('content-encoding', 'gzip');
      res.end(body);
    });
    const upstreams = await desk(player);
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: true });
    expect(player.headers[0]?.['accept-encoding']).toBe('identity');
    body = gzipSync(Buffer.alloc(64 << 20, ' '));
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: false, message: /compressed/ });
    expect(ids(upstreams, 'desk')).toEqual(['packed']);
  });

  it('follows the patterns of the file at once, and a fixed list asks nobody', async () => {
    const player = await bench.player(listOf('a/x', 'a/y', 'b'));
    const upstreams = await desk(player, 'include = ["a/*"]\nexclude = ["*y"]');
    await upstreams.refreshCold(forever);
    expect(ids(upstreams, 'desk')).toEqual(['a/x']);
    bench.file('desk', `base_url = "${player.url}"`);
    upstreams.reload();
    expect(ids(upstreams, 'desk')).toEqual(['a/x', 'a/y', 'b']);
    bench.file('desk', `base_url = "${player.url}"\nmodels = ["only"]`);
    upstreams.reload();
    expect(facts(upstreams, 'desk')).toMatchObject({ cold: false, models: [{ id: 'only' }] });
    expect(player.asked).toHaveLength(1);
  });

  it('asks under the base path with the key in its own header, and tells who asks', async () => {
    const player = await bench.player(listOf('a'));
    bench.environment = { UPSTREAM_X: 'sk-0123456789' };
    bench.file(
      'desk',
      `base_url = "${player.url}/openai/v1/"\nkey_env = "UPSTREAM_X"\nheader = "Api-Key"\nkind = "svc"`,
    );
    const upstreams = bench.open();
    await upstreams.refreshCold(forever);
    expect(player.asked).toEqual(['/openai/v1/models?show_all=true']);
    expect(player.headers[0]).toMatchObject({ 'api-key': 'sk-0123456789', 'x-svc-hops': upstreams.instance });
    expect(player.headers[0]).not.toHaveProperty('authorization');
  });
});

describe('files', () => {
  it('a file that breaks keeps its last good settings; one that goes takes its upstream along', async () => {
    const player = await bench.player(listOf('a'));
    const upstreams = await desk(player);
    await upstreams.refreshCold(forever);
    bench.file('desk', 'base_url = ');
    upstreams.reload();
    expect(upstreams.problems()).toMatchObject([{ file: 'upstreams/desk.toml', line: 1 }]);
    expect(ids(upstreams, 'desk')).toEqual(['a']);
    bench.file('desk', `base_url = "${player.url}"\nenabled = false`);
    upstreams.reload();
    expect(upstreams.list()).toEqual([]);
    expect(upstreams.views()).toMatchObject([{ name: 'desk', health: 'disabled' }]);
    expect(() => upstreams.connect('desk')).toThrowError(/gone/);
  });

  it('tells about health and models, once for each change', async () => {
    const heard: unknown[] = [];
    bench.bus.subscribe(({ name, payload }) => name === 'upstream' && heard.push(payload));
    const player = await bench.player(listOf('a'));
    const upstreams = await desk(player);
    await upstreams.refreshCold(forever);
    upstreams.connect('desk').ended({ status: 200 });
    upstreams.connect('desk').ended({ status: 500 });
    expect(heard).toEqual([
      { name: 'desk', health: 'unknown', models: 0 },
      { name: 'desk', health: 'ok', models: 1 },
      { name: 'desk', health: 'failing', models: 1 },
    ]);
  });
});

describe('calls', () => {
  it('the key is read anew for each call', async () => {
    bench.environment = { UPSTREAM_X: ' sk-old-123456 ' };
    bench.file('desk', 'base_url = "http://desk.test"\nkey_env = "UPSTREAM_X"');
    const upstreams = bench.open();
    expect(upstreams.connect('desk').headers.authorization).toBe('Bearer sk-old-123456');
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(upstreams.connect('desk').headers.authorization).toBe('Bearer sk-new-123456');
    for (const bad of [undefined, ' ', 'two\nlines', 'gr\u00fcn']) {
      bench.environment = bad === undefined ? {} : { UPSTREAM_X: bad };
      expect(() => upstreams.connect('desk')).toThrowError(
        expect.objectContaining({ code: 'upstream.auth_failed' }),
      );
      expect(upstreams.detail('desk')).toMatchObject({ health: 'auth_failed', key_set: false });
    }
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(upstreams.detail('desk')).toMatchObject({ health: 'unknown', key_set: true });
    expect(JSON.stringify([upstreams.detail('desk'), upstreams.views(), bench.logged])).not.toContain('sk-');
  });

  it('a refused key stands behind healthy ones until it is another, or works again', () => {
    bench.environment = { UPSTREAM_X: 'sk-old-123456' };
    bench.file('desk', 'base_url = "http://desk.test"\nkey_env = "UPSTREAM_X"');
    const upstreams = bench.open();
    upstreams.connect('desk').ended({ status: 401 });
    expect(facts(upstreams, 'desk')?.healthy).toBe(false);
    upstreams.connect('desk').ended({ status: 200 });
    expect(facts(upstreams, 'desk')?.healthy).toBe(true);
    upstreams.connect('desk').ended({ status: 403 });
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(facts(upstreams, 'desk')?.healthy).toBe(true);
  });

  it('is left alone after failures in a row, and one trial brings it back', () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
    const upstreams = bench.open();
    for (let count = 0; count < 5; count++) upstreams.connect('desk').ended({ status: 500 });
    expect(upstreams.detail('desk')).toMatchObject({ health: 'down', retry_at: bench.clock.wall + 5000 });
    expect(() => upstreams.connect('desk')).toThrowError(
      expect.objectContaining({
        code: 'dispatch.upstream_unavailable',
        options: expect.objectContaining({ retryAfterS: 5 }),
      }),
    );
    bench.wait(5000);
    const trial = upstreams.connect('desk');
    expect(() => upstreams.connect('desk')).toThrow();
    trial.ended({ status: 200 });
    expect(upstreams.detail('desk')).toMatchObject({ health: 'ok', reason: null });
  });

  it.each([[{ status: 200 }], [{ status: 404 }], [{ status: 400 }], [null]])('%j is no failure', (end) => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
    const upstreams = bench.open();
    for (let count = 0; count < 9; count++) upstreams.connect('desk').ended(end);
    expect(facts(upstreams, 'desk')?.healthy).toBe(true);
  });

  it.each([429, 503])(
    'one that answers %d is busy for a moment: behind others, but never left alone',
    (status) => {
      bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
      const upstreams = bench.open();
      for (let count = 0; count < 9; count++) upstreams.connect('desk').ended({ status });
      expect(facts(upstreams, 'desk')?.healthy).toBe(false);
      expect(upstreams.detail('desk')).toMatchObject({ health: 'busy', retry_at: null });
      bench.wait(5000);
      expect(facts(upstreams, 'desk')?.healthy).toBe(true);
    },
  );

  it('while one is called, another that is down is looked at, without a caller having to try it', async () => {
    const player = await bench.player(listOf('b'));
    const fine = await bench.player(listOf('a'));
    bench.file('other', `base_url = "${player.url}"`);
    const upstreams = await desk(fine);
    await upstreams.refreshCold(forever);
    const refused = { failed: { code: 'ECONNREFUSED' } };
    upstreams.connect('other').ended(refused);
    upstreams.connect('other').ended(refused);
    expect(upstreams.detail('other')?.health).toBe('down');
    upstreams.connect('desk').ended({ status: 200 });
    expect(player.asked).toHaveLength(1);
    bench.wait(5000);
    upstreams.connect('desk').ended({ status: 200 });
    await expect.poll(() => upstreams.detail('other')?.health).toBe('failing');
    expect(player.asked).toHaveLength(2);
    upstreams.connect('other').ended({ status: 200 });
    expect(upstreams.detail('other')?.health).toBe('ok');
  });

  it('a model that the upstream does not know any more makes its list doubtful', async () => {
    const player = await bench.player(listOf('a'));
    const upstreams = await desk(player);
    await upstreams.refreshCold(forever);
    player.play = listOf('b');
    upstreams.connect('desk').ended({ status: 404 });
    expect(player.asked).toHaveLength(1);
    bench.wait(10_000);
    upstreams.connect('desk').ended({ status: 404 });
    await expect.poll(() => ids(upstreams, 'desk')).toEqual(['b']);
  });

  it('stops at the cap of the day, over a restart too, and counts nothing that never left', () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]\ndaily_requests = 2');
    const upstreams = bench.open();
    upstreams.connect('desk').ended({ failed: { code: 'ECONNREFUSED' } });
    upstreams.connect('desk').ended({ status: 200 });
    upstreams.connect('desk').ended({ status: 500 });
    const again = bench.open();
    for (const each of [upstreams, again]) {
      expect(() => each.connect('desk')).toThrowError(
        expect.objectContaining({
          code: 'upstream.daily_cap',
          status: 429,
          options: expect.objectContaining({ noRetry: true, details: { resets_in_s: 43_200 } }),
        }),
      );
      expect(facts(each, 'desk')?.healthy).toBe(false);
    }
    bench.wait(43_200_000);
    expect(again.connect('desk')).toBeTruthy();
    expect(again.detail('desk')?.requests_today).toBe(1);
  });
});

describe('loops', () => {
  const looped = (work: () => unknown) =>
    expect(work).toThrowError(expect.objectContaining({ code: 'upstream.loop', status: 508 }));

  it('an address of our own is refused before anything is sent', async () => {
    const player = await bench.player(listOf('a'));
    const upstreams = await desk(player);
    bench.place = { bindHost: '0.0.0.0', port: Number(new URL(player.url).port) };
    expect(upstreams.detail('desk')).toMatchObject({ health: 'loop' });
    expect(facts(upstreams, 'desk')).toMatchObject({ cold: false, healthy: false });
    expect(await upstreams.readList('desk', forever)).toMatchObject({
      ok: false,
      message: /back to this gateway/,
    });
    looped(() => upstreams.connect('desk'));
    expect(player.asked).toEqual([]);
  });

  it('a way round shows in the first answer', async () => {
    const player = await bench.player((req, res) => {
      res.setHeader('x-svc-instance', String(req.headers['x-svc-hops']));
      listOf('a')(req, res);
    });
    const upstreams = await desk(player);
    await upstreams.refreshCold(forever);
    expect(ids(upstreams, 'desk')).toEqual([]);
    looped(() => upstreams.connect('desk'));
  });

  it('a request that was here before, or passed too many gateways, ends here', () => {
    bench.file('desk', 'base_url = "http://desk.test"');
    const upstreams = bench.open();
    expect(upstreams.connect('desk', { hops: 'aa' }).headers['x-svc-hops']).toBe(`aa,${upstreams.instance}`);
    looped(() => upstreams.connect('desk', { hops: `aa,${upstreams.instance}` }));
    looped(() => upstreams.connect('desk', { hops: 'a,b,c,d' }));
  });
});
