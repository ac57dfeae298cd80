import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsOf, idsOf, listOf, UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const forever = new AbortController().signal;
describe('calls', () => {
  it('the key is read again for each call', async () => {
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

  it('an upstream with a refused key ranks behind healthy ones until the key changes, or works again', () => {
    bench.environment = { UPSTREAM_X: 'sk-old-123456' };
    bench.file('desk', 'base_url = "http://desk.test"\nkey_env = "UPSTREAM_X"');
    const upstreams = bench.open();
    upstreams.connect('desk').onEnd({ status: 401 });
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(false);
    upstreams.connect('desk').onEnd({ status: 200 });
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(true);
    upstreams.connect('desk').onEnd({ status: 401 });
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(false);
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(true);
  });

  it('403 is a refused key only while that key was never accepted', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    bench.environment = { UPSTREAM_X: 'sk-old-123456' };
    const upstreams = bench.desk(fakeUpstream, 'key_env = "UPSTREAM_X"');
    const health = (status: number) => {
      upstreams.connect('desk').onEnd({ status });
      return upstreams.detail('desk')?.health;
    };
    expect([health(403), health(404), health(403)]).toEqual(['auth_failed', 'ok', 'auth_failed']);
    expect([health(200), health(403), health(401)]).toEqual(['ok', 'ok', 'auth_failed']);
    await upstreams.readList('desk', forever);
    expect(health(403)).toBe('ok');
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(health(403)).toBe('auth_failed');
  });

  it('a response to an old key has no effect on the new one', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    bench.environment = { UPSTREAM_X: 'sk-old-123456' };
    const upstreams = bench.desk(fakeUpstream, 'key_env = "UPSTREAM_X"');
    const [refused, accepted] = [upstreams.connect('desk'), upstreams.connect('desk')];
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    refused.onEnd({ status: 401 });
    expect(upstreams.detail('desk')?.health).toBe('unknown');
    upstreams.connect('desk').onEnd({ status: 401 });
    accepted.onEnd({ status: 200 });
    expect(upstreams.detail('desk')?.health).toBe('auth_failed');
    const before = upstreams.connect('desk');
    bench.file('desk', `base_url = "${fakeUpstream.url}"\nkey_env = "UPSTREAM_X"\nheader = "x-key"`);
    upstreams.reload();
    before.onEnd({ status: 401 });
    expect(upstreams.detail('desk')?.health).not.toBe('auth_failed');
  });

  it('a list request with an old key is not shared with one with the new key', async () => {
    const going = Promise.withResolvers<void>();
    const fakeUpstream = await bench.fakeUpstream(async (req, res) => {
      if (req.headers.authorization === 'Bearer sk-new-123456') return listOf('a')(req, res);
      await going.promise;
      res.writeHead(401).end();
    });
    bench.environment = { UPSTREAM_X: 'sk-old-123456' };
    const upstreams = bench.desk(fakeUpstream, 'key_env = "UPSTREAM_X"');
    const old = upstreams.readList('desk', forever);
    await expect.poll(() => fakeUpstream.requests.length).toBe(1);
    bench.environment = { UPSTREAM_X: 'sk-new-123456' };
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: true });
    going.resolve();
    expect(await old).toMatchObject({ ok: false, status: 401 });
    expect(upstreams.detail('desk')).toMatchObject({ health: 'ok', models: 1 });
  });

  it('a missing list does not mean that the key is refused', async () => {
    const fakeUpstream = await bench.fakeUpstream((_req, res) => void res.writeHead(404).end());
    const upstreams = bench.desk(fakeUpstream, 'models = ["m"]');
    for (const status of [401, 403]) {
      await upstreams.readList('desk', forever);
      upstreams.connect('desk').onEnd({ status });
      expect(upstreams.detail('desk')?.health).toBe('auth_failed');
    }
  });

  it('a key that may call but not list is not refused where the file lists the models', async () => {
    const fakeUpstream = await bench.fakeUpstream((_req, res) => void res.writeHead(403).end());
    const upstreams = bench.desk(fakeUpstream, 'models = ["m"]');
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: false, status: 403 });
    expect(upstreams.detail('desk')?.health).toBe('auth_failed');
    upstreams.connect('desk').onEnd({ status: 200 });
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: true });
    expect(upstreams.detail('desk')?.health).toBe('ok');
  });

  const REFUSED = { failed: { code: 'ECONNREFUSED' } };
  /** Two upstreams with the model `m`, of which `desk` is preferred. */
  const twoUpstreams = () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m", "n"]');
    bench.file('other', 'base_url = "http://other.test"\nmodels = ["m"]\npriority = 9');
    return bench.open();
  };

  it('is paused after failed connections, and one successful trial restores it', () => {
    const upstreams = twoUpstreams();
    const connect = () => upstreams.connect('desk', { model: 'm' });
    for (let count = 0; count < 2; count++) connect().onEnd(REFUSED);
    expect(upstreams.detail('desk')).toMatchObject({ health: 'down', retry_at: bench.clock.wall + 5000 });
    expect(connect).toThrowError(
      expect.objectContaining({
        code: 'dispatch.upstream_unavailable',
        message:
          'Upstream desk failed 2 times in a row. Last error: It refused the connection: no server listens at this address. Next attempt in 5 s.',
        options: expect.objectContaining({ retryAfterS: 5 }),
      }),
    );
    bench.wait(5000);
    const trial = connect();
    expect(connect).toThrow();
    trial.onEnd({ status: 200 });
    expect(upstreams.detail('desk')).toMatchObject({ health: 'ok', reason: null });
  });

  it.each([
    [200, 'failing', true],
    [401, 'failing', true],
    [500, 'down', false],
    [503, 'down', false],
  ])('a trial with status %d leaves it %s from the first byte on', (status, health, next) => {
    const upstreams = twoUpstreams();
    const connect = () => upstreams.connect('desk', { model: 'm' });
    const older = connect();
    for (let count = 0; count < 2; count++) connect().onEnd(REFUSED);
    bench.wait(5000);
    const trial = connect();
    older.onEnd(null);
    expect(connect).toThrow();
    trial.onResponse(status);
    expect(upstreams.detail('desk')?.health).toBe(health);
    if (next) connect().onEnd(null);
    else expect(connect).toThrow();
    trial.onEnd({ status: 200 });
    expect(upstreams.detail('desk')?.health).toBe('ok');
  });

  it('a bad model is paused, and the other models of the upstream are not', () => {
    const upstreams = twoUpstreams();
    for (let count = 0; count < 5; count++) upstreams.connect('desk', { model: 'm' }).onEnd({ status: 502 });
    for (let count = 0; count < 20; count++)
      expect(() => upstreams.connect('desk', { model: 'm' })).toThrowError(
        /^Model m of upstream desk failed 5 times in a row\. Last error: It answered with status 502\. Next attempt in 5 s\.$/,
      );
    upstreams.connect('desk', { model: 'n' }).onEnd({ status: 200 });
    const { isHealthy, failingModels } = factsOf(upstreams, 'desk') ?? {};
    expect([isHealthy, failingModels]).toEqual([true, new Set(['m'])]);
    expect(upstreams.detail('desk')).toMatchObject({
      health: 'failing',
      reason: 'It answered with status 502.',
    });
    bench.wait(5000);
    upstreams.connect('desk', { model: 'm' }).onEnd({ status: 200 });
    expect(upstreams.detail('desk')?.health).toBe('ok');
    expect(bench.logged.filter((line) => line.includes('"model":"m"'))).toHaveLength(2);
    expect(bench.logged.filter((line) => line.includes('health changed'))).toHaveLength(2);
  });

  it('complete errors of single requests never pause a model', () => {
    const upstreams = twoUpstreams();
    for (let count = 0; count < 20; count++) upstreams.connect('desk', { model: 'm' }).onEnd({ status: 500 });
    expect(upstreams.connect('desk', { model: 'm' })).toBeTruthy();
    expect(upstreams.detail('desk')).toMatchObject({ health: 'failing', retry_at: null });
  });

  it('16 streams that break at once do not refuse the next calls', () => {
    const upstreams = twoUpstreams();
    const connect = () => upstreams.connect('desk', { model: 'm', isBound: true });
    const streams = Array.from({ length: 16 }, connect);
    for (const stream of streams) stream.onResponse(200);
    for (const stream of streams) stream.onEnd({ failed: { code: 'ECONNRESET' } });
    for (let count = 0; count < 5; count++) connect().onEnd({ status: 200 });
    expect(upstreams.detail('desk')?.health).toBe('ok');
  });

  it('is not paused while another call receives data', () => {
    const upstreams = twoUpstreams();
    const stream = upstreams.connect('desk', { model: 'n' });
    stream.onResponse(200);
    const fail = () => upstreams.connect('desk', { model: 'm' }).onEnd(REFUSED);
    for (let count = 0; count < 9; count++) fail();
    bench.wait(9_000);
    stream.onData();
    bench.wait(9_000);
    fail();
    expect(upstreams.detail('desk')?.health).toBe('failing');
    bench.wait(1_000);
    fail();
    expect(upstreams.detail('desk')?.health).toBe('down');
  });

  it.each([
    ['no other upstream has the model', { model: 'n' }],
    ['the model is bound to it', { model: 'm', isBound: true }],
  ])('it is tried about once per second when %s', (_, target) => {
    const upstreams = twoUpstreams();
    for (let count = 0; count < 2; count++) upstreams.connect('desk', target).onEnd(REFUSED);
    for (let count = 0; count < 5; count++) {
      expect(() => upstreams.connect('desk', target)).toThrowError(/Next attempt in [12] s/);
      expect(upstreams.refusal('desk', target)).not.toBeNull();
      bench.wait(1_500);
      upstreams.connect('desk', target).onEnd(REFUSED);
    }
    expect(() => upstreams.connect('desk', { model: 'm' })).toThrowError(/Next attempt in 60 s/);
  });

  it.each([[{ status: 200 }], [{ status: 404 }], [{ status: 400 }], [null]])('%j is not a failure', (end) => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
    const upstreams = bench.open();
    for (let count = 0; count < 9; count++) upstreams.connect('desk').onEnd(end);
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(true);
  });

  it.each([429, 503])(
    'an upstream that responds %d is temporarily busy: ranked behind others, but never paused',
    (status) => {
      bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
      const upstreams = bench.open();
      for (let count = 0; count < 9; count++) upstreams.connect('desk').onEnd({ status });
      expect(factsOf(upstreams, 'desk')).toMatchObject({ isHealthy: true, isBusy: true });
      expect(upstreams.refusal('desk', { model: 'm' })).toBeNull();
      expect(upstreams.detail('desk')).toMatchObject({ health: 'busy', retry_at: null });
      bench.wait(5000);
      expect(factsOf(upstreams, 'desk')).toMatchObject({ isHealthy: true, isBusy: false });
    },
  );

  it('a busy mark is cleared only by the success of a call that started later', () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]');
    const upstreams = bench.open();
    const older = upstreams.connect('desk');
    upstreams.connect('desk').onEnd({ status: 503 });
    older.onEnd({ status: 200 });
    expect(upstreams.detail('desk')?.health).toBe('busy');
    const later = upstreams.connect('desk');
    later.onEnd({ status: 404 });
    expect(upstreams.detail('desk')?.health).toBe('ok');
  });

  it('calls in progress count until their end, and each call moves its upstream behind others', () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]\nweight = 2');
    bench.file('den', 'base_url = "http://den.test"\nmodels = ["m"]');
    const upstreams = bench.open();
    const state = (name: string) => {
      const { active, turn, weight } = factsOf(upstreams, name) ?? { active: 0, turn: 0, weight: 0 };
      return [active, turn, weight];
    };
    const calls = [upstreams.connect('desk'), upstreams.connect('desk')];
    expect([state('desk'), state('den')]).toEqual([
      [2, 1, 2],
      [0, 0, 1],
    ]);
    for (const call of calls) call.onEnd({ status: 200 });
    // It had no calls meanwhile, but gets no more than its share of the next ones.
    upstreams.connect('den').onEnd({ status: 200 });
    expect([state('desk'), state('den')]).toEqual([
      [0, 1, 2],
      [0, 1.5, 1],
    ]);
  });

  it('while one upstream is called, another that is down is polled without a caller', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('b'));
    const fine = await bench.fakeUpstream(listOf('a'));
    bench.file('other', `base_url = "${fakeUpstream.url}"`);
    const upstreams = await bench.desk(fine);
    await upstreams.refreshCold(forever);
    const refused = { failed: { code: 'ECONNREFUSED' } };
    upstreams.connect('other').onEnd(refused);
    upstreams.connect('other').onEnd(refused);
    expect(upstreams.detail('other')?.health).toBe('down');
    upstreams.connect('desk').onEnd({ status: 200 });
    expect(fakeUpstream.requests).toHaveLength(1);
    bench.wait(5000);
    upstreams.connect('desk').onEnd({ status: 200 });
    await expect.poll(() => upstreams.detail('other')?.health).toBe('failing');
    expect(fakeUpstream.requests).toHaveLength(2);
    upstreams.connect('other').onEnd({ status: 200 });
    expect(upstreams.detail('other')?.health).toBe('ok');
  });

  it('a model that the upstream no longer knows marks its list as stale', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    const upstreams = await bench.desk(fakeUpstream);
    await upstreams.refreshCold(forever);
    fakeUpstream.handler = listOf('b');
    upstreams.connect('desk').onEnd({ status: 404 });
    expect(fakeUpstream.requests).toHaveLength(1);
    bench.wait(10_000);
    upstreams.connect('desk').onEnd({ status: 404 });
    await expect.poll(() => idsOf(upstreams, 'desk')).toEqual(['b']);
  });

  it('stops at the daily limit, also after a restart, and counts no request that was not sent', () => {
    bench.file('desk', 'base_url = "http://desk.test"\nmodels = ["m"]\ndaily_requests = 2');
    const upstreams = bench.open();
    upstreams.connect('desk').onEnd({ failed: { code: 'ECONNREFUSED' } });
    upstreams.connect('desk').onEnd({ status: 200 });
    upstreams.connect('desk').onEnd({ status: 500 });
    const reopened = bench.open();
    for (const each of [upstreams, reopened]) {
      expect(() => each.connect('desk')).toThrowError(
        expect.objectContaining({
          code: 'upstream.daily_cap',
          status: 429,
          options: expect.objectContaining({ noRetry: true, details: { resets_in_s: 43_200 } }),
        }),
      );
      expect(factsOf(each, 'desk')?.isHealthy).toBe(false);
    }
    bench.wait(43_200_000);
    expect(reopened.connect('desk')).toBeTruthy();
    expect(reopened.detail('desk')?.requests_today).toBe(1);
  });
});

describe('loops', () => {
  const looped = (work: () => unknown) =>
    expect(work).toThrowError(expect.objectContaining({ code: 'upstream.loop', status: 508 }));

  it('an address of this gateway is refused before anything is sent', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    const upstreams = await bench.desk(fakeUpstream);
    bench.ownAddress = { bindHost: '0.0.0.0', port: Number(new URL(fakeUpstream.url).port) };
    expect(upstreams.detail('desk')).toMatchObject({ health: 'loop' });
    expect(factsOf(upstreams, 'desk')).toMatchObject({ isCold: false, isHealthy: false });
    expect(await upstreams.readList('desk', forever)).toMatchObject({
      ok: false,
      message: /back to this gateway/,
    });
    looped(() => upstreams.connect('desk'));
    expect(fakeUpstream.requests).toEqual([]);
  });

  it('an indirect loop shows in the first response', async () => {
    const fakeUpstream = await bench.fakeUpstream((req, res) => {
      res.setHeader('x-svc-instance', String(req.headers['x-svc-hops']));
      listOf('a')(req, res);
    });
    const upstreams = await bench.desk(fakeUpstream);
    await upstreams.refreshCold(forever);
    expect(idsOf(upstreams, 'desk')).toEqual([]);
    looped(() => upstreams.connect('desk'));
  });

  /** A name that points to this gateway until it `leads` elsewhere. */
  const roundabout = async (more = '') => {
    const way = { leads: 'back' as 'back' | 'nowhere' | 'on' };
    const fakeUpstream = await bench.fakeUpstream((req, res) => {
      if (way.leads === 'nowhere') return void res.writeHead(502).end();
      if (way.leads === 'back') res.setHeader('x-svc-instance', String(req.headers['x-svc-hops']));
      listOf('a')(req, res);
    });
    const upstreams = bench.desk(fakeUpstream, more);
    expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: false, message: /back to this/ });
    return { way, fakeUpstream, upstreams };
  };

  it.each(['', 'models = ["a"]'])(
    'an indirect loop ends when the address leads elsewhere, with "%s"',
    async (more) => {
      const { way, upstreams } = await roundabout(more);
      way.leads = 'nowhere';
      await upstreams.readList('desk', forever);
      expect(upstreams.detail('desk')?.health).toBe('loop');
      way.leads = 'on';
      expect(await upstreams.readList('desk', forever)).toMatchObject({ ok: true });
      expect(idsOf(upstreams, 'desk')).toEqual(['a']);
      upstreams.connect('desk').onEnd({ status: 200 });
      expect(upstreams.detail('desk')?.health).toBe('ok');
    },
  );

  it('an indirect loop is checked again after a pause, like a failure', async () => {
    const { way, fakeUpstream, upstreams } = await roundabout();
    way.leads = 'on';
    await upstreams.refreshCold(forever);
    expect(fakeUpstream.requests).toHaveLength(1);
    bench.wait(5_000);
    expect(factsOf(upstreams, 'desk')?.isCold).toBe(true);
    await upstreams.refreshCold(forever);
    expect(idsOf(upstreams, 'desk')).toEqual(['a']);
  });

  it('new settings for an indirect loop are checked again', async () => {
    const { fakeUpstream, upstreams } = await roundabout();
    bench.file('desk', `base_url = "${fakeUpstream.url}"\nkind = "svc"`);
    upstreams.reload();
    expect(upstreams.detail('desk')?.health).toBe('unknown');
  });

  it('a request that passed this gateway before, or too many gateways, is refused', () => {
    bench.file('desk', 'base_url = "http://desk.test"');
    const upstreams = bench.open();
    expect(upstreams.connect('desk', { hops: 'aa' }).headers['x-svc-hops']).toBe(`aa,${upstreams.instance}`);
    looped(() => upstreams.connect('desk', { hops: `aa,${upstreams.instance}` }));
    looped(() => upstreams.connect('desk', { hops: 'a,b,c,d' }));
  });
});
