import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** Real programs that suites run against: the variable that names each, and its folder and place there once it was got. */
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

/** The path of a real program, or null; a suite that is skipped for that says so on the console. */
export function part(name: keyof typeof PARTS): string | null {
  const [variable, folder, place = name] = PARTS[name];
  const path = process.env[variable] ?? join(root, '.cache', 'parts', folder, place);
  if (existsSync(path)) return path;
  console.warn(
    `SKIPPED, there is no ${name} here: \`node scripts/parts.mjs ${folder}\` gets it, or says why not.`,
  );
  return null;
}

const VULKAN_DRIVERS = '/usr/share/vulkan/icd.d';

/** The description of Mesa's Vulkan device in software, or null; a suite that is skipped for that says so. */
export function softwareVulkan(): string | null {
  const names = existsSync(VULKAN_DRIVERS) ? readdirSync(VULKAN_DRIVERS).sort() : [];
  const name = names.find((each) => /^lvp_icd.*\.json$/.test(each));
  if (name !== undefined) return join(VULKAN_DRIVERS, name);
  console.warn(
    'SKIPPED, there is no Vulkan device here: `node scripts/parts.mjs vulkan` gets one in software.',
  );
  return null;
}
