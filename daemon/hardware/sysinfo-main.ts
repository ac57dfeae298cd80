/**
 * Child program that prints what systeminformation reports, one JSON line per subject named in its arguments, in
 * their order. A child, because some calls block: `graphics` runs `nvidia-smi` synchronously, `disks` runs `df`,
 * which a dead network file system stops.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subject } from './sysinfo.ts';

/** The load is the difference of two readings that are at least 200 ms apart. */
const LOAD_MS = 250;

const cpuModule = async () => (await import('systeminformation/lib/cpu.js')).default;

const READERS: Readonly<Record<Subject, () => Promise<unknown>>> = {
  cpu: async () => (await cpuModule()).cpu(),
  async load() {
    const { currentLoad } = await cpuModule();
    await currentLoad();
    await sleep(LOAD_MS);
    return currentLoad();
  },
  temperature: async () => (await cpuModule()).cpuTemperature(),
  memory: async () => (await import('systeminformation/lib/memory.js')).default.mem(),
  network: async () => (await import('systeminformation/lib/network.js')).default.networkInterfaces(),
  disks: async () => (await import('systeminformation/lib/filesystem.js')).default.fsSize(),
  graphics: async () => (await import('systeminformation/lib/graphics.js')).default.graphics(),
};

for (const subject of process.argv.slice(2)) {
  const value = await READERS[subject as Subject]().catch(() => null);
  process.stdout.write(`${JSON.stringify({ subject, value })}\n`);
}
