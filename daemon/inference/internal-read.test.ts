import { expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { InternalReply } from './internal.ts';
import { eventsOf, refusalOf } from './internal-read.ts';

/** A reply of an engine with these chunks. */
const answerOf = (status: number, text: string): InternalReply => ({
  status,
  headers: {},
  body: (async function* () {
    yield Buffer.from(text);
  })(),
  inBandError: () => null,
  abort() {},
});
const failureIn = async (text: string): Promise<unknown> => {
  try {
    for await (const _ of eventsOf(answerOf(200, `data: ${text}\n\n`)));
  } catch (error) {
    return error;
  }
  return null;
};

it('keeps a code of the catalogue', async () => {
  expect(await failureIn('{"error":{"code":"slot.queue_full","message":"x"}}')).toMatchObject({
    code: 'slot.queue_full',
    status: 429,
  });
});

it.each(['rate_limit_exceeded', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'the foreign code %s becomes a detail of an upstream.error',
  async (code) => {
    const text = JSON.stringify({ error: { code, message: 'x' } });
    const expected = { code: 'upstream.error', message: 'x', options: { details: { code } } };
    const failure = await failureIn(text);
    expect(failure).toBeInstanceOf(GatewayError);
    expect(failure).toMatchObject({ ...expected, status: 502 });
    expect(await refusalOf(answerOf(429, text))).toMatchObject({ ...expected, status: 429 });
  },
);
