import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, until } from './gateway.ts';
import { ask } from './http.ts';

/** Replaces the wall clock of a process by one that is set as the file of `SVC_TEST_CLOCK` says, anew at each SIGUSR2. */
const PRELOAD = `
const { readFileSync } = require('node:fs');
const Real = Date;
let offset = 0;
const set = () => { offset = Number(readFileSync(process.env.SVC_TEST_CLOCK, 'utf8')); };
const now = () => Real.now() + offset;
globalThis.Date = new Proxy(Real, {
  apply: () => new Real(now()).toString(),
  construct: (_, given, as) => Reflect.construct(Real, given.length > 0 ? given : [now()], as),
  get: (_, name) => (name === 'now' ? now : Reflect.get(Real, name)),
});
process.on('SIGUSR2', set);
set();
`;

/** A wall clock for a gateway; the clock that measures spans of time stays the true one. */
export interface SetClock {
  /** What the gateway is started with. */
  readonly env: Record<string, string>;
  /** Sets it, milliseconds beside the true one, and waits until that counts. */
  set(gateway: Gateway, ms: number): Promise<void>;
  remove(): void;
}

/** A clock that begins `ms` milliseconds beside the true one. */
export function makeClock(ms: number): SetClock {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'));
  const [preload, file] = [join(folder, 'clock.cjs'), join(folder, 'clock')];
  writeFileSync(preload, PRELOAD);
  writeFileSync(file, String(ms));
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

/** Unix milliseconds as the gateway has them: its request ids begin with them. */
export async function clockOf(gateway: Pick<Gateway, 'port'>): Promise<number> {
  const { headers } = await ask(gateway, 'GET', '/api/health');
  return Number.parseInt(String(headers['x-request-id']).replaceAll('-', '').slice(0, 12), 16);
}
