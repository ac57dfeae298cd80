import type { Dirent, Stats } from 'node:fs';
import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DiskTimeout, MountGuard } from '../lib/fs/mount-guard.ts';
import { NO_PATH, pathState, UNKNOWN_STATE } from './path-state.ts';
import { isPiperVoice } from './piper-voice.ts';
import { layoutOf } from './speech-layouts.ts';
import { piperSize, speechLayout, speechSize } from './speech-metadata.ts';
import { splitName, splitParts } from './split-files.ts';
import { isUnfinished, type Unusable, unusableFile, unusableFolder } from './unusable-formats.ts';
import { isWeightsFolder, weightsSize } from './weights-metadata.ts';

/** One model file. For a split model its first part, for a speech model or safetensors its folder. */
export interface FoundFile {
  path: string;
  /** Bytes of all parts that exist. */
  sizeBytes: number;
  /** Unix seconds of the last change of the first part. */
  mtimeS: number;
  /** Milliseconds of the last change, including permissions. Absent when not read. */
  ctimeMs?: number;
}

export interface ScanLimits {
  /** Maximum depth below a model folder. A hub cache needs 5. */
  depth: number;
  /** Maximum directory entries in total. */
  entries: number;
  models: number;
}

export interface ScanResult {
  files: FoundFile[];
  /** Folders that cannot be read, and limits that were reached. */
  problems: { folder: string; reason: string }[];
  /** Folders that did not respond. Files in them may exist. */
  unresponsive: string[];
  /** Files and folders in formats that are known and cannot be used. */
  unusable: UnusableEntry[];
  /** Folders that were read, by model folder, with their states before. */
  folders: Map<string, Map<string, string>>;
}

/** A file or folder that cannot be used. */
export interface UnusableEntry extends Unusable {
  /** Its name, after that of its folder. */
  readonly file: string;
}

export const SCAN_LIMITS: ScanLimits = { depth: 6, entries: 50_000, models: 2000 };

interface ScanState {
  limits: ScanLimits;
  entriesLeft: number;
  /** Real paths of visited folders and files, so that links neither loop nor duplicate. */
  visited: Set<string>;
  result: ScanResult;
  /** The folders that were read of the current model folder, with their states. */
  folders: Map<string, string>;
  /** Runs an operation on the disk of the current model folder. */
  runOnDisk: <T>(question: () => Promise<T>) => Promise<T>;
}

/** Maximum files and folders in `unusable`. */
const MAX_UNUSABLE = 200;
/** Entries with the same reason in one folder that are listed one by one. */
const MAX_ALIKE = 3;

/** Returns whether a file is a voice, whose size includes its settings. */
export const isOnnxFile = (name: string): boolean => /\.onnx$/i.test(name);
const isModelFile = (name: string) => /\.gguf$/i.test(name) && (splitName(name)?.part ?? 1) === 1;

/** Returns the model of a folder: speech or safetensors. Null when it is none. */
async function findModelFolder(path: string): Promise<FoundFile | null> {
  const layout = await speechLayout(path);
  const size = layout === null ? await weightsSize(path) : await speechSize(path, layout);
  return size === null ? null : { path, ...size };
}

/**
 * Error codes that prove that nothing exists. Any other error (a failing disk, a hanging mount, missing
 * permissions) proves nothing.
 */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

const isAbsent = ({ code }: NodeJS.ErrnoException): boolean => ABSENT.has(code);

const statOrNull = (path: string) =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (isAbsent(error)) return null;
    throw error;
  });

/**
 * Returns the model at a path of a file or folder. Null when there is certainly none. Rejects when the disk
 * does not respond.
 */
export async function findModelOrThrow(path: string): Promise<FoundFile | null> {
  // One at a time: a disk that does not respond blocks one of Node's few file threads, not all.
  const parts: (Stats | null)[] = [];
  for (const part of splitParts(path)) parts.push(await statOrNull(part));
  const first = parts[0];
  if (first?.isDirectory()) {
    // Code that reads the folder treats an unreadable one as empty.
    await readdir(path);
    return findModelFolder(path);
  }
  if (!first?.isFile()) return null;
  if (isOnnxFile(path)) {
    const size = await piperSize(path);
    return size === null ? null : { path, ...size };
  }
  const sizeBytes = parts.reduce((sum, part) => sum + (part?.size ?? 0), 0);
  const ctimeMs = Math.max(...parts.map((part) => part?.ctimeMs ?? 0));
  const mtimeS = Math.floor(first.mtimeMs / 1000);
  return { path: splitParts(path)[0] ?? path, sizeBytes, mtimeS, ctimeMs };
}

/** Returns the model at a path. Also null when the disk does not respond. */
export const findModelFile = (path: string): Promise<FoundFile | null> =>
  findModelOrThrow(path).catch(() => null);

/** Adds one model file, unless it was visited under another name. */
async function addFile(path: string, state: ScanState): Promise<void> {
  const real = await state.runOnDisk(() => realpath(path)).catch(() => null);
  if (real === null || state.visited.has(real) || state.result.files.length >= state.limits.models) return;
  const found = await state.runOnDisk(() => findModelFile(path)).catch(() => null);
  if (found === null) return;
  state.visited.add(real);
  state.result.files.push(found);
}

/** Adds a model folder that was just visited. */
async function addFolder(folder: string, state: ScanState): Promise<void> {
  if (state.result.files.length >= state.limits.models) return;
  const found = await state.runOnDisk(() => findModelFolder(folder));
  if (found !== null) state.result.files.push(found);
}

/** Returns the files of a folder that cannot be used. Many alike become one entry. */
function unusableIn(folder: string, names: readonly string[], isWhole: boolean): UnusableEntry[] {
  const place = basename(folder);
  const whole = isWhole ? null : unusableFolder(names);
  const files = names.flatMap((name) => {
    const found = isWhole || whole !== null ? null : (unusableFile(name, names) ?? lostPart(name, names));
    const unfinished = isUnfinished(name) ? unusableFile(name, names) : null;
    const one = unfinished ?? found;
    return one === null ? [] : [{ ...one, file: `${place}/${name}` }];
  });
  const groups = Map.groupBy(files, ({ reason }) => reason);
  const listed = [...groups.values()].flatMap((group) =>
    group.length <= MAX_ALIKE
      ? group
      : group.slice(0, 1).map((first) => ({ ...first, file: `${first.file} and ${group.length - 1} more` })),
  );
  return whole === null ? listed : [{ ...whole, file: place }, ...listed];
}

/** Returns why a later part of a split model is none: its first part is missing. */
function lostPart(name: string, names: readonly string[]): Unusable | null {
  const split = /\.gguf$/i.test(name) ? splitName(name) : null;
  if (split === null || split.part === 1 || names.includes(splitParts(name)[0] ?? '')) return null;
  return {
    reason: `part ${split.part} of a split model whose first part is missing`,
    advice: 'Download the missing parts into the same folder.',
  };
}

async function entriesOf(folder: string, state: ScanState): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder)) {
    if (state.entriesLeft <= 0) break;
    state.entriesLeft -= 1;
    if (!entry.name.startsWith('.')) entries.push(entry);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function walkFolder(folder: string, depth: number, state: ScanState): Promise<void> {
  const real = await state.runOnDisk(() => realpath(folder));
  if (state.visited.has(real)) return;
  state.visited.add(real);
  state.folders.set(folder, await state.runOnDisk(() => pathState(folder)));
  const entries = await state.runOnDisk(() => entriesOf(folder, state));
  const names = entries.map(({ name }) => name);
  const whole = layoutOf(names) !== null || isWeightsFolder(names);
  const known = new Set(names);
  // Its sub-folders belong to it: word lists and rules, by the hundred, or the parts of one model.
  if (whole) await addFolder(folder, state);
  const { unusable } = state.result;
  const others = names.filter((name) => !isPiperVoice(name, known));
  for (const entry of unusableIn(folder, others, whole))
    if (unusable.length < MAX_UNUSABLE) unusable.push(entry);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const kind = entry.isSymbolicLink() ? await state.runOnDisk(() => stat(path)).catch(() => null) : entry;
    const isModel = isModelFile(entry.name) || (!whole && isPiperVoice(entry.name, known));
    if (kind?.isFile() && isModel) await addFile(path, state);
    if (!kind?.isDirectory() || depth <= 0 || whole) continue;
    await walkFolder(path, depth - 1, state).catch(() => {});
  }
}

/** Scans one model folder and records when it cannot be read or does not respond. */
async function walkModelFolder(folder: string, state: ScanState, mountGuard: MountGuard): Promise<void> {
  const { problems, unresponsive, folders } = state.result;
  state.folders = new Map();
  folders.set(folder, state.folders);
  state.runOnDisk = (question) =>
    mountGuard.run(folder, question).catch((error: unknown) => {
      if (error instanceof DiskTimeout && !unresponsive.includes(folder)) {
        unresponsive.push(folder);
        problems.push({ folder, reason: error.message });
      }
      throw error;
    });
  await walkFolder(folder, state.limits.depth, state).catch((error: NodeJS.ErrnoException) => {
    state.folders.set(folder, isAbsent(error) ? NO_PATH : UNKNOWN_STATE);
    if (!(error instanceof DiskTimeout)) problems.push({ folder, reason: error.code ?? error.message });
  });
}

/**
 * Finds the model files and model folders below `folders`, read only and bounded. Skips hidden names. Parts
 * of a split model count as one. A folder that cannot be read, or whose disk does not respond, is a line in
 * `problems`, never a failure.
 */
export async function scanFolders(
  folders: readonly string[],
  limits = SCAN_LIMITS,
  mountGuard = new MountGuard(),
): Promise<ScanResult> {
  const state: ScanState = {
    limits,
    entriesLeft: limits.entries,
    visited: new Set(),
    folders: new Map(),
    result: { files: [], problems: [], unresponsive: [], unusable: [], folders: new Map() },
    runOnDisk: (question) => question(),
  };
  for (const folder of folders) {
    await walkModelFolder(folder, state, mountGuard);
    if (state.entriesLeft > 0 && state.result.files.length < limits.models) continue;
    state.result.problems.push({ folder, reason: 'too many files; the rest is ignored' });
    break;
  }
  return state.result;
}
