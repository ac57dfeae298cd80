import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../settings/problem.ts';
import { revisionOf } from '../settings/revision.ts';
import { slotObjection } from './engines/table.ts';
import { BUILT_IN_SLOTS } from './slot.ts';
import { builtInSlot, lineOf, type ReadSlot, readSlotFile, type SlotConfig } from './slot-file.ts';

/** Slots that one gateway may hold. */
export const MOST_SLOTS = 256;

export interface SlotFolder {
  readonly configs: readonly SlotConfig[];
  readonly problems: readonly Problem[];
  /** Slots that have a file. */
  readonly files: ReadonlySet<string>;
  /** Of each file that could be read, by slot. */
  readonly revisions: ReadonlyMap<string, string>;
  /** Slots whose file is there but gives none. */
  readonly broken: ReadonlySet<string>;
  /** Where the file of a slot sets a key; null when it does not. */
  lineOf(slot: string, key: string): number | null;
}

/** A folder in which nothing was read. */
export const NO_FOLDER: SlotFolder = {
  configs: [],
  problems: [],
  files: new Set(),
  revisions: new Map(),
  broken: new Set(),
  lineOf: () => null,
};

/** A problem with its folder in the name of its file: other folders may hold a file of the same name. */
export const inSlotsFolder = (problem: Problem): Problem =>
  problem.file.endsWith('.toml') ? { ...problem, file: `slots/${problem.file}` } : problem;

function namesIn(folder: string): string[] | { code: string } {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.toml'));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    return code === 'ENOENT' ? [] : { code };
  }
}

/** Objections begin with the key at fault. */
const keyOf = (objection: string): string => objection.split(/[.:]/, 1)[0] ?? '';

/** The file and whether an engine of ours can serve what it asks for. */
function readOne(folder: string, file: string): ReadSlot & { revision?: string; text?: string } {
  try {
    const bytes = readFileSync(join(folder, file));
    const revision = revisionOf(bytes);
    const text = bytes.toString('utf8');
    const read = readSlotFile(file, text);
    const objection = read.config === null ? null : slotObjection(read.config);
    if (objection === null) return { ...read, revision, text };
    const problem = { file, line: lineOf(text, keyOf(objection)), message: objection };
    return { config: null, problems: [...read.problems, problem], revision };
  } catch (cause) {
    const message = `cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`;
    return { config: null, problems: [{ file, line: null, message }] };
  }
}

/**
 * Every slot of the folder `slots/` plus the built-in ones that have no file, by name. A broken file costs only its
 * own slot; a missing folder is ordinary. Never throws.
 */
export function readSlotFolder(folder: string): SlotFolder {
  const names = namesIn(folder);
  if (!Array.isArray(names)) {
    const problem = { file: 'slots', line: null, message: `cannot be listed (${names.code})` };
    return { ...NO_FOLDER, configs: BUILT_IN_SLOTS.map(builtInSlot), problems: [problem] };
  }
  const read = names.sort().map((file) => readOne(folder, file));
  const problems = read.flatMap((one) => one.problems);
  const configs = read.flatMap((one) => (one.config === null ? [] : [one.config]));
  if (configs.length > MOST_SLOTS) {
    problems.push({
      file: 'slots',
      line: null,
      message: `holds more than ${MOST_SLOTS} slots; the rest is ignored`,
    });
  }
  const builtIn = BUILT_IN_SLOTS.filter((name) => !names.includes(`${name}.toml`)).map(builtInSlot);
  const all = [...builtIn, ...configs.slice(0, MOST_SLOTS)];
  const known = new Set(configs.map((config) => `${config.name}.toml`));
  const slotOf = (name: string): string => name.replace(/\.toml$/, '');
  const broken = new Set(names.filter((name) => !known.has(name)).map(slotOf));
  const texts = new Map(read.map(({ text = '' }, i) => [slotOf(names[i] ?? ''), text]));
  return {
    lineOf: (slot, key) => lineOf(texts.get(slot) ?? '', key),
    files: new Set(names.map(slotOf)),
    revisions: new Map(
      read.flatMap(({ revision }, i) => (revision === undefined ? [] : [[slotOf(names[i] ?? ''), revision]])),
    ),
    broken,
    configs: all.sort((a, b) => a.name.localeCompare(b.name)),
    problems,
  };
}
