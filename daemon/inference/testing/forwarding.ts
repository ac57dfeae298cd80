import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { type GatewayOptions, listen, openGateway, TestSlots } from './gateway.ts';

/** Cleanup functions of the current test. */
export const closers: (() => Promise<void>)[] = [];

/** Runs the cleanup functions after each test of the calling file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
}

export const CHAT = '/v1/chat/completions';
export const hello = { model: 'agent', messages: [{ role: 'user', content: 'hi' }] };
export const SSE = { 'content-type': 'text/event-stream' };
export const delta = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;

/** Starts a gateway with one slot whose engine is `handler`. */
export async function setUp(handler: RequestListener, more: Partial<GatewayOptions> = {}) {
  const engine = await listen(handler);
  closers.push(engine.close);
  const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]);
  slots.engine = engine.origin;
  const gateway = await openGateway({ slots, ...more });
  closers.push(gateway.close);
  return { engine, slots, gateway };
}

/** Starts a gateway and collects each engine response for the test. */
export async function startWithManualEngine(more: Partial<GatewayOptions> = {}) {
  const responses: ServerResponse[] = [];
  const set = await setUp((_req, res) => void responses.push(res), more);
  return { ...set, responses };
}
