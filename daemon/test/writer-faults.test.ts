/**
 * Every writer of files, with every call of the file system failing in turn, or the process dying before it: what is on the
 * disk is the old content or the new one, no secret can be read by others at any instant, and the same write succeeds next.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sweepTemps } from '../kit/temp-file.ts';
import { type Faulted, type FaultKind, withFault } from './harness/failing-fs.ts';
import { factor, randomFrom, seed } from './harness/scale.ts';
import type { Left, Writer } from './harness/writer.ts';
import { SINGLE } from './harness/writers.ts';
import { filesBelow, MANY } from './harness/writers-many.ts';

const WRITERS = Object.entries({ ...SINGLE, ...MANY });
const ERRORS: readonly FaultKind[] = ['ENOSPC', 'EIO', 'EROFS'];
/** Thousands of flushes: a disk of memory where there is one, because what is asked is their order and not their time. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Calls of a slow writer that are tried in `npm test`. */
const SLOW_CALLS = 4;
/** A writer makes fewer calls than this. */
const ENOUGH = 400;

/** A folder of its own with what was there before, removed afterwards. */
async function inFolder<T>(writer: Writer, work: (root: string) => Promise<T>): Promise<T> {
  const root = realpathSync(mkdtempSync(join(SCRATCH, 'svc-writer-')));
  try {
    await writer.prepare(root);
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Files that others could read; a writer of what is no secret has none that count. */
function wide(root: string, { open }: Writer): string[] {
  if (open) return [];
  return filesBelow(root).filter((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o177) !== 0;
  });
}

const temps = (root: string) => filesBelow(root).filter((path) => path.endsWith('.tmp'));

async function sweep(root: string): Promise<void> {
  for (const folder of new Set(temps(root).map((path) => dirname(path)))) await sweepTemps(folder);
}

/** What a write may leave when it says that it succeeded, and when it says that it did not. */
function allowed({ error }: Faulted, { mayFailLate }: Writer): Left[] {
  if (error === null) return ['new'];
  return mayFailLate ? ['old', 'between', 'new'] : ['old', 'between'];
}

/** The same write again, as the next start or the next request does it. */
async function again(root: string, writer: Writer): Promise<Left> {
  if (writer.left(root) === 'new') return 'new';
  const begun = await writer.begin(root);
  try {
    await begun.write();
  } finally {
    await begun.end?.();
  }
  return writer.left(root);
}

/** One write with one fault; answers how many calls it made. */
async function once(writer: Writer, kind: FaultKind, at: number): Promise<number> {
  return inFolder(writer, async (root) => {
    const begun = await writer.begin(root);
    const seen = new Set<string>();
    const before = () => {
      for (const path of wide(root, writer)) seen.add(path);
    };
    const done = await withFault({ root, kind, at, before }, begun.write);
    const what = `${kind} at call ${at} of ${done.calls}, ${done.hit}: ${done.error}`;
    const left = writer.left(root);
    if (kind === 'cut') expect(['old', 'between', 'new'], what).toContain(left);
    else {
      expect(allowed(done, writer), what).toContain(left);
      expect(begun.agrees?.() ?? true, `${what}: what is live is what is written`).toBe(true);
      // A name that could not be removed is removed by the next start.
      if (done.hit !== 'unlink') expect(temps(root), what).toEqual([]);
    }
    await begun.end?.();
    await sweep(root);
    expect([...seen, ...wide(root, writer), ...temps(root)], what).toEqual([]);
    expect(await again(root, writer), what).toBe('new');
    return done.calls;
  });
}

/** Calls in an order that nobody foresees; a few of them in `npm test`, all under `npm run soak`. */
function some(name: string, calls: number, least: number): number[] {
  const random = randomFrom(seed(name));
  const all = Array.from({ length: calls }, (_, i) => ({ at: i + 1, place: random() }));
  const most = Math.max(least, Math.ceil(calls * factor(process.env.SVC_TEST_SCALE)));
  return all
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ at }) => at);
}

/** Every call in turn, until a run has fewer of them; of a slow writer some. */
async function everyCall(name: string, writer: Writer, kind: FaultKind): Promise<void> {
  if (writer.slow === 'calls') {
    const calls = await once(writer, kind, 0);
    expect(calls).toBeGreaterThanOrEqual(writer.least);
    for (const at of some(name, calls, SLOW_CALLS)) await once(writer, kind, at);
    return;
  }
  for (let at = 1; at < ENOUGH; at++) {
    const calls = await once(writer, kind, at);
    if (calls >= at) continue;
    expect(calls).toBeGreaterThanOrEqual(writer.least);
    return;
  }
  expect.fail(`more than ${ENOUGH} calls`);
}

const kindsFor = ({ native, slow }: Writer): readonly FaultKind[] => {
  const errors = slow ? ERRORS.slice(0, 1) : ERRORS;
  return native ? errors : [...errors, 'cut'];
};

describe.each(WRITERS)('R12 DL03 %s', (name, writer) => {
  it.each(kindsFor(writer))(
    '%s at every call: old or new, private, and next time it succeeds',
    {
      timeout: 120_000,
    },
    (kind) => everyCall(name, writer, kind),
  );

  it('killed before a call: the same', { timeout: 3_600_000 }, async () => {
    const program = join(import.meta.dirname, 'harness', 'write-and-die.ts');
    const die = (root: string, at: number) =>
      promisify(execFile)(process.execPath, [program, name, root, String(at)]).then(
        () => 'lived',
        (error: { signal?: string; stderr?: string }) => error.signal ?? error.stderr,
      );
    const calls = await once(writer, 'EIO', 0);
    for (const at of some(name, calls, 1)) {
      await inFolder(writer, async (root) => {
        expect(await die(root, at), `call ${at}`).toBe('SIGKILL');
        expect(['old', 'between', 'new'], `call ${at}`).toContain(writer.left(root));
        await sweep(root);
        expect([...wide(root, writer), ...temps(root)]).toEqual([]);
        expect(await again(root, writer), `call ${at}`).toBe('new');
      });
    }
  });
});
