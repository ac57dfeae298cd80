import { expect, test } from 'vitest';
import { checkFaultRows, faultRows, inputsOf } from './fault-rows.ts';

const PAGE = `# Faults
| kind | tested in |
| --- | --- |
| one | \`a.test.ts\` "gets %s", "is (whole)", \`b.test.ts\` |
| two | \`c.property.test.ts\` "any" |
| three | \`d.spec.ts\` "a page", \`d.test.ts\` "x" |
`;
const [one, two, three] = faultRows(PAGE);

test('a row names files, each with titles or as a whole', () => {
  expect(one).toEqual({
    kind: 'one',
    tests: [
      { file: 'a.test.ts', title: 'gets %s' },
      { file: 'a.test.ts', title: 'is (whole)' },
      { file: 'b.test.ts', title: '' },
    ],
  });
  expect([two?.kind, three?.tests.length]).toEqual(['two', 2]);
});

test.each<[string, Record<string, string[]>, number]>([
  ['each row of a table', { 'a.test.ts': ['gets 1', 'group > gets 2', 'other'] }, 2],
  ['a text that is no pattern', { 'a.test.ts': ['is (whole)', 'is whole'] }, 1],
  ['a test with two of the titles once', { 'a.test.ts': ['gets what is (whole)'] }, 1],
  ['a whole file', { 'b.test.ts': ['x', 'y', 'z'] }, 3],
  ['no test of another file', { 'e.test.ts': ['gets 1'] }, 0],
])('counts %s', (_, names, count) => {
  expect(inputsOf(one as never, new Map(Object.entries(names)))).toBe(count);
});

test('a property counts as many inputs, and only while its title exists', () => {
  const counted = (name: string) => inputsOf(two as never, new Map([['c.property.test.ts', [name]]]));
  expect([counted('any interleaving'), counted('other')]).toEqual([Number.POSITIVE_INFINITY, 0]);
});

test('a row with too few inputs is a failure', () => {
  const names = new Map([
    ['c.property.test.ts', ['any']],
    ['d.test.ts', ['x 1', 'x 2']],
  ]);
  expect(checkFaultRows(PAGE, names)).toMatchObject({
    counts: { passed: 1, failed: 1 },
    failures: [{ name: 'client faults: three', text: 'Its tests have 2 inputs. A kind of fault needs 6.' }],
  });
});

test('rows whose files have not run are not checked, nor those of browser tests', () => {
  const page = '| one | `e2e/a.spec.ts` "x" |';
  expect(checkFaultRows(page, new Map())).toBeNull();
  expect(checkFaultRows(PAGE, new Map([['a.test.ts', ['gets 1']]]))).toBeNull();
});
