/**
 * Child program that reads memory as fast as one core can for a fixed time, and prints the bytes per second of processor
 * time in its fastest part, so that other work on the machine does not count. Several of them run at once. A child, so that
 * the gateway answers meanwhile.
 */
import { setPriority } from 'node:os';

const BUFFER_BYTES = 64 * 1024 * 1024;
const MEASURE_MS = 700;
/** Reads of the buffer in one part: tens of milliseconds, far above the resolution of the processor time. */
const ROUNDS = 6;
const MIN_CPU_US = 1000;
const LOW_PRIORITY = 10;

setPriority(LOW_PRIORITY);
// Written once, because the kernel maps untouched pages to one page of zeros.
const buffer = Buffer.alloc(BUFFER_BYTES, 1);
const startedAt = performance.now();
let best = 0;
while (performance.now() - startedAt < MEASURE_MS) {
  const before = process.cpuUsage();
  // Finds nothing, so it reads every byte.
  for (let round = 0; round < ROUNDS; round++) buffer.indexOf(2);
  const { user, system } = process.cpuUsage(before);
  best = Math.max(best, (ROUNDS * BUFFER_BYTES * 1_000_000) / Math.max(MIN_CPU_US, user + system));
}
process.stdout.write(`${JSON.stringify({ bytesPerSecond: best })}\n`);
