import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_WORKFLOW_BYTES, mappedWorkflow, parseWorkflow, WorkflowError } from '../../contract/workflow.ts';
import { readSmallFile } from '../../lib/fs/read-small-file.ts';
import { keyLines } from '../../settings/key-lines.ts';
import type { Problem } from '../../settings/problem.ts';
import { revisionOf } from '../../settings/revision.ts';
import { isTomlFileName } from '../../settings/toml-file-name.ts';
import { slotObjection } from '../engines/table.ts';
import { BUILT_IN_SLOTS } from '../lifecycle/slot.ts';
import type { SlotConfig } from './slot-config.ts';
import { builtInSlot, MAX_SLOT_FILE_BYTES, readSlotFile, type SlotFileResult } from './slot-file.ts';

/** Maximum number of slots of one gateway. */
export const MAX_SLOTS = 256;

export interface SlotFolder {
  /** A file that became invalid in this run keeps its last valid settings. */
  readonly configs: readonly SlotConfig[];
  readonly problems: readonly Problem[];
  /** Slots that have a file. */
  readonly files: ReadonlySet<string>;
  /** The revision of each readable file, by slot. */
  readonly revisions: ReadonlyMap<string, string>;
  /** Slots whose file exists but is invalid. */
  readonly broken: ReadonlySet<string>;
  /** Returns the line in which the file of a slot sets a key; null when it does not. */
  lineOf(slot: string, key: string): number | null;
}

/** The result for an empty folder. */
export const NO_FILES: SlotFolder = {
  configs: BUILT_IN_SLOTS.map(builtInSlot),
  problems: [],
  files: new Set(),
  revisions: new Map(),
  broken: new Set(),
  lineOf: () => null,
};

/** Adds the folder to the file name of a problem, because other folders may contain a file of the same name. */
export const inSlotsFolder = (problem: Problem): Problem =>
  problem.file.endsWith('.toml') ? { ...problem, file: `slots/${problem.file}` } : problem;

const UNLISTED = 'cannot be listed';

function namesIn(folder: string): string[] | { code: string } {
  try {
    return readdirSync(folder).filter(isTomlFileName);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    return code === 'ENOENT' ? [] : { code };
  }
}

/** Returns the key with which an objection begins. */
const keyOf = (objection: string): string => objection.split(/[.:]/, 1)[0] ?? '';

const lineOf = (text: string, key: string): number | null => keyLines(text).get(key) ?? null;

/** Reads the workflow that a slot file names. Without a usable one, the slot has no settings and a problem. */
function withWorkflow(
  folder: string,
  file: string,
  config: SlotConfig,
): { config: SlotConfig | null; problem: string | null } {
  const named = config.imageSettings?.workflow ?? null;
  if (config.imageSettings === null || named === null) return { config, problem: null };
  try {
    const bytes = readSmallFile(join(folder, named.file), MAX_WORKFLOW_BYTES);
    if (bytes === null) return { config: null, problem: `there is no file ${named.file} beside ${file}` };
    const workflow = mappedWorkflow(parseWorkflow(bytes.toString('utf8')), named.inputs);
    return {
      config: { ...config, imageSettings: { ...config.imageSettings, workflow: { ...named, workflow } } },
      problem: null,
    };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (cause instanceof WorkflowError) return { config: null, problem: `${named.file}: ${cause.message}` };
    return {
      config: null,
      problem:
        code === 'ENOENT'
          ? `there is no file ${named.file} beside ${file}`
          : `${named.file} cannot be read (${code ?? 'unknown'})`,
    };
  }
}

/** Reads one file and checks that an engine can serve it. */
function readOne(folder: string, file: string): SlotFileResult & { revision?: string; text?: string } {
  const unusable = (message: string): SlotFileResult => ({
    config: null,
    problems: [{ file, line: null, message }],
  });
  try {
    const bytes = readSmallFile(join(folder, file), MAX_SLOT_FILE_BYTES);
    if (bytes === null) return unusable('is not a file of at most 64 KiB');
    const revision = revisionOf(bytes);
    const text = bytes.toString('utf8');
    const read = readSlotFile(file, text);
    const objection = read.config === null ? null : slotObjection(read.config);
    if (objection === null && read.config !== null) {
      const { config, problem } = withWorkflow(folder, file, read.config);
      const line = lineOf(text, 'workflow');
      const problems = problem === null ? [] : [{ file, line, message: `workflow: ${problem}` }];
      return { config, problems: [...read.problems, ...problems], revision, text };
    }
    if (objection === null) return { ...read, revision, text };
    const problem = { file, line: lineOf(text, keyOf(objection)), message: objection };
    return { config: null, problems: [...read.problems, problem], revision };
  } catch (cause) {
    return unusable(`cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

/** Returns the earlier result with a problem added, because a failing disk says nothing about the slots. */
function unlisted(code: string, before: SlotFolder): SlotFolder {
  const problem = { file: 'slots', line: null, message: `${UNLISTED} (${code})` };
  const others = before.problems.filter(({ message }) => !message.startsWith(UNLISTED));
  return { ...before, problems: [problem, ...others] };
}

/**
 * Returns all slots of the folder `slots/` and the built-in ones without a file, sorted by name. An invalid file
 * affects its own slot only, which keeps its settings of `before`. All slots keep theirs while the folder cannot be
 * listed. A missing folder is normal. Never throws.
 */
export function readSlotFolder(folder: string, before: SlotFolder | null = null): SlotFolder {
  const names = namesIn(folder);
  if (!Array.isArray(names)) return unlisted(names.code, before ?? NO_FILES);
  const read = names.sort().map((file) => readOne(folder, file));
  const problems = read.flatMap((one) => one.problems);
  const configs = read.flatMap((one) => (one.config === null ? [] : [one.config]));
  if (configs.length > MAX_SLOTS) {
    problems.push({
      file: 'slots',
      line: null,
      message: `contains more than ${MAX_SLOTS} slots; the rest is ignored`,
    });
  }
  const builtIn = BUILT_IN_SLOTS.filter((name) => !names.includes(`${name}.toml`)).map(builtInSlot);
  const known = new Set(configs.map((config) => `${config.name}.toml`));
  const slotOf = (name: string): string => name.replace(/\.toml$/, '');
  const broken = new Set(names.filter((name) => !known.has(name)).map(slotOf));
  const texts = new Map(read.map(({ text = '' }, i) => [slotOf(names[i] ?? ''), text]));
  const lastGood = before?.configs.filter(({ name }) => broken.has(name)) ?? [];
  const all = [...builtIn, ...configs.slice(0, MAX_SLOTS), ...lastGood];
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
