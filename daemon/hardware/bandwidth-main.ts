/**
 * Child program that reads memory as fast as one core can for a fixed time, and prints the bytes per second of processor
 * time, so that other work on the machine does not count. Several of them run at once. A child, so that the gateway answers meanwhile.
 */
import { setPriority } from 'node:os';

const BUFFER_BYTES = 64 * 1024 * 1024;
const MEASURE_MS = 700;
const LOW_PRIORITY = 10;

setPriority(LOW_PRIORITY);
// Written once, because the kernel maps untouched pages to one page of zeros.
const buffer = Buffer.alloc(BUFFER_BYTES, 1);
const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
let rounds = 0;
let elapsedMs = 0;
while (elapsedMs < MEASURE_MS) {
  // Finds nothing, so it reads every byte.
  buffer.indexOf(2);
  rounds++;
  elapsedMs = performance.now() - startedAt;
}
const { user, system } = process.cpuUsage(cpuBefore);
const bytesPerSecond = (rounds * BUFFER_BYTES * 1_000_000) / Math.max(1, user + system);
process.stdout.write(`${JSON.stringify({ bytesPerSecond })}\n`);
