import { basename } from 'node:path';
import { TOOL_PATH } from '../../hardware/tools.ts';
import { findProgram } from '../../lib/process/find-program.ts';
import { runCommand } from '../../lib/process/run-command.ts';
import type { SlotConfig } from '../../slots/config/slot-config.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok } from '../finding.ts';

interface Program {
  /** Arguments that print its version; null when there is no quick way. */
  readonly versionArguments: readonly string[] | null;
  /** How to get it, in one line. */
  readonly install: string;
}

/** Programs that are engines, or that engines need. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'llama-server': {
    versionArguments: ['--version'],
    install: 'Install llama.cpp (llama.cpp-tools on Debian).',
  },
  'whisper-server': { versionArguments: null, install: 'Install whisper.cpp, or name it: command = [...].' },
  'sd-server': {
    versionArguments: null,
    install: 'Install stable-diffusion.cpp, or name it: command = [...].',
  },
  vllm: {
    versionArguments: null,
    install: 'Run pip install vllm in a separate virtual environment and set command = [...].',
  },
  flm: { versionArguments: ['version'], install: 'Install FastFlowLM.' },
  'espeak-ng': { versionArguments: ['--version'], install: 'sudo apt install espeak-ng' },
  ffmpeg: { versionArguments: ['-version'], install: 'sudo apt install ffmpeg' },
};
const LIMIT_MS = 2_000;
const MAX_BYTES = 16 * 1024;
const VERSION = /\bv?(\d+(?:\.\d+)+|\d{3,})(?![\w.])/;

interface Found {
  name: string;
  file: string | null;
  version: string | null;
}

/** Returns the first version number in the output of a program. */
export const versionIn = (text: string): string | null => VERSION.exec(text)?.[1] ?? null;

async function findProgramVersion(name: string, versionFlags: readonly string[] | null): Promise<Found> {
  const file = findProgram(name, TOOL_PATH);
  if (file === null || versionFlags === null) return { name, file, version: null };
  const { stdout, stderr } = await runCommand(file, versionFlags, {
    timeoutMs: LIMIT_MS,
    maxBytes: MAX_BYTES,
  });
  return { name, file, version: versionIn(`${stdout}\n${stderr}`) };
}

/** Returns the external program that a slot starts, or null. */
function programOf({ command, engine, runner }: SlotConfig): string | null {
  if (runner !== 'process') return null;
  return command?.[0] ?? (engine === 'espeak' ? 'espeak-ng' : engine);
}

function missingPrograms(slots: readonly SlotConfig[]): Finding[] {
  return slots.flatMap((slot) => {
    const program = slot.enabled ? programOf(slot) : null;
    if (program === null || findProgram(program, TOOL_PATH) !== null) return [];
    const fix = PROGRAMS[program]?.install ?? `Correct command in slots/${slot.name}.toml.`;
    return [fail('engines', `Slot ${slot.name} needs ${program}, which is not installed.`, fix)];
  });
}

/** Returns where a slot has an engine that is not on the search path: `vllm (slot big)`. */
function enginesOfSlots(slots: readonly SlotConfig[]): Map<string, string> {
  const found = slots.flatMap((slot): [string, string][] => {
    const { enabled, engine, command, url, runner, name } = slot;
    const program = command?.[0];
    const isRunnable = program !== undefined && findProgram(program, TOOL_PATH) !== null;
    if (!enabled || (!isRunnable && url === null && runner !== 'container')) return [];
    const known =
      program !== undefined && Object.hasOwn(PROGRAMS, basename(program)) ? basename(program) : engine;
    return [[known, `${known} (slot ${name})`]];
  });
  return new Map(found);
}

/** Programs of external engines with their versions. A missing one matters only when a slot starts it. */
export async function engines({ slots }: DoctorInput): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(PROGRAMS).map(([name, { versionArguments }]) =>
      findProgramVersion(name, versionArguments),
    ),
  );
  const here = findings.filter(({ file }) => file !== null);
  const elsewhere = enginesOfSlots(slots);
  const missing = findings.filter(({ file }) => file === null).map(({ name }) => name);
  const absent = missing.filter((name) => !elsewhere.has(name));
  const named = [
    ...here.map(({ name, version }) => (version === null ? name : `${name} ${version}`)),
    ...missing.flatMap((name) => elsewhere.get(name) ?? []),
  ];
  const list = [`Found: ${named.join(', ') || 'only the built-in engines'}`];
  if (absent.length > 0) list.push(`not installed: ${absent.join(', ')}`);
  return [ok('engines', `${list.join('; ')}.`), ...missingPrograms(slots)];
}
