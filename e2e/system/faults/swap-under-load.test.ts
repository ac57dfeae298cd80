/**
 * Three slots of which one fits in memory, with many concurrent requests to each (docs/spec/contract.md#admission). Every
 * response must come from the right model, with few swaps. daemon/test/swaps.test.ts tests single requests.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import { until } from '../../../daemon/test/harness/gateway.ts';
import { replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { randomFrom, scale, seed } from '../../../daemon/test/harness/scale.ts';
import { slots } from '../../../daemon/test/harness/slots.ts';
import {
  COLOURS,
  type Colour,
  chatWith,
  engineStarts,
  replyOf,
  slotFile,
  startThree,
} from '../../../daemon/test/harness/three-models.ts';

/** Concurrent callers. */
const CALLERS = 24;

const gateway = new OneGateway(startThree);

const ours = (all: SlotRecord[]) => all.filter(({ name }) => (COLOURS as readonly string[]).includes(name));
const starts = () => COLOURS.reduce((sum, colour) => sum + engineStarts(gateway, colour), 0);
describe('three slots of which one fits', () => {
  // First, while the estimates decide: measured engines are smaller, and two of them can fit.
  it('a busy slot is evicted for another one after its turn, and continues afterwards', async () => {
    expect(replyText(await chatWith(gateway, 'red'))).toBe(replyOf('red'));
    const flood = { over: false, served: 0, wrong: [] as string[] };
    const flooding = Array.from({ length: 6 }, async () => {
      while (!flood.over) {
        const answer = await chatWith(gateway, 'red');
        if (replyText(answer) === replyOf('red')) flood.served += 1;
        else flood.wrong.push(answer.text);
      }
    });
    await until(() => flood.served > 10, 'the flood');
    const other = chatWith(gateway, 'blue');
    await until(
      async () => (await slots(gateway)).some((slot) => slot.waiting_for.includes('red')),
      'blue to wait',
    );
    expect((await slots(gateway)).find(({ name }) => name === 'blue')).toMatchObject({
      state: 'offline',
      queued: 1,
    });
    expect(replyText(await other)).toBe(replyOf('blue'));
    const before = flood.served;
    await until(() => flood.served > before + 5, 'red to go on', 60_000);
    flood.over = true;
    await Promise.all(flooding);
    expect(flood.wrong).toEqual([]);
  });

  it('answers every request from the right model, with few swaps, and leaves nothing behind', async () => {
    const random = randomFrom(seed('swap-under-load'));
    const total = scale(1_000);
    const startsBefore = starts();
    const wrong: unknown[] = [];
    let [startedAt, longest] = [0, 0];
    let together = 0;
    const watching = setInterval(async () => {
      const loaded = ours(await slots(gateway)).filter(({ memory }) => memory !== null).length;
      together = Math.max(together, loaded);
    }, 200);
    const caller = async () => {
      while (startedAt < total) {
        startedAt += 1;
        const colour = COLOURS[Math.floor(random() * 3)] as Colour;
        const since = performance.now();
        const answer = await chatWith(gateway, colour, random() < 0.5 ? 'slot' : 'model');
        longest = Math.max(longest, performance.now() - since);
        const right = answer.status === 200 && replyText(answer) === replyOf(colour);
        if (!right || answer.headers['x-svc-slot'] !== colour)
          wrong.push([colour, answer.status, answer.text]);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CALLERS, total) }, caller));
    clearInterval(watching);
    console.info(
      `${total} requests, ${starts() - startsBefore} loads, longest wait ${Math.round(longest)} ms`,
    );
    expect(wrong).toEqual([]);
    expect(together).toBeLessThanOrEqual(1);
    // The first requests need three loads. Each later load serves at least the requests that were queued meanwhile.
    expect(starts() - startsBefore).toBeLessThanOrEqual(3 + total / 6);
    for (const slot of ours(await slots(gateway))) {
      expect(slot).toMatchObject({ active: 0, queued: 0, waiting_for: [], failure: null });
    }
  });

  it('the measured memory replaces the estimate', async () => {
    const file = slotFile('green').replace(/^memory = .*\n/m, '');
    writeFileSync(join(gateway.home, 'config', 'slots', 'green.toml'), file);
    const source = async () =>
      (await send(gateway, 'GET', '/api/slots/green/plan')).json<SlotPlanView>().need.source;
    gateway.signal('SIGHUP');
    await until(async () => (await source()) !== 'file', 'the changed slot file');
    await chatWith(gateway, 'green');
    // The engine is measured a moment after a request.
    await until(async () => (await source()) === 'measured', 'green to be measured', 60_000);
    await send(gateway, 'POST', '/api/slots/green/restart');
    await chatWith(gateway, 'green');
    const green = (await slots(gateway)).find(({ name }) => name === 'green') as SlotRecord;
    const { memory, memory_bytes } = green;
    expect(memory?.source).toBe('measured');
    expect(memory?.needed_bytes).toBeGreaterThan((memory_bytes ?? 0) / 2);
  });
});
