import { expect, test } from 'vitest';
import { type EnvMemory, enforcesByEnv, evaluateEnv } from './env-layer.ts';
import type { FileRead } from './read-file.ts';

const fresh: EnvMemory = { last: null, enforced: false, uid: 7 };
const file = (text: string, mode = 0o600, uid = 7): FileRead => ({
  kind: 'bytes',
  bytes: Buffer.from(text),
  mode,
  uid,
});
const withKey = { values: new Map([['SVC_ADMIN_KEY', 'abc']]), unread: new Set<string>() };
const unreadable: FileRead = { kind: 'unreadable', message: 'cannot be read (EACCES)' };
const judge = (read: FileRead, memory = fresh) => {
  const { state, values, problems } = evaluateEnv(read, memory);
  return {
    state,
    values: Object.fromEntries(values),
    problems: problems.map(({ line, message }) => [line, message]),
  };
};

test('a valid file, with any foreign names', () => {
  expect(judge(file('# c\nSVC_ADMIN_KEY=abc\nHF_TOKEN=x\n'))).toEqual({
    state: 'good',
    values: { SVC_ADMIN_KEY: 'abc', HF_TOKEN: 'x' },
    problems: [],
  });
});

test('a missing or an empty file means that every line was removed', () => {
  const memory = { ...fresh, last: withKey, enforced: true };
  expect(judge({ kind: 'missing' }, memory)).toEqual({ state: 'missing', values: {}, problems: [] });
  expect(judge(file(''), memory)).toEqual({ state: 'good', values: {}, problems: [] });
});

test('an unreadable file keeps its previous values', () => {
  const memory = { ...fresh, last: withKey };
  expect(judge(unreadable, memory)).toEqual({
    state: 'broken',
    values: { SVC_ADMIN_KEY: 'abc' },
    problems: [[null, 'cannot be read (EACCES); its previous content stays in effect']],
  });
});

test('at a first start it counts as on if it was on', () => {
  expect(judge(unreadable, { ...fresh, enforced: true }).values).toEqual({ SVC_REQUIRE_AUTH: 'on' });
  expect(judge(unreadable).values).toEqual({});
});

test('reports ignored lines and unknown settings, never their text', () => {
  const result = judge(file('set SVC_ADMIN_KEY=geheim\nSVC_ADMIN_KYE=geheim\nSVC_PORT=1\ngeheim\n'));
  expect(result.problems).toEqual([
    [1, 'has no valid name; the line is ignored'],
    [2, 'unknown setting SVC_ADMIN_KYE'],
    [4, 'is not NAME=value; the line is ignored'],
  ]);
  expect(JSON.stringify(result.problems)).not.toContain('geheim');
});

test('reports a hash in a value, which is not a comment', () => {
  expect(judge(file('A=1\nSVC_CLIENT_KEY=geheim # mine\n'))).toEqual({
    state: 'good',
    values: { A: '1', SVC_CLIENT_KEY: 'geheim # mine' },
    problems: [[2, expect.stringMatching(/^has " #" in its value.*separate lines/)]],
  });
});

test('a wrong mode or owner is a problem, not an error', () => {
  expect(judge(file('A=1', 0o640)).problems).toEqual([[null, expect.stringMatching(/mode 640.*chmod 600/)]]);
  expect(judge(file('A=1', 0o600, 0)).problems).toEqual([
    [null, expect.stringMatching(/user 0.*rotated.*chown 7/)],
  ]);
  expect(judge(file('A=1', 0o600, 0), { ...fresh, uid: null }).problems).toEqual([]);
});

test.each([
  [undefined, false],
  ['', false],
  [' ', false],
  ['off', false],
  ['0', false],
  ['on', true],
  ['YES', true],
  ['what', true],
])('SVC_REQUIRE_AUTH=%s enforces: %s', (text, on) => {
  expect(enforcesByEnv(new Map(text === undefined ? [] : [['SVC_REQUIRE_AUTH', text]]))).toBe(on);
});

test('SVC_REQUIRE_AUTH with a value that is not text counts as on, unless a later line sets it', () => {
  const bytes = (text: string): FileRead => ({
    kind: 'bytes',
    bytes: Buffer.from(text, 'latin1'),
    mode: 0o600,
    uid: 7,
  });
  for (const text of ['SVC_REQUIRE_AUTH=o\xff', 'SVC_REQUIRE_AUTH=off\nSVC_REQUIRE_AUTH=\xfc\n']) {
    expect(enforcesByEnv(evaluateEnv(bytes(text), fresh).values)).toBe(true);
  }
  const later = evaluateEnv(bytes('SVC_REQUIRE_AUTH=\xff\nSVC_REQUIRE_AUTH=off\n'), fresh);
  expect(enforcesByEnv(later.values)).toBe(false);
  expect(judge(bytes('SVC_ADMIN_KEY=\xff\n'))).toMatchObject({
    values: {},
    problems: [[1, 'has a value that is not UTF-8 text; the line is ignored']],
  });
});

test('reports names that are assigned without effect, and for an unreadable file the admin key', () => {
  const unread = (read: FileRead, last: EnvMemory['last'] = null) => [
    ...evaluateEnv(read, { ...fresh, last }).unread,
  ];
  expect(unread(file('set SVC_ADMIN_KEY=a\nset SVC_PORT=\nB=1\n'))).toEqual(['SVC_ADMIN_KEY']);
  expect(unread(file('MY_SVC_ADMIN_KEY=a\n#SVC_ADMIN_KEY=a\n'))).toEqual([]);
  expect(unread(unreadable)).toEqual(['SVC_ADMIN_KEY']);
  expect(unread(unreadable, evaluateEnv(unreadable, fresh))).toEqual(['SVC_ADMIN_KEY']);
  expect(unread(unreadable, withKey)).toEqual([]);
  expect(unread({ kind: 'missing' }, evaluateEnv(unreadable, fresh))).toEqual([]);
});
