import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LAYERS, OUTBOUND_IMPORTERS, RESERVED, SIDEWAYS } from './layers.ts';

const root = dirname(import.meta.dirname);

const isTest = (file: string) =>
  /\.test\.tsx?$/.test(file) || /\/(testing|test|fixtures)(\/|\.ts$)/.test(file);

function sources(folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'fixtures') continue;
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...sources(path));
    else if (/\.tsx?$/.test(entry.name)) found.push(path);
  }
  return found;
}

/** Relative import targets of a file, as paths from the root. */
function imports(file: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(
    (match) => match[1] as string,
  );
  return specifiers.map((specifier) => relative(root, normalize(join(root, dirname(file), specifier))));
}

const folderOf = (path: string) => /^daemon\/([^/]+)\//.exec(path)?.[1] ?? null;
const layerOf = (folder: string) => LAYERS.findIndex((names) => names.includes(folder));

/** What the command line imports to find the gateway of this machine, and to run the daemon's sub-commands. */
const CLI_READS = [
  'daemon/settings/env-file.ts',
  'daemon/settings/own-address.ts',
  'daemon/settings/running-address.ts',
  'daemon/app/run.ts',
];

function badImport(file: string, target: string): string | null {
  const from = folderOf(file);
  const to = folderOf(target);
  if (file.startsWith('dashboard/') && target.startsWith('daemon/') && to !== 'contract') {
    return 'the dashboard sees only daemon/contract';
  }
  if (from === 'cli') {
    const isAllowed = to === 'cli' || to === 'contract' || to === 'lib' || CLI_READS.includes(target);
    return isAllowed || to === null ? null : 'the command line is a thin client of the HTTP API';
  }
  if (!from || !to || from === to) return null;
  const [a, b] = [layerOf(from), layerOf(to)];
  if (a === -1 || b === -1) return null;
  if (b < a || (b === a && SIDEWAYS[from]?.includes(to))) return null;
  return `${from} (layer ${a}) must not import ${to} (layer ${b})`;
}

const outside = (file: string, allowed: readonly string[]) =>
  !allowed.some((prefix) => file.startsWith(prefix));

/** Every violation as `file: reason`. */
export function violations(): string[] {
  const found: string[] = [];
  for (const file of [...sources('daemon'), ...sources('dashboard')]) {
    const text = readFileSync(join(root, file), 'utf8');
    if (isTest(file)) continue;
    for (const target of imports(file, text)) {
      const reason = badImport(file, target);
      if (reason) found.push(`${file}: ${reason}`);
      if (isTest(target)) found.push(`${file}: code that runs must not import test code (${target})`);
      if (target === 'daemon/lib/net/outbound.ts' && outside(file, OUTBOUND_IMPORTERS)) {
        found.push(`${file}: lib/net/outbound may not be imported here (OUTBOUND_IMPORTERS)`);
      }
    }
    if (!file.startsWith('daemon/')) continue;
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    for (const rule of RESERVED) {
      if (rule.pattern.test(code) && outside(file, rule.allowed)) found.push(`${file}: ${rule.what}`);
    }
  }
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = violations();
  for (const line of found) console.error(line);
  console.log(found.length === 0 ? 'layers: no violation' : `layers: ${found.length} violation(s)`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
