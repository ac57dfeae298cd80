import { expect, test } from 'vitest';
import type { CallEnd } from '../../upstreams/call-meaning.ts';
import type { CallOptions } from '../../upstreams/port.ts';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post, until } from '../testing/client.ts';
import { COUNT, hi, JSON_TYPE } from '../testing/dialects.ts';
import { closeAfterEach, setUp } from '../testing/forwarding.ts';

closeAfterEach();

/**
 * Sends one count to an upstream with this response. Returns what the caller got, what was sent, and the
 * reported end.
 */
async function counted(status: number, body: string) {
  const ends: CallEnd[] = [];
  const callOptions: CallOptions[] = [];
  const origin = { now: '' };
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', models: ['far-model'] })],
    connect: (_, options = {}) => {
      callOptions.push(options);
      return upstreamCall({ origin: origin.now, onEnd: (end) => void ends.push(end) });
    },
  };
  const { gateway, engine } = await setUp(
    (req, res) => {
      req.resume();
      res.writeHead(status, JSON_TYPE);
      res.end(body);
    },
    { upstreams },
  );
  origin.now = engine.origin;
  const answer = await post(gateway.origin, COUNT, { model: 'far-model', messages: hi });
  await until(() => ends.length === 1);
  return { status: answer.status, ends, callOptions };
}

test.each([401, 403, 404, 405, 501])(
  '%i for a count only shows that the upstream cannot count',
  async (status) => {
    expect(await counted(status, '{"error":{"message":"Invalid URL (POST /x)","code":null}}')).toMatchObject({
      status: 409,
      ends: [{ lacks: 'count' }],
      callOptions: [{ isTokenCount: true }],
    });
  },
);

test.each([
  [404, '{"error":{"message":"what?","code":"model_not_found"}}'],
  [404, '{"error":{"message":"The model `x` does not exist.","code":404}}'],
  [429, '{"error":{"message":"slow","code":"rate_limit_exceeded"}}'],
  [500, '{"error":{"message":"ouch","code":null}}'],
])('%i %s does not show that the upstream cannot count', async (status, body) => {
  expect(await counted(status, body)).toMatchObject({ status, ends: [{ status }] });
});
