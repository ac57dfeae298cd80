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
import { listed, type Row, rowOf, versionOf } from './comparison/known-differences.ts';
import { type Beside, startPairs } from './comparison/pairs.ts';
import { picturesDiffer } from './comparison/response-snapshot.ts';

const program = part('llama-server');
const table = join(import.meta.dirname, '..', '..', '..', 'docs', 'internals', 'llama-server-differences.md');
const markdown = readFileSync(table, 'utf8');
const rows = listed(markdown);
const used = new Set<Row>();

/** Another llama-server than the table's may differ elsewhere: it is told, and is no fault of the gateway. */
const found = program === null ? undefined : llamaServerVersion(program);
const other =
  found !== versionOf(markdown) ? `the table is of ${versionOf(markdown)}, here is ${found}` : null;
if (program !== null && other !== null) console.warn(`NOT STRICT: ${other}`);

describe.skipIf(program === null)('the embedded engine beside llama-server', () => {
  let beside: Beside;

  beforeAll(async () => {
    beside = await startPairs(program as string);
  });

  afterAll(async () => {
    await beside?.stop();
  });

  it.for(CASES)('$name', async (asked: Case, { skip }) => {
    const [theirs, ours] = await Promise.all([beside.theirs(asked), beside.ours(asked)]);
    const unlisted = [];
    for (const seen of picturesDiffer(theirs, ours)) {
      const row = rowOf(rows, asked.where, seen);
      if (row) used.add(row);
      else unlisted.push(seen);
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
  ])('%j beside %j', (theirs, ours, expected) => {
    expect(differences(theirs, ours)).toEqual(expected);
  });

  it('a row lists what its patterns say and nothing else', () => {
    const [row] = listed(
      '| Where | Field | a | b | c |\n| --- | --- | --- | --- | --- |\n| chat*, error: x | `a[].*` | `"y"` | `*` | so |',
    );
    const seen = { field: 'a[].b', theirs: '"y"', ours: 'null' };
    const known = (where: string, more: object = {}) =>
      rowOf([row as Row], where, { ...seen, ...more }) !== undefined;
    expect([known('chat, streamed'), known('error: x')]).toEqual([true, true]);
    expect([known('completions'), known('chat', { field: 'ab' }), known('chat', { theirs: '"z"' })]).toEqual([
      false,
      false,
      false,
    ]);
    expect(() => listed('| a |\n| - |\n| x | y | z | w | |')).toThrow('reason');
  });
});
