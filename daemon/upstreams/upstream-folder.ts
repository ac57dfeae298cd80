import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../lib/fs/read-small-file.ts';
import { limitProblems, type Problem } from '../settings/problem.ts';
import { revisionOf } from '../settings/revision.ts';
import { isTomlFileName } from '../settings/toml-file-name.ts';
import {
  type ReadUpstream,
  readUpstreamFile,
  UPSTREAM_FILE_CAP,
  type UpstreamConfig,
} from './upstream-file.ts';

/** Upstreams that one gateway may have. */
export const MAX_UPSTREAMS = 64;

export interface UpstreamFolder {
  /** By name. */
  readonly configs: readonly UpstreamConfig[];
  readonly problems: readonly Problem[];
  /** Of each file that could be read, by upstream. */
  readonly revisions: ReadonlyMap<string, string>;
  /** Upstreams with an unusable file: their last good settings stay. */
  readonly broken: ReadonlySet<string>;
}

const nameOf = (file: string): string => file.replace(/\.toml$/, '');
const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code ?? 'unknown';

function namesIn(folder: string): string[] | { code: string } {
  try {
    return readdirSync(folder).filter(isTomlFileName).sort();
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? [] : { code: codeOf(cause) };
  }
}

function readOne(folder: string, file: string): ReadUpstream & { revision?: string } {
  const unusable = (message: string): ReadUpstream => ({
    config: null,
    problems: [{ file: `upstreams/${file}`, line: null, message }],
  });
  try {
    const bytes = readSmallFile(join(folder, file), UPSTREAM_FILE_CAP);
    if (bytes === null) return unusable('is not a file of at most 64 KiB');
    return { ...readUpstreamFile(file, bytes.toString('utf8')), revision: revisionOf(bytes) };
  } catch (cause) {
    return unusable(`cannot be read (${codeOf(cause)})`);
  }
}

/**
 * Reads every upstream of the folder `upstreams/`. A broken file affects only its own upstream; a missing
 * folder is normal. Never throws.
 */
export function readUpstreamFolder(folder: string): UpstreamFolder | { readonly problem: Problem } {
  const names = namesIn(folder);
  if (!Array.isArray(names)) {
    return { problem: { file: 'upstreams', line: null, message: `cannot be listed (${names.code})` } };
  }
  const read = names.slice(0, MAX_UPSTREAMS).map((file) => ({ file, ...readOne(folder, file) }));
  const problems = read.flatMap((one) => one.problems);
  if (names.length > MAX_UPSTREAMS) {
    const message = `contains more than ${MAX_UPSTREAMS} files; the rest is ignored`;
    problems.push({ file: 'upstreams', line: null, message });
  }
  return {
    configs: read.flatMap((one) => (one.config === null ? [] : [one.config])),
    problems: limitProblems(problems),
    revisions: new Map(
      read.flatMap(({ file, revision }) => (revision === undefined ? [] : [[nameOf(file), revision]])),
    ),
    broken: new Set(read.flatMap((one) => (one.config === null ? [nameOf(one.file)] : []))),
  };
}
