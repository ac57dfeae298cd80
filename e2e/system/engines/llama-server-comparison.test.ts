/**
 * The same tiny models and requests on the embedded engine, through the gateway, and on a real llama-server. The answers
 * must differ in exactly the rows of docs/internals/llama-server-differences.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { llamaServerVersion } from '../../../daemon/test/harness/llama-server.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { CASES, type Case } from './comparison/cases.ts';
import { differences } from './comparison/difference.ts';
import { knownDifferences, type Row, rowOf, versionOf } from './comparison/known-differences.ts';
import { type EnginePairs, startPairs } from './comparison/pairs.ts';
import { snapshotDifferences } from './comparison/response-snapshot.ts';

const program = part('llama-server');
const table = join(import.meta.dirname, '..', '..', '..', 'docs', 'internals', 'llama-server-differences.md');
const markdown = readFileSync(table, 'utf8');
const rows = knownDifferences(markdown);
const used = new Set<Row>();

/** Another version than that of the table may differ elsewhere. Such differences are logged, not failures. */
const found = program === null ? undefined : llamaServerVersion(program);
const other =
  found !== versionOf(markdown) ? `the table is for ${versionOf(markdown)}, installed is ${found}` : null;
if (program !== null && other !== null) console.warn(`NOT STRICT: ${other}`);

describe.skipIf(program === null)('the embedded engine compared with llama-server', () => {
  let pairs: EnginePairs;

  beforeAll(async () => {
    pairs = await startPairs(program as string);
  });

  afterAll(async () => {
    await pairs?.stop();
  });

  it.for(CASES)('$name', async (testCase: Case, { skip }) => {
    const [theirs, ours] = await Promise.all([pairs.theirs(testCase), pairs.ours(testCase)]);
    const unlisted = [];
    for (const difference of snapshotDifferences(theirs, ours)) {
      const row = rowOf(rows, testCase.where, difference);
      if (row) used.add(row);
      else unlisted.push(difference);
    }
    if (other !== null && unlisted.length > 0) skip(`${other}: ${JSON.stringify(unlisted)}`);
    expect(unlisted, JSON.stringify({ theirs, ours }).slice(0, 4_000)).toEqual([]);
  });

  it('every row of the table is still true', ({ skip }) => {
    skip(other !== null, other ?? '');
    expect(rows.filter((row) => !used.has(row)).map(({ text }) => text)).toEqual([]);
  });
});

describe('the comparison itself', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ field: 'a', theirs: '1', ours: '2' }]],
    [
      { a: 1 },
      { b: null },
      [
        { field: 'a', theirs: '1', ours: 'absent' },
        { field: 'b', theirs: 'absent', ours: 'null' },
      ],
    ],
    [{ id: 'x' }, { id: 'y' }, []],
    [{ id: 'x' }, { id: 7 }, [{ field: 'id', theirs: 'string', ours: 'number' }]],
    [{ v: [0.5, 0.25] }, { v: [0.5001, 0.25] }, []],
    [{ v: [0.5, 0.25] }, { v: [0.5, 0.35] }, [{ field: 'v', theirs: 'a vector', ours: 'another vector' }]],
    [
      { c: [{ t: 'a' }, { t: 'b' }] },
      { c: [{ t: 'a' }, { t: 'c' }] },
      [{ field: 'c[].t', theirs: '"b"', ours: '"c"' }],
    ],
    [{ c: [{}] }, { c: [{}, {}] }, [{ field: 'c.length', theirs: '1', ours: '2' }]],
  ])('%j compared with %j', (theirs, ours, expected) => {
    expect(differences(theirs, ours)).toEqual(expected);
  });

  it('a row matches exactly its patterns', () => {
    const [row] = knownDifferences(
      '| Where | Field | a | b | c |\n| --- | --- | --- | --- | --- |\n| chat*, error: x | `a[].*` | `"y"` | `*` | so |',
    );
    const difference = { field: 'a[].b', theirs: '"y"', ours: 'null' };
    const known = (where: string, more: object = {}) =>
      rowOf([row as Row], where, { ...difference, ...more }) !== undefined;
    expect([known('chat, streamed'), known('error: x')]).toEqual([true, true]);
    expect([known('completions'), known('chat', { field: 'ab' }), known('chat', { theirs: '"z"' })]).toEqual([
      false,
      false,
      false,
    ]);
    expect(() => knownDifferences('| a |\n| - |\n| x | y | z | w | |')).toThrow('reason');
  });
});
