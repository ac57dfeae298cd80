/**
 * Case I02, the route of kept pictures over a real port: who gets one, with which headers, and that an answer to anybody
 * else tells nothing of what is kept. ComfyUI is a STAND-IN (it needs a GPU and gigabytes of weights); its pictures are real PNGs.
 * `daemon/inference/images/cache.test.ts` measures that ids which are not kept take the same time, however near they are to one.
 */
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { type HttpResponse, type SendOptions, send } from './harness/http.ts';
import { ImageGateway } from './harness/image-gateway.ts';

const here = new ImageGateway();
const NAME = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const unknown = '/api/images/cache/00000000-0000-4000-8000-000000000000.png';
let kept: string;
beforeAll(async () => {
  kept = (await here.draw({})).data[0]?.url ?? '';
  expect(kept).toMatch(NAME);
});

const at = (method: string, path: string, options: SendOptions = {}) => send(here, method, path, options);

/** All of an answer that does not differ from request to request. */
function told({ status, headers, text }: HttpResponse) {
  const { date: _date, 'x-request-id': id = '', ...rest } = headers;
  return { status, headers: rest, text: text.replaceAll(String(id), 'ID') };
}

/** What every answer of the route has; a browser takes none of them for a page, or lets another site have it. */
const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

describe('I02 the cache route', () => {
  it.each([
    ['nobody', undefined, 401, 401],
    ['a client', CLIENT_KEY, 200, 404],
    ['an admin', ADMIN_KEY, 200, 404],
  ])('%s: a kept one and one that is not', async (_, key, ofKept, ofUnknown) => {
    expect((await at('GET', kept, { key })).status).toBe(ofKept);
    expect((await at('GET', unknown, { key })).status).toBe(ofUnknown);
  });

  it.each(['GET', 'HEAD'])('%s has the headers of a picture that is for its caller alone', async (method) => {
    const { status, headers } = await at(method, kept, { key: CLIENT_KEY });
    expect([status, headers]).toMatchObject([
      200,
      { ...ALWAYS, 'content-type': 'image/png', 'cache-control': 'no-store' },
    ]);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it.each([
    ['an unknown one', unknown, CLIENT_KEY],
    ['a kept one without a key', '', undefined],
    ['no id at all', '/api/images/cache/x.png', CLIENT_KEY],
  ])('a refusal is kept by nobody: %s', async (_, path, key) => {
    const { status, headers } = await at('GET', path || kept, { key });
    expect(status).toBeGreaterThan(400);
    expect(headers).toMatchObject({ ...ALWAYS, 'cache-control': 'no-store' });
    expect(headers['content-type']).toContain('application/json');
  });

  it('to nobody and to a wrong key a kept one and an unknown one look alike, byte for byte', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      for (const options of [
        {},
        { key: 'no-key-of-this-gateway' },
        { headers: { cookie: 'svc_session=x.y' } },
      ]) {
        const [one, other] = [await at(method, kept, options), await at(method, unknown, options)];
        expect(told(one), method).toEqual(told(other));
        expect(one.status).toBe(401);
      }
    }
  });

  it('one that was removed is like one that never was', async () => {
    const { data } = await here.draw({});
    const path = data[0]?.url ?? '';
    unlinkSync(join(here.folder, path.split('/').at(-1) ?? ''));
    const [gone, never] = [
      await at('GET', path, { key: CLIENT_KEY }),
      await at('GET', unknown, { key: CLIENT_KEY }),
    ];
    expect(told(gone)).toEqual(told(never));
    expect(gone).toMatchObject({ status: 404, code: 'image.not_found' });
  });

  it('takes ids of kept pictures and nothing else', async () => {
    const outside = join(here.home, 'config', 'api.env');
    const id = '00000000-0000-4000-8000-00000000000a';
    symlinkSync(outside, join(here.folder, `${id}.png`));
    writeFileSync(join(here.folder, '00000000-0000-4000-8000-00000000000b.png'), '<svg/>');
    const names = [
      `${id}.png`,
      '00000000-0000-4000-8000-00000000000b.png',
      '..%2f..%2fconfig%2fapi.env.png',
      '..%2f..%2fconfig%2fapi.env%00.png',
      '%2e%2e%5c%2e%2e%5capi.env.png',
      `${id.toUpperCase()}.png`,
      `${id}.PNG`,
      `${id}.png.png`,
      `${id}%0a.png`,
      `x/${id}.png`,
      `../cache/${id}.png`,
      '.png',
    ];
    for (const name of names) {
      const response = await at('GET', `/api/images/cache/${name}`, { key: CLIENT_KEY });
      expect([400, 403, 404], `${name}: ${response.status}`).toContain(response.status);
      expect(response.text).not.toContain('SVC_');
    }
    unlinkSync(join(here.folder, `${id}.png`));
  });

  it('HEAD tells the length without the picture', async () => {
    const response = await at('HEAD', kept, { key: CLIENT_KEY });
    expect(response).toMatchObject({ status: 200, text: '' });
    const whole = await (await here.fetchBytes(kept)).arrayBuffer();
    expect(Number(response.headers['content-length'])).toBe(whole.byteLength);
  });
});
