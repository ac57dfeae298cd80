import { expect, test } from 'vitest';
import { evaluateConfig } from './config-layer.ts';
import type { ConfigMemory } from './config-values.ts';
import type { FileRead } from './read-file.ts';

const file = (text: string): FileRead => ({ kind: 'bytes', bytes: Buffer.from(text), mode: 0o600, uid: 0 });
const missing: FileRead = { kind: 'missing' };
const unreadable: FileRead = { kind: 'unreadable', message: 'cannot be read (EIO)' };
const fresh: ConfigMemory = { lastGood: null, enforced: false };
const after = (values: Record<string, unknown>, enforced = values[T] === true): ConfigMemory => ({
  lastGood: new Map(Object.entries(values)),
  enforced,
});
const T = 'security.require_auth';
const P = 'server.port';

const judge = (read: FileRead, memory: ConfigMemory) => {
  const { state, values, problems } = evaluateConfig(read, memory);
  return {
    state,
    values: Object.fromEntries(values),
    problems: problems.map(({ line, message }) => [line, message]),
  };
};

test('a valid file', () => {
  expect(
    judge(
      file('[security]\nrequire_auth = true\nallowed_hosts = [" a.b ", ""]\n[server]\nport = 9000\n'),
      fresh,
    ),
  ).toEqual({
    state: 'good',
    values: { [T]: true, 'security.allowed_hosts': ['a.b'], [P]: 9000 },
    problems: [],
  });
});

test('a file that never existed has no values and no problems', () => {
  expect(judge(missing, fresh)).toEqual({ state: 'missing', values: {}, problems: [] });
  expect(judge(file(''), fresh)).toEqual({ state: 'good', values: {}, problems: [] });
});

test.each<[string, FileRead, number | null, RegExp]>([
  ['not TOML', file('[server]\nport = \n'), 2, /TOML/],
  ['half written', file('[server]\nport = 1\n[secur'), 3, /TOML/],
  ['empty', file(' \n'), null, /empty/],
  ['too large', { kind: 'unreadable', message: 'is larger than 1048576 bytes' }, null, /larger/],
  ['not readable', unreadable, null, /EIO/],
  ['not UTF-8', { kind: 'bytes', bytes: Buffer.from([0x23, 0xff]), mode: 0, uid: 0 }, 1, /UTF-8/],
])('%s: the last good values stay', (_title, read, line, message) => {
  const result = judge(read, after({ [T]: true, [P]: 9000 }));
  expect(result).toMatchObject({ state: 'broken', values: { [T]: true, [P]: 9000 } });
  expect(result.problems).toEqual([[line, expect.stringMatching(message)]]);
  expect(result.problems[0]?.[1]).toContain('the last good configuration stays active');
});

test('unreadable without a last good copy: on if it was on, otherwise defaults', () => {
  expect(judge(unreadable, { lastGood: null, enforced: true }).values).toEqual({ [T]: true });
  expect(judge(file(''), { lastGood: null, enforced: true })).toMatchObject({
    state: 'broken',
    values: { [T]: true },
  });
  expect(judge(unreadable, fresh).values).toEqual({});
  expect(judge(unreadable, fresh).problems[0]?.[1]).toContain('defaults are used');
});

test('a broken file is a fatal error only without an earlier state', () => {
  const fatalError = (memory: ConfigMemory) => evaluateConfig(file('[server'), memory).fatalError;
  expect(fatalError(fresh)).toEqual({
    file: 'config.toml',
    line: 1,
    message: expect.stringMatching(/^is not valid TOML.*[^;]$/),
  });
  expect(fatalError(fresh)?.message).not.toContain('defaults');
  expect(fatalError({ lastGood: null, enforced: true })).toBeUndefined();
  expect(fatalError(after({}))).toBeUndefined();
  expect(evaluateConfig(missing, fresh).fatalError).toBeUndefined();
});

test('when the two saved states differ, on wins', () => {
  expect(judge(unreadable, after({ [T]: false }, true)).values).toEqual({ [T]: true });
  expect(judge(unreadable, after({ [T]: true }, false)).values).toEqual({ [T]: true });
});

test('a removed file means defaults, but enforcement that was on stays on and reports how to turn it off', () => {
  const result = judge(missing, after({ [T]: true, [P]: 9000 }));
  expect(result).toMatchObject({ state: 'missing', values: { [T]: true } });
  expect(result.problems[0]?.[1]).toMatch(/keys are still required.*require_auth = false/);
  expect(judge(missing, after({ [T]: false, [P]: 9000 }))).toEqual({
    state: 'missing',
    values: {},
    problems: [],
  });
});

test('a readable file without the key means off, although it was on', () => {
  expect(judge(file('# nothing\n'), after({ [T]: true })).values).toEqual({});
});

test('an invalid value keeps its last good one, and the other keys apply', () => {
  const result = judge(file('[server]\nport = "x"\nmax_connections = 5\n'), after({ [P]: 9000 }));
  expect(result).toEqual({
    state: 'good',
    values: { [P]: 9000, 'server.max_connections': 5 },
    problems: [[2, 'server.port must be a number; 9000 is used']],
  });
});

test('an invalid value without a last good one means the default', () => {
  const result = judge(file('[server]\nport = 70000\n'), fresh);
  expect(result.values).toEqual({});
  expect(result.problems).toEqual([[2, 'server.port must be from 0 to 65535; 8080 is used']]);
});

test.each(['"true"', '"off"', '1', '0', '[]', '"maybe"', '2020-01-01'])(
  'require_auth = %s never turns enforcement off',
  (text) => {
    const wrong = file(`[security]\nrequire_auth = ${text}\n`);
    expect(judge(wrong, after({ [T]: true })).values).toEqual({ [T]: true });
    expect(judge(wrong, fresh).values).toEqual({ [T]: true });
    expect(judge(wrong, after({}, true)).values).toEqual({ [T]: true });
    expect(judge(wrong, after({ [T]: false })).values).toEqual({ [T]: false });
    expect(judge(wrong, fresh).problems).toEqual([
      [2, 'security.require_auth must be true or false; true is used'],
    ]);
  },
);

test('reports unknown tables and keys with their lines, in order', () => {
  const text =
    '# x\nport = 1\n[server]\nprot = 2\nport = 9\n[a.b]\nc = 1\n[security]\n"require auth" = true\n';
  expect(judge(file(text), fresh)).toEqual({
    state: 'good',
    values: { [P]: 9 },
    problems: [
      [2, 'unknown name "port"'],
      [4, 'unknown key "server.prot"'],
      [6, 'unknown name "a"'],
      [9, 'unknown key "security.require auth"'],
    ],
  });
});

test('another value instead of a table: one problem, its keys keep their last good values', () => {
  for (const text of [
    'security = 5\n',
    'security = [1]\n',
    'security = 2020-01-01\n',
    '[[security]]\nrequire_auth = false\n',
  ]) {
    const result = judge(file(text), after({ [T]: true }));
    expect(result.values).toEqual({ [T]: true });
    expect(result.problems).toEqual([[1, '"security" must be a table']]);
    expect(judge(file(text), fresh).values).toEqual({ [T]: true });
  }
});

test('names of object properties are ordinary unknown names', () => {
  const result = judge(file('__proto__ = 1\nconstructor = 2\n[security]\n__proto__ = true\n'), fresh);
  expect(result.values).toEqual({});
  expect(result.problems).toHaveLength(3);
});

test('truncates a long list of problems and reports it', () => {
  const result = judge(file(Array.from({ length: 200 }, (_, i) => `k${i} = 1`).join('\n')), fresh);
  expect(result.problems).toHaveLength(51);
  expect(result.problems.at(-1)).toEqual([null, 'has 150 more problems']);
});
