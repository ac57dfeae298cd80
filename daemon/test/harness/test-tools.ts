import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** Programs that suites of e2e/system run: the variable with the path of each, and the folder in which scripts/test-tools.mjs installs it. */
const PARTS = {
  'llama-server': ['SVC_TEST_LLAMA_SERVER', 'llama.cpp'],
  'whisper-server': ['SVC_TEST_WHISPER_SERVER', 'whisper.cpp'],
  prometheus: ['SVC_TEST_PROMETHEUS', 'prometheus'],
  nginx: ['SVC_TEST_NGINX', 'nginx'],
  caddy: ['SVC_TEST_CADDY', 'caddy'],
  strace: ['SVC_TEST_STRACE', 'strace'],
  jazzer: ['SVC_TEST_JAZZER', 'jazzer', 'node_modules/.bin/jazzer'],
  libc: ['SVC_TEST_LIBC', 'libc', 'run'],
} as const;

/** Returns the path of a program, or null after printing why the suite is skipped. */
export function part(name: keyof typeof PARTS): string | null {
  const [variable, folder, file = name] = PARTS[name];
  const path = process.env[variable] ?? join(root, '.cache', 'parts', folder, file);
  if (existsSync(path)) return path;
  console.warn(
    `SKIPPED, there is no ${name} here: \`node scripts/test-tools.mjs ${folder}\` gets it, or says why not.`,
  );
  return null;
}

const VULKAN_DRIVERS = '/usr/share/vulkan/icd.d';

/** Returns the driver file of Mesa's software Vulkan device, or null after printing why the suite is skipped. */
export function softwareVulkan(): string | null {
  const names = existsSync(VULKAN_DRIVERS) ? readdirSync(VULKAN_DRIVERS).sort() : [];
  const name = names.find((each) => /^lvp_icd.*\.json$/.test(each));
  if (name !== undefined) return join(VULKAN_DRIVERS, name);
  console.warn(
    'SKIPPED, there is no Vulkan device here: `node scripts/test-tools.mjs vulkan` gets one in software.',
  );
  return null;
}
