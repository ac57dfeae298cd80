import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, until } from './gateway.ts';
import { send } from './http.ts';

/** Shifts the wall clock of a process by the offset in the file of `SVC_TEST_CLOCK`, read at start and at each SIGUSR2. */
const PRELOAD = `
const { readFileSync } = require('node:fs');
const Real = Date;
let offset = 0;
const set = () => { offset = Number(readFileSync(process.env.SVC_TEST_CLOCK, 'utf8')); };
const now = () => Real.now() + offset;
globalThis.Date = new Proxy(Real, {
  apply: () => new Real(now()).toString(),
  construct: (_, args, target) => Reflect.construct(Real, args.length > 0 ? args : [now()], target),
  get: (_, name) => (name === 'now' ? now : Reflect.get(Real, name)),
});
process.on('SIGUSR2', set);
set();
`;

/** An adjustable wall clock for a gateway. The monotonic clock is not changed. */
export interface AdjustableClock {
  /** Environment for the gateway. */
  readonly env: Record<string, string>;
  /** Sets the offset to the real time and waits until it is in effect. */
  set(gateway: Gateway, offsetMs: number): Promise<void>;
  remove(): void;
}

/** Creates a clock that starts with this offset to the real time. */
export function createClock(offsetMs: number): AdjustableClock {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'));
  const [preload, file] = [join(folder, 'clock.cjs'), join(folder, 'clock')];
  writeFileSync(preload, PRELOAD);
  writeFileSync(file, String(offsetMs));
  return {
    env: { NODE_OPTIONS: `--require ${preload}`, SVC_TEST_CLOCK: file },
    async set(gateway, next) {
      writeFileSync(file, String(next));
      gateway.signal('SIGUSR2');
      await until(async () => Math.abs((await clockOf(gateway)) - Date.now() - next) < 10_000, 'the clock');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the gateway's Unix time in milliseconds, which its request ids start with. */
export async function clockOf(gateway: Pick<Gateway, 'port'>): Promise<number> {
  const { headers } = await send(gateway, 'GET', '/api/health');
  return Number.parseInt(String(headers['x-request-id']).replaceAll('-', '').slice(0, 12), 16);
}
