import { expect, test } from 'vitest';
import type { OutboundController } from '../../lib/net/outbound.ts';
import { transcriptEvents } from '../audio/transcript-events.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeListener, ExchangeOptions } from './exchange-options.ts';

/** Returns what a caller whose stream has begun receives for a complete response. */
function relayed(type: string, body: string | Buffer, options: Partial<ExchangeOptions> = {}) {
  const result: { finish?: string; failed?: string; refused?: string; done?: unknown } = {};
  const answer: ExchangeOptions['sink'] = {
    headSent: true,
    begin: () => {},
    write: () => true,
    whenDrained: () => {},
    finish: (last) => {
      result.finish = String(last);
    },
    fail: (error) => {
      result.failed = error.code;
    },
    failWith: () => {},
  };
  const owner: ExchangeListener = {
    done: (end) => {
      result.done = end;
    },
    refused: (error) => {
      result.refused = error.code;
    },
    unanswered: () => {},
  };
  const exchange = new Exchange({ sink: answer, asEvents: transcriptEvents, ...options }, owner);
  const controller = { abort: () => {}, pause: () => {}, resume: () => {} } as unknown as OutboundController;
  exchange.onResponseStart(controller, 200, { 'content-type': type });
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 32_768)
    exchange.onResponseData(controller, bytes.subarray(at, at + 32_768));
  exchange.onResponseEnd();
  return result;
}

test('a complete response for a stream that has begun is sent as events', () => {
  const text = 'word '.repeat(30_000);
  const { finish, failed, done } = relayed('application/json', JSON.stringify({ text }));
  expect([failed, done]).toEqual([undefined, null]);
  const events = (finish ?? '').split('\n\n').filter((each) => each !== '');
  expect(events.map((each) => JSON.parse(each.slice('data: '.length)) as object)).toEqual([
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text },
  ]);
});

test('any other response, or one that has no event form, is a failure', () => {
  for (const result of [
    relayed('text/plain', 'WEBVTT'),
    relayed('application/json', '{"error":{"message":"no"}}'),
    relayed('application/json', '{"text":"x"}', { asEvents: undefined }),
    relayed('audio/mpeg', Buffer.alloc(100_000)),
  ])
    expect(result).toEqual({ refused: 'upstream.error' });
});
