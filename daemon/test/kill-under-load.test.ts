/** P05 P06: the gateway is killed while it loads, swaps and answers; nothing of it is left, and the next one goes on. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { startTicksOf } from '../kit/process-identity.ts';
import { descendants } from './harness/descendants.ts';
import { type Gateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { randomFrom, scale, seed } from './harness/scale.ts';
import { askFor, COLOURS, type Colour, replyOf, said, slotFile, startThree } from './harness/three-models.ts';

/** Callers at once, and the longest time until the kill in ms: long enough for a load, a swap and answers. */
const CALLERS = 9;
const LATEST_MS = 6_000;
const RESTING: readonly SlotRecord['state'][] = ['offline', 'ready', 'serving'];
let gateway: Gateway;

afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
});

const records = async () => (await ask(gateway, 'GET', '/api/slots')).json<{ slots: SlotRecord[] }>().slots;
const runs = ([pid, startTicks]: readonly [number, number]) => startTicksOf(pid) === startTicks;

it('leaves no engine behind, keeps every slot file, and serves again', async () => {
  const random = randomFrom(seed('kill-under-load'));
  const pick = () => COLOURS[Math.floor(random() * 3)] as Colour;
  gateway = await startThree();
  const rounds = scale(50);
  for (let round = 0; round < rounds; round++) {
    const state = { killed: false, answered: 0, wrong: [] as string[] };
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!state.killed) {
        const colour = pick();
        const answer = await askFor(gateway, colour).catch(() => null);
        if (answer === null) continue;
        if (said(answer) === replyOf(colour)) state.answered += 1;
        else state.wrong.push(answer.text);
      }
    });
    const at = performance.now() + random() * LATEST_MS;
    const engines = new Map<number, number>();
    await until(
      () => {
        for (const { pid } of descendants(gateway.pid)) {
          const startTicks = startTicksOf(pid);
          if (startTicks !== null) engines.set(pid, startTicks);
        }
        return performance.now() > at && engines.size > 0;
      },
      'the moment of the kill',
      60_000,
    );
    state.killed = true;
    await gateway.stop('SIGKILL');
    await Promise.all(callers);
    await until(() => ![...engines].some(runs), `no engine to be left in round ${round}`, 10_000);
    expect(state.wrong).toEqual([]);
    for (const colour of COLOURS) {
      const file = join(gateway.home, 'config', 'slots', `${colour}.toml`);
      expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(slotFile(colour));
    }
    gateway = await startThree(gateway.home);
    const colour = pick();
    expect(said(await askFor(gateway, colour))).toBe(replyOf(colour));
    await until(
      async () => (await records()).every((slot) => RESTING.includes(slot.state) && slot.queued === 0),
      'the slots to settle',
    );
  }
});
