/**
 * Every writer of files, with each file system call of Node failing in turn or the process ending before it. Afterwards the disk
 * has the old or the new content, no secret was readable by others at any time, and the same write succeeds.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type FaultKind, withFault } from '../../../daemon/test/harness/failing-fs.ts';
import type { Writer } from '../../../daemon/test/harness/writer.ts';
import {
  allowedOutcomes,
  inFolder,
  readableByOthers,
  repeatWrite,
  sampleOf,
  sweepTempFiles,
  tempFiles,
} from '../../../daemon/test/harness/writer-checks.ts';
import { SINGLE } from '../../../daemon/test/harness/writers.ts';
import { MANY } from '../../../daemon/test/harness/writers-many.ts';

const WRITERS = Object.entries({ ...SINGLE, ...MANY });
const ERRORS: readonly FaultKind[] = ['ENOSPC', 'EIO', 'EROFS'];
/** Number of calls of a slow writer that are tested at the default scale. */
const SLOW_CALLS = 4;
/** Upper bound of the calls of a writer. */
const ENOUGH = 400;

/** Does one write with one fault. Returns the number of its calls. */
async function once(writer: Writer, kind: FaultKind, at: number): Promise<number> {
  return inFolder(writer, async (root) => {
    const session = await writer.begin(root);
    const points = new Set<string>();
    const before = () => {
      for (const path of readableByOthers(root, writer)) points.add(path);
    };
    const done = await withFault({ root, kind, at, before }, () => session.write());
    const what = `${kind} at call ${at} of ${done.calls}, ${done.hit}: ${done.error}`;
    const left = writer.outcome(root);
    if (kind === 'cut') expect(['old', 'between', 'new'], what).toContain(left);
    else {
      expect(allowedOutcomes(done.error !== null, writer), what).toContain(left);
      expect(session.agrees?.() ?? true, `${what}: what is live is what is written`).toBe(true);
      // The next start removes a file that could not be removed.
      if (done.hit !== 'unlink') expect(tempFiles(root), what).toEqual([]);
    }
    await session.end?.();
    await sweepTempFiles(root);
    expect([...points, ...readableByOthers(root, writer), ...tempFiles(root)], what).toEqual([]);
    expect(await repeatWrite(root, writer), what).toBe('new');
    return done.calls;
  });
}

/** The numbers of the tested calls; `npm test` tests a few of them. */
const callsOf = (name: string, calls: number, least: number) =>
  sampleOf(
    name,
    Array.from({ length: calls }, (_, i) => i + 1),
    least,
  );

/** Tests every call in turn, until a run makes fewer calls; for a slow writer a sample. */
async function everyCall(name: string, writer: Writer, kind: FaultKind): Promise<void> {
  if (writer.slow === 'calls') {
    const calls = await once(writer, kind, 0);
    expect(calls).toBeGreaterThanOrEqual(writer.minCalls);
    for (const at of callsOf(name, calls, SLOW_CALLS)) await once(writer, kind, at);
    return;
  }
  for (let at = 1; at < ENOUGH; at++) {
    const calls = await once(writer, kind, at);
    if (calls >= at) continue;
    expect(calls).toBeGreaterThanOrEqual(writer.minCalls);
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
    '%s at every call: old or new content, private, and the next write succeeds',
    {
      timeout: 120_000,
    },
    (kind) => everyCall(name, writer, kind),
  );

  it('killed before a call: same guarantees', { timeout: 3_600_000 }, async () => {
    const program = join(
      import.meta.dirname,
      '..',
      '..',
      '..',
      'daemon',
      'test',
      'harness',
      'kill-during-write.ts',
    );
    const die = (root: string, at: number) =>
      promisify(execFile)(process.execPath, [program, name, root, String(at)]).then(
        () => 'lived',
        (error: { signal?: string; stderr?: string }) => error.signal ?? error.stderr,
      );
    const calls = await once(writer, 'EIO', 0);
    for (const at of callsOf(name, calls, 1)) {
      await inFolder(writer, async (root) => {
        expect(await die(root, at), `call ${at}`).toBe('SIGKILL');
        expect(['old', 'between', 'new'], `call ${at}`).toContain(writer.outcome(root));
        await sweepTempFiles(root);
        expect([...readableByOthers(root, writer), ...tempFiles(root)]).toEqual([]);
        expect(await repeatWrite(root, writer), `call ${at}`).toBe('new');
      });
    }
  });
});
