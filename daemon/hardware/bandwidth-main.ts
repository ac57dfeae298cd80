/**
 * Child program that reads memory as fast as one core can, in short parts, until it is clear that the machine is idle, or
 * for less than a second. Prints the bytes per second of processor time, so that other work on the machine hardly
 * counts. Several of them run at once and begin at the time in `argv[2]` (Unix time in ms), because they share the
 * memory. Children, so that the gateway answers meanwhile.
 */
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const BUFFER_BYTES = 64 * 1024 * 1024;
const MIN_MS = 250;
const MAX_MS = 700;
const MAX_WAIT_MS = 1_000;
/** Reads of the buffer in one part. */
const ROUNDS = 2;
const MIN_CPU_US = 1_000;
const LOW_PRIORITY = 10;
/** With a smaller share of its core, a reader shares the core with other work. */
const IDLE_SHARE = 0.95;
/** On an idle machine most parts are at least this share of the fastest one. */
const STEADY = 0.85;

setPriority(LOW_PRIORITY);
// Written once, because the kernel maps untouched pages to one page of zeros.
const buffer = Buffer.alloc(BUFFER_BYTES, 1);
const waitMs = Number(process.argv[2]) - Date.now();
if (waitMs > 0) await pause(Math.min(waitMs, MAX_WAIT_MS));

const startedAt = performance.now();
const startUsage = process.cpuUsage();
const rates: number[] = [];

const cpuUs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

/** Returns the rate that this share of the parts does not exceed. */
const quantile = (share: number): number =>
  rates.toSorted((a, b) => a - b)[Math.floor(share * (rates.length - 1))] ?? 0;

let [elapsedMs, idle] = [0, false];
while (elapsedMs < MAX_MS && !idle) {
  const before = process.cpuUsage();
  // Finds nothing, so it reads every byte.
  for (let round = 0; round < ROUNDS; round++) buffer.indexOf(2);
  rates.push((ROUNDS * BUFFER_BYTES * 1_000_000) / Math.max(MIN_CPU_US, cpuUs(before)));
  elapsedMs = performance.now() - startedAt;
  const hasCore = cpuUs(startUsage) >= IDLE_SHARE * elapsedMs * 1000;
  idle = elapsedMs >= MIN_MS && hasCore && quantile(0.25) >= STEADY * quantile(1);
}
// The fastest parts may have run while other readers had no core.
process.stdout.write(`${JSON.stringify({ bytesPerSecond: quantile(0.75), idle })}\n`);
