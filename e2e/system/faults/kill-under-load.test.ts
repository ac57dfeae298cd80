/**
 * The gateway gets SIGKILL while it loads, swaps, responds and writes slot files. No engine process and no torn slot file may
 * remain, and the next start must serve again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { startTicksOf } from '../../../daemon/lib/process/process-identity.ts';
import { descendants } from '../../../daemon/test/harness/descendants.ts';
import { until } from '../../../daemon/test/harness/gateway.ts';
import { replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { randomFrom, scale, seed } from '../../../daemon/test/harness/scale.ts';
import { slots } from '../../../daemon/test/harness/slots.ts';
import {
  COLOURS,
  type Colour,
  chatWith,
  replyOf,
  slotFile,
  startThree,
} from '../../../daemon/test/harness/three-models.ts';

/** Concurrent callers, and the maximum delay of the kill in ms: long enough for a load, a swap and responses. */
const CALLERS = 9;
const MAX_DELAY_MS = 6_000;
const RESTING: readonly SlotRecord['state'][] = ['offline', 'ready', 'serving'];
const gateway = new OneGateway(startThree);

const runs = ([pid, startTicks]: readonly [number, number]) => startTicksOf(pid) === startTicks;

/** The permitted contents of a slot file: the last acknowledged write, or the one that was in flight at the kill. */
type Written = Record<'acknowledged' | 'sent', number | null>;
const written = Object.fromEntries(
  COLOURS.map((colour) => [colour, { acknowledged: null, sent: null }]),
) as Record<Colour, Written>;

/** Changes a slot file repeatedly, one change at a time. */
async function keepWriting(colour: Colour, killed: () => boolean): Promise<void> {
  const file = written[colour];
  while (!killed()) {
    const priority = ((file.sent ?? 0) + 1) % 1_000;
    file.sent = priority;
    const path = `/api/slots/${colour}`;
    const answer = await send(gateway, 'PUT', path, { body: { priority } }).catch(() => null);
    if (answer === null) continue;
    expect(answer.status, answer.text).toBe(200);
    file.acknowledged = priority;
  }
}

/** Asserts that the file is complete and has an acknowledged or in-flight value. */
function expectWhole(colour: Colour): void {
  const text = readFileSync(join(gateway.home, 'config', 'slots', `${colour}.toml`), 'utf8');
  const line = /^priority = (\d+)\n/m.exec(text);
  expect(text.replace(line?.[0] ?? '', '')).toBe(slotFile(colour));
  const { acknowledged, sent } = written[colour];
  const announced = line === null ? null : Number(line[1]);
  expect([acknowledged, sent]).toContain(announced);
  Object.assign(written[colour], { acknowledged: announced, sent: announced });
}

it('leaves no engine, no torn and no lost slot file, and serves again', async () => {
  const random = randomFrom(seed('kill-under-load'));
  const pick = () => COLOURS[Math.floor(random() * 3)] as Colour;
  const rounds = scale(50);
  for (let round = 0; round < rounds; round++) {
    const state = { killed: false, answered: 0, wrong: [] as string[] };
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!state.killed) {
        const colour = pick();
        const answer = await chatWith(gateway, colour).catch(() => null);
        if (answer === null) continue;
        if (replyText(answer) === replyOf(colour)) state.answered += 1;
        else state.wrong.push(answer.text);
      }
    });
    const writers = COLOURS.map((colour) => keepWriting(colour, () => state.killed));
    const at = performance.now() + random() * MAX_DELAY_MS;
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
    await Promise.all([...callers, ...writers]);
    await until(() => ![...engines].some(runs), `no engine to be left in round ${round}`, 10_000);
    expect(state.wrong).toEqual([]);
    for (const colour of COLOURS) expectWhole(colour);
    await gateway.replace(() => startThree(gateway.home));
    const colour = pick();
    expect(replyText(await chatWith(gateway, colour))).toBe(replyOf(colour));
    await until(
      async () => (await slots(gateway)).every((slot) => RESTING.includes(slot.state) && slot.queued === 0),
      'the slots to settle',
    );
    const files = readdirSync(join(gateway.home, 'config', 'slots')).sort();
    expect(files, 'no half-written file is left').toEqual([
      'agent.toml',
      ...COLOURS.map((name) => `${name}.toml`).sort(),
    ]);
  }
});
