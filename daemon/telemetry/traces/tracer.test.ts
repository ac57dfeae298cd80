import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { Outbound } from '../../lib/net/outbound.ts';
import type { SlotEvent, SlotEventListener } from '../../slots/lifecycle/slot-events.ts';
import { json, type StandIn, standIn } from '../../test/harness/stand-in.ts';
import type { TracedRequest } from './request-spans.ts';
import { createTracer } from './tracer.ts';

let collector: StandIn;
const outbound = new Outbound({ connectMs: () => 2_000 });
beforeAll(async () => {
  collector = await standIn(() => json(200, {}));
});
afterAll(async () => {
  await outbound.close();
  await collector.stop();
});

const request: TracedRequest = {
  ...{ id: 'r1', route: '/v1/chat/completions', tier: 'client', slot: 'second', upstream: null },
  ...{ step: 'loaded-slot', model: 'm', status: 200, error: null, promptTokens: 3, completionTokens: 5 },
  ...{
    receivedMs: 1_000,
    routedMs: 1_010,
    leasedMs: 1_500,
    sentMs: 1_510,
    firstByteMs: 1_700,
    endedMs: 2_000,
  },
};

/** Returns the names of the spans of a request to slot `second` after these events. */
async function spansAfter(events: readonly Pick<SlotEvent, 'slot' | 'kind' | 'startedAt' | 'at'>[]) {
  const listeners: SlotEventListener[] = [];
  const settings: Record<string, unknown> = {
    otlpEndpoint: collector.url,
    otlpHeaders: '',
    otlpServiceName: 'svc-gateway',
  };
  const tracer = createTracer({
    settings: { value: (name) => settings[name] as never },
    outbound,
    slots: {
      onEvent: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    },
    log: createLog({ level: 'silent', write: () => {} }),
    version: '1',
  });
  for (const event of events) for (const listener of listeners) listener({ model: 'm', ...event });
  const context = tracer.begin(undefined);
  if (context === null) throw new Error('tracing is off');
  const before = collector.requests.length;
  tracer.finished(request, context);
  await tracer.stop();
  const bodies = collector.requests.slice(before).map(({ body }) => body);
  return bodies.flatMap((body) => [...body.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name));
}

test.each([
  ['the load of the slot', 'second', 'loaded', 1_100, 1_400, true],
  ['the load of the engine that the slot shares', 'second', 'joined', 1_100, 1_400, true],
  ['an engine that was loaded before the request', 'second', 'joined', 100, 400, false],
  ['the load of another slot', 'first', 'loaded', 1_100, 1_400, false],
  ['a crash', 'second', 'crashed', 1_100, 1_400, false],
] as const)('%s', async (_, slot, kind, startedAt, at, isShown) => {
  const names = await spansAfter([{ slot, kind, startedAt, at }]);
  expect(names).toContain('wait');
  expect(names.includes('load')).toBe(isShown);
});
