/** What holds after every write that a fault hit, whoever made the fault. */
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sweepTemps } from '../../lib/fs/temp-file.ts';
import { factor, randomFrom, seed } from './scale.ts';
import { filesBelow, type Left, type Writer } from './writer.ts';

/** Thousands of flushes: a disk of memory where there is one, because what is asked is their order and not their time. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder of its own with what was there before, removed afterwards. */
export async function inFolder<T>(writer: Writer, work: (root: string) => Promise<T>): Promise<T> {
  const root = realpathSync(mkdtempSync(join(SCRATCH, 'svc-writer-')));
  try {
    await writer.prepare(root);
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Files that others could read; a writer of what is no secret has none that count. */
export function wide(root: string, { open }: Writer): string[] {
  if (open) return [];
  return filesBelow(root).filter((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o177) !== 0;
  });
}

export const temps = (root: string): string[] => filesBelow(root).filter((path) => path.endsWith('.tmp'));

/** What the next start does with what a death has left. */
export async function sweep(root: string): Promise<void> {
  for (const folder of new Set(temps(root).map((path) => dirname(path)))) await sweepTemps(folder);
}

/** What a write may leave when it says that it succeeded, and when it says that it did not. */
export function allowed(failed: boolean, { mayFailLate }: Writer): Left[] {
  if (!failed) return ['new'];
  return mayFailLate ? ['old', 'between', 'new'] : ['old', 'between'];
}

/** The same write again, as the next start or the next request does it. */
export async function again(root: string, writer: Writer): Promise<Left> {
  if (writer.left(root) === 'new') return 'new';
  const begun = await writer.begin(root);
  try {
    await begun.write();
  } finally {
    await begun.end?.();
  }
  return writer.left(root);
}

const scaled = factor(process.env.SVC_TEST_SCALE);

/** Some of `all` in an order that nobody foresees: this share of them, `least` at least; all under `npm run soak`. */
export function some<T>(name: string, all: readonly T[], least: number, share = scaled): T[] {
  const random = randomFrom(seed(name));
  const most = Math.max(least, Math.ceil(all.length * share));
  return all
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ one }) => one);
}
