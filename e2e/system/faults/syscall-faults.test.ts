/**
 * Every writer of files and of the database, with strace injecting an error or SIGKILL into its n-th system call. A new
 * process must find the old content or the new one and all that was acknowledged, and no file with a secret may be readable
 * by others at any time. Without strace, `e2e/system/faults/writer-faults.test.ts` makes the calls of Node fail, and
 * `daemon/store/store.crash.test.ts` and `daemon/store/open.test.ts` kill, fill up and damage what SQLite writes.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../daemon/contract/errors.ts';
import type { WriteReport } from '../../../daemon/test/harness/report-write.ts';
import { factor } from '../../../daemon/test/harness/scale.ts';
import {
  type Injection,
  isBelow,
  type SystemCall,
  traced,
  whyNotTraceable,
  widened,
} from '../../../daemon/test/harness/strace.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { filesBelow, type Writer } from '../../../daemon/test/harness/writer.ts';
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
import { STORE } from '../../../daemon/test/harness/writers-store.ts';

const WRITERS = Object.entries({ ...STORE, ...SINGLE, ...MANY });
const PROGRAM = join(
  import.meta.dirname,
  ...['..', '..', '..', 'daemon', 'test', 'harness', 'report-write.ts'],
);
/** Minimum number of tested calls: per kind for writers of SQLite, over all kinds for the others. */
const MIN_CALLS = { store: 2, others: 1 };
/** How often each call is tested in `npm run soak`. */
const REPEATS = 20;

/** Calls that allocate disk space. */
const GROWS =
  /^(p?write|p?write64|fsync|fdatasync|ftruncate|fallocate|link(at)?|rename(at2?)?|mkdir(at)?|copy_)/;
const makesFile = ({ name, words }: SystemCall) => name === 'openat' && words.includes('O_CREAT');
const changes = (call: SystemCall) =>
  GROWS.test(call.name) || makesFile(call) || /unlink|chmod/.test(call.name);

/** The injected faults. */
type Kind = 'ENOSPC' | 'EIO' | 'SIGKILL';

const KINDS: Readonly<Record<Kind, { what: string; fits: (call: SystemCall) => boolean }>> = {
  ENOSPC: { what: 'error=ENOSPC', fits: (call) => GROWS.test(call.name) || makesFile(call) },
  EIO: { what: 'error=EIO', fits: () => true },
  SIGKILL: { what: 'signal=SIGKILL', fits: changes },
};

/** The permitted errors: those of the catalogue, and an error of the start with its next step. */
const CATALOGUE = [...Object.keys(ERRORS), 'SetupError'];
/** Permitted errors of inner writers. Node's recursive mkdir reports ENOENT from a check after the failed call. */
const OF_A_DISK = ['ENOSPC', 'EIO', 'ENOENT'];

const strace = part('strace');
const unable = strace === null ? 'there is no strace' : await whyNotTraceable(strace);
if (strace !== null && unable !== null)
  console.warn(`SKIPPED, strace can't follow a process here: ${unable}`);

const ALL_KINDS = Object.keys(KINDS) as Kind[];
const APART = ALL_KINDS.map((kind) => ({ title: kind, kinds: [kind] }));
const TOGETHER = [{ title: ALL_KINDS.join(', '), kinds: ALL_KINDS }];

interface WriteOutcome {
  readonly report: WriteReport | null;
  readonly acknowledged: string[];
  readonly calls: readonly SystemCall[];
  readonly ended: number | string | null;
  readonly what: string;
}

/** Does one write in a separate process. */
async function write(name: string, root: string, injection: Injection | null): Promise<WriteOutcome> {
  const command = [process.execPath, PROGRAM, name, root];
  const { out, err, ended, calls } = await traced(strace ?? '', command, injection);
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const report: WriteReport | undefined = lines.find((line) => 'error' in line);
  const hits = calls.filter(({ hit }) => hit).map((call) => `${call.name}(${call.words}`);
  return {
    report: report ?? null,
    acknowledged: lines.flatMap((line) => line.acknowledged ?? []),
    calls,
    ended,
    what: [`${injection?.what} at ${injection?.name} ${injection?.nth}`, ...hits, report?.message, err].join(
      '\n',
    ),
  };
}

/** Asserts the result of a completed run. `left` is the state of the files. */
function expectReport({ report, ended, what }: WriteOutcome, writer: Writer, left: string): void {
  if (ended === 'SIGKILL') {
    expect(['old', 'between', 'new'], what).toContain(left);
    return;
  }
  expect({ ended, hasReport: report !== null }, what).toEqual({ ended: 0, hasReport: true });
  expect(allowedOutcomes(report?.error !== null, writer), what).toContain(left);
  if (report?.error !== null) expect(writer.isInner ? OF_A_DISK : CATALOGUE, what).toContain(report?.error);
  expect(report?.agrees, `${what}: the state in memory equals the files`).toBe(true);
}

/** Does one write with one fault. Returns whether the fault was hit. */
async function once(name: string, writer: Writer, injection: Injection): Promise<boolean> {
  return inFolder(writer, async (root) => {
    const before = filesBelow(root);
    const outcome = await write(name, root, injection);
    const { what, calls, ended } = outcome;
    const hits = calls.filter(({ hit }) => hit);
    // The n-th call of a helper thread may concern a file of the program itself.
    const astray = hits.some((call) => !isBelow(root, call));
    if (!writer.isPublic) expect(widened(calls, root, before), what).toEqual([]);
    if (!astray) expectReport(outcome, writer, writer.outcome(root));
    await sweepTempFiles(root);
    expect([...readableByOthers(root, writer), ...tempFiles(root)], what).toEqual([]);
    expect(
      outcome.acknowledged.filter((each) => writer.contains?.(root, each) === false),
      what,
    ).toEqual([]);
    expect(await repeatWrite(root, writer), what).toBe('new');
    return ended === 'SIGKILL' || hits.length > 0;
  });
}

/** Returns the calls below its folder that a write makes without faults. */
async function callsOf(name: string, writer: Writer): Promise<readonly SystemCall[]> {
  return inFolder(writer, async (root) => {
    const before = filesBelow(root);
    const { report, calls, what, acknowledged } = await write(name, root, null);
    expect(report, what).toMatchObject({ error: null, agrees: true });
    expect(writer.outcome(root), what).toBe('new');
    expect(acknowledged.filter((each) => !writer.contains?.(root, each))).toEqual([]);
    if (!writer.isPublic) expect(widened(calls, root, before)).toEqual([]);
    return calls.filter((call) => isBelow(root, call));
  });
}

interface Point {
  readonly kind: Kind;
  readonly call: SystemCall;
}

/** Tests each call `REPEATS` times, or a few of them once. Returns how many were tested and hit. */
async function everyCall(name: string, writer: Writer, points: readonly Point[]): Promise<number> {
  const share = factor(process.env.SVC_TEST_SCALE);
  // The scale applies to the calls and to their repeats.
  const minCalls = name in STORE ? MIN_CALLS.store : MIN_CALLS.others;
  const tried = sampleOf(`${name}, ${points[0]?.kind}`, points, minCalls, share ** 2);
  const rounds = Math.ceil(REPEATS * share ** 2);
  let hit = 0;
  for (let round = 0; round < rounds; round++) {
    for (const { kind, call } of tried) {
      const { what } = KINDS[kind];
      hit += Number(await once(name, writer, { name: call.name, nth: call.nth, what }));
    }
  }
  return hit;
}

describe.skipIf(unable !== null).each(WRITERS)(
  'R12 R13 Q04 Q05 %s, with real system calls',
  (name, writer) => {
    let calls: readonly SystemCall[] = [];
    beforeAll(async () => {
      calls = await callsOf(name, writer);
    });
    const pointsOf = (kind: Kind): Point[] => calls.filter(KINDS[kind].fits).map((call) => ({ kind, call }));

    it.each(name in STORE ? APART : TOGETHER)(
      '$title at every call: old or new content, private, and no acknowledged write is lost',
      { timeout: 86_400_000 },
      async ({ kinds }) => {
        const points = kinds.flatMap(pointsOf);
        expect(points.length).toBeGreaterThan(0);
        expect(await everyCall(name, writer, points)).toBeGreaterThan(0);
      },
    );
  },
);
