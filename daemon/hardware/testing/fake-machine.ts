import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** One unpacked captured machine. */
export interface FakeMachine {
  /** Prefix of its /sys and /proc. */
  root: string;
  /** The only folder with its tools. */
  path: string;
  remove(): void;
}

interface Capture {
  files: Record<string, string>;
  links: Record<string, string>;
  cli: { argv: string[]; missing?: boolean; exit?: number; stdout?: string; stderr?: string }[];
}

export const MACHINES = [
  'amd-dgpu',
  'amd-dgpu-old-amd-smi',
  'amd-strix-halo-carveout-no-npu',
  'amd-strix-halo-npu',
  'arm-rk3588-npu',
  'intel-arc-npu',
  'mixed-amd-igpu-nvidia-dgpu',
  'no-gpu',
  'nvidia-driver-broken',
  'nvidia-dual',
  'nvidia-single',
  'nvidia-unified-gb10',
] as const;
export type MachineName = (typeof MACHINES)[number];

/** Prints the captured output for an argument list. An unknown one fails. */
const STAND_IN = `#!${process.execPath}
const { basename, dirname, join } = require('node:path');
const fs = require('node:fs');
const name = basename(process.argv[1]);
const args = process.argv.slice(2);
const commands = JSON.parse(fs.readFileSync(join(dirname(process.argv[1]), 'captures.json'), 'utf8'));
const same = ({ argv }) => argv[0] === name && argv.length === args.length + 1 && argv.slice(1).every((one, i) => one === '@OUT@' || one === args[i]);
const hit = commands.find(same);
if (!hit) {
  process.stderr.write('no capture of ' + name + ' for ' + JSON.stringify(args));
  process.exit(127);
}
const out = hit.argv.indexOf('@OUT@');
if (out > 0) fs.writeFileSync(args[out - 1], hit.stdout);
else process.stdout.write(hit.stdout);
process.stderr.write(hit.stderr ?? '');
process.exitCode = hit.exit;
`;

export function readCapture(name: MachineName): Capture {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8'));
}

/** Returns the output of a tool on a captured machine. */
export function captured(name: MachineName, ...argv: string[]): string {
  const hit = readCapture(name).cli.find((one) => one.argv.join(' ').startsWith(argv.join(' ')));
  if (hit?.stdout === undefined) throw new Error(`no capture of ${argv.join(' ')} on ${name}`);
  return hit.stdout;
}

function pathOf(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Unpacks a captured machine. `extra` adds kernel files, for example a control group's limit. */
export function fakeMachine(name: MachineName, extra: Record<string, string> = {}): FakeMachine {
  const folder = mkdtempSync(join(tmpdir(), `machine-${name}-`));
  const root = join(folder, 'root');
  const path = join(folder, 'bin');
  const { files, links, cli } = readCapture(name);
  mkdirSync(path);
  for (const [file, text] of Object.entries({ ...files, ...extra }))
    writeFileSync(pathOf(join(root, file)), text);
  for (const [file, target] of Object.entries(links)) symlinkSync(target, pathOf(join(root, file)));
  const commands = cli.filter((one) => one.missing !== true);
  writeFileSync(join(path, 'captures.json'), JSON.stringify(commands));
  for (const tool of new Set(commands.map(({ argv }) => argv[0] ?? ''))) {
    writeFileSync(join(path, tool), STAND_IN, { mode: 0o755 });
  }
  return { root, path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
