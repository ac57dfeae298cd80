/**
 * Case I02, the route of stored images over a real port: who may fetch one, with which headers, and that a response to any other
 * caller does not disclose what is stored. ComfyUI is a STAND-IN (it needs a GPU and gigabytes of weights); its images are real PNGs.
 * `daemon/inference/images/cache.test.ts` measures that unknown ids take the same time, however similar they are to a stored one.
 */
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { type HttpResponse, type SendOptions, send } from './harness/http.ts';
import { ImageGateway } from './harness/image-gateway.ts';

const gateway = new ImageGateway();
const NAME = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const unknown = '/api/images/cache/00000000-0000-4000-8000-000000000000.png';
let storedUrl: string;
beforeAll(async () => {
  storedUrl = (await gateway.draw({})).data[0]?.url ?? '';
  expect(storedUrl).toMatch(NAME);
});

const sendTo = (method: string, path: string, options: SendOptions = {}) =>
  send(gateway, method, path, options);

/** The parts of a response that are equal for each request. */
function comparable({ status, headers, text }: HttpResponse) {
  const { date: _date, 'x-request-id': id = '', ...rest } = headers;
  return { status, headers: rest, text: text.replaceAll(String(id), 'ID') };
}

/** Headers of every response: a browser treats none as a page and gives none to another site. */
const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

describe('I02 the cache route', () => {
  it.each([
    ['no key', undefined, 401, 401],
    ['a client', CLIENT_KEY, 200, 404],
    ['an admin', ADMIN_KEY, 200, 404],
  ])('%s: a stored and an unknown image', async (_, key, storedStatus, unknownStatus) => {
    expect((await sendTo('GET', storedUrl, { key })).status).toBe(storedStatus);
    expect((await sendTo('GET', unknown, { key })).status).toBe(unknownStatus);
  });

  it.each(['GET', 'HEAD'])('%s has the headers of a private image', async (method) => {
    const { status, headers } = await sendTo(method, storedUrl, { key: CLIENT_KEY });
    expect([status, headers]).toMatchObject([
      200,
      { ...ALWAYS, 'content-type': 'image/png', 'cache-control': 'no-store' },
    ]);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it.each([
    ['an unknown image', unknown, CLIENT_KEY],
    ['a stored image without a key', '', undefined],
    ['no id at all', '/api/images/cache/x.png', CLIENT_KEY],
  ])('an error is not cacheable: %s', async (_, path, key) => {
    const { status, headers } = await sendTo('GET', path || storedUrl, { key });
    expect(status).toBeGreaterThan(400);
    expect(headers).toMatchObject({ ...ALWAYS, 'cache-control': 'no-store' });
    expect(headers['content-type']).toContain('application/json');
  });

  it('without a key or with a wrong one, stored and unknown images have the same response, byte for byte', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      for (const options of [
        {},
        { key: 'no-key-of-this-gateway' },
        { headers: { cookie: 'svc_session=x.y' } },
      ]) {
        const [one, other] = [
          await sendTo(method, storedUrl, options),
          await sendTo(method, unknown, options),
        ];
        expect(comparable(one), method).toEqual(comparable(other));
        expect(one.status).toBe(401);
      }
    }
  });

  it('a removed image is like an unknown one', async () => {
    const { data } = await gateway.draw({});
    const path = data[0]?.url ?? '';
    unlinkSync(join(gateway.folder, path.split('/').at(-1) ?? ''));
    const [removedResponse, unknownResponse] = [
      await sendTo('GET', path, { key: CLIENT_KEY }),
      await sendTo('GET', unknown, { key: CLIENT_KEY }),
    ];
    expect(comparable(removedResponse)).toEqual(comparable(unknownResponse));
    expect(removedResponse).toMatchObject({ status: 404, code: 'image.not_found' });
  });

  it('accepts ids of stored images only', async () => {
    const outside = join(gateway.home, 'config', 'api.env');
    const id = '00000000-0000-4000-8000-00000000000a';
    symlinkSync(outside, join(gateway.folder, `${id}.png`));
    writeFileSync(join(gateway.folder, '00000000-0000-4000-8000-00000000000b.png'), '<svg/>');
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
      const response = await sendTo('GET', `/api/images/cache/${name}`, { key: CLIENT_KEY });
      expect([400, 403, 404], `${name}: ${response.status}`).toContain(response.status);
      expect(response.text).not.toContain('SVC_');
    }
    unlinkSync(join(gateway.folder, `${id}.png`));
  });

  it('HEAD returns the length without the image', async () => {
    const response = await sendTo('HEAD', storedUrl, { key: CLIENT_KEY });
    expect(response).toMatchObject({ status: 200, text: '' });
    const image = await (await gateway.fetchBytes(storedUrl)).arrayBuffer();
    expect(Number(response.headers['content-length'])).toBe(image.byteLength);
  });
});
