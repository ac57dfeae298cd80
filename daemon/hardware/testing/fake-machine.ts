import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** One unpacked captured machine. */
export interface FakeMachine {
  /** Prefix of its /sys and /proc. */
  root: string;
  /** The only folder with its tools. */
  path: string;
  /** Changes what its tools answer from now on. */
  change(change: (command: Command) => Command): void;
  remove(): void;
}

/** A captured call of a tool. */
export interface Command {
  argv: string[];
  missing?: boolean;
  exit?: number;
  stdout?: string;
  stderr?: string;
}

interface Capture {
  files: Record<string, string>;
  links: Record<string, string>;
  cli: Command[];
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

/** A word of a shell script. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the case of a stand-in that prints captured output from `stem`.out and `stem`.err. `@OUT@` is a file that it writes. */
function caseOf({ argv, exit = 0 }: Command, stem: string): string {
  const args = argv.slice(1);
  const pattern = args.map((arg) => (arg === '@OUT@' ? '*' : quoted(arg))).join("' '");
  const out = args.indexOf('@OUT@');
  const target = out < 0 ? '' : ` > "$${out + 1}"`;
  return `${pattern || "''"}) cat ${quoted(`${stem}.out`)}${target}; cat ${quoted(`${stem}.err`)} >&2; exit ${exit} ;;`;
}

/** Returns a shell script that prints the captured output for an argument list. An unknown one fails. */
const standIn = (cases: readonly string[]): string => `#!/bin/sh
PATH=/usr/bin:/bin
case "$*" in
${cases.join('\n')}
esac
echo "no capture of $0 for $*" >&2
exit 127
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
  let answers = cli.filter((one) => one.missing !== true);
  let changes = 0;
  const writeTools = (): void => {
    changes += 1;
    const cases: Record<string, string[]> = {};
    for (const [index, command] of answers.entries()) {
      const [tool = ''] = command.argv;
      const stem = join(folder, `${tool}-${changes}-${index}`);
      writeFileSync(`${stem}.out`, command.stdout ?? '');
      writeFileSync(`${stem}.err`, command.stderr ?? '');
      cases[tool] = [...(cases[tool] ?? []), caseOf(command, stem)];
    }
    for (const [tool, found] of Object.entries(cases)) {
      // A tool that is running keeps its old script.
      writeFileSync(join(folder, tool), standIn(found), { mode: 0o755 });
      renameSync(join(folder, tool), join(path, tool));
    }
  };
  writeTools();
  for (const [file, text] of Object.entries({ ...files, ...extra }))
    writeFileSync(pathOf(join(root, file)), text);
  for (const [file, target] of Object.entries(links)) symlinkSync(target, pathOf(join(root, file)));
  return {
    root,
    path,
    change: (change) => {
      answers = answers.map(change);
      writeTools();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
