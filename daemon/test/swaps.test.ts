/**
 * Slots that do not fit in memory together (docs/spec/contract.md#admission).
 * e2e/system/faults/swap-under-load.test.ts tests many concurrent callers.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExplainView } from '../contract/system.ts';
import { until } from './harness/gateway.ts';
import { replyText, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot } from './harness/slots.ts';
import { type Colour, chatWith, replyOf, startThree } from './harness/three-models.ts';

const gateway = new OneGateway(startThree);

const explain = async (colour: Colour) =>
  (
    await send(gateway, 'POST', '/api/dispatch/explain', {
      body: { path: '/v1/chat/completions', model: colour },
    })
  ).json<ExplainView>();

describe('three slots of which one fits', () => {
  it('explain names the slots that would be evicted and the sum; nothing changes', async () => {
    const [loaded, requested] = ['red', 'blue'] as const;
    expect(replyText(await chatWith(gateway, loaded))).toBe(replyOf(loaded));
    await until(
      async () => (await explain(requested)).load?.outcome === 'evicts',
      'the other slot to be idle',
    );
    const { load } = await explain(requested);
    expect(load).toMatchObject({ evicts: [loaded], sum: { pool: 'host', held: expect.any(Number) } });
    expect(load?.sum.short).toBeGreaterThan(0);
    const pair = await send(gateway, 'POST', '/api/dispatch/explain', {
      body: { path: '/v1/embeddings', model: requested },
    });
    expect(pair.json()).toMatchObject({
      slot: requested,
      load: null,
      error: { code: 'dispatch.capability_mismatch' },
    });
    expect((await explain(loaded)).load).toBeNull();
    expect((await slot(gateway, requested)).state).toBe('offline');
  });

  it('a pinned slot stays, and the error has the whole sum', async () => {
    writeFileSync(
      join(gateway.home, 'config', 'slots', 'green.toml'),
      'model = "green-model"\ncontext = 32768\npinned = true\n',
    );
    await until(async () => (await slot(gateway, 'green')).pinned, 'the file');
    await send(gateway, 'POST', '/api/slots/green/load');
    const refused = await chatWith(gateway, 'red');
    expect(refused).toMatchObject({ status: 507, code: 'slot.no_memory' });
    expect(refused.json()).toMatchObject({
      error: {
        details: {
          slot: 'red',
          needed: expect.any(Number),
          free: expect.any(Number),
          reserved: expect.any(Number),
          kept_free: expect.any(Number),
          short: expect.any(Number),
          limit: expect.any(Number),
          victims: [{ slot: 'green', bytes: expect.any(Number), stays: 'pinned' }],
        },
      },
    });
    expect(replyText(await chatWith(gateway, 'green'))).toBe(replyOf('green'));
  });
});
