/** Invariants after every write with an injected fault. */
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sweepTemps } from '../../lib/fs/temp-file.ts';
import { factor, randomFrom, seed } from './scale.ts';
import { filesBelow, type Outcome, type Writer } from './writer.ts';

/** The tests make thousands of flushes. They check the order, so a memory disk is used where available. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Calls `work` with a prepared folder that is removed afterwards. */
export async function inFolder<T>(writer: Writer, work: (root: string) => Promise<T>): Promise<T> {
  const root = realpathSync(mkdtempSync(join(SCRATCH, 'svc-writer-')));
  try {
    await writer.prepare(root);
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Returns the files that other users could read; empty for a writer whose files are not secret. */
export function readableByOthers(root: string, { isPublic }: Writer): string[] {
  if (isPublic) return [];
  return filesBelow(root).filter((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o177) !== 0;
  });
}

export const tempFiles = (root: string): string[] => filesBelow(root).filter((path) => path.endsWith('.tmp'));

/** Removes temporary files as the next start does. */
export async function sweepTempFiles(root: string): Promise<void> {
  for (const folder of new Set(tempFiles(root).map((path) => dirname(path)))) await sweepTemps(folder);
}

/** Returns the allowed outcomes of a write that reported success or failure. */
export function allowedOutcomes(failed: boolean, { canFailLate }: Writer): Outcome[] {
  if (!failed) return ['new'];
  return canFailLate ? ['old', 'between', 'new'] : ['old', 'between'];
}

/** Repeats the write, as the next start or request does. */
export async function repeatWrite(root: string, writer: Writer): Promise<Outcome> {
  if (writer.outcome(root) === 'new') return 'new';
  const pending = await writer.begin(root);
  try {
    await pending.write();
  } finally {
    await pending.end?.();
  }
  return writer.outcome(root);
}

const scaled = factor(process.env.SVC_TEST_SCALE);

/** Returns a random sample of `all`: this share, but at least `min`; all under `npm run soak`. */
export function sampleOf<T>(name: string, all: readonly T[], min: number, share = scaled): T[] {
  const random = randomFrom(seed(name));
  const count = Math.max(min, Math.ceil(all.length * share));
  return all
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ item }) => item);
}
