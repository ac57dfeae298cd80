import { expect, test } from 'vitest';
import { isSecretName, isWritableSecret, SecretList } from './secrets.ts';

test.each([
  'SVC_ADMIN_KEY',
  'SVC_CLIENT_KEY',
  'HF_TOKEN',
  'OPENAI_API_KEY',
  'x_password',
  'TOKEN',
  'AWS_CREDENTIALS',
])('%s is secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});
test.each(['SVC_PORT', 'SVC_MODEL', 'HOME', 'PATH', 'SSH_AUTH_SOCK', 'KEYBOARD', 'MONKEY'])(
  '%s is not',
  (name) => {
    expect(isSecretName(name)).toBe(false);
  },
);

test.each([
  ['HF_TOKEN', true],
  ['UPSTREAM_DESK_2', true],
  ['UPSTREAM_', false],
  ['UPSTREAM_desk', false],
  [`UPSTREAM_${'A'.repeat(65)}`, false],
  ['XUPSTREAM_A', false],
  ['SVC_ADMIN_KEY', false],
  ['LD_PRELOAD', false],
])('the API may write %s: %j', (name, expected) => {
  expect(isWritableSecret(name)).toBe(expected);
});

test('values of all environments, unchanged and trimmed, without blank ones', () => {
  const list = new SecretList();
  list.update(
    new Map([['SVC_ADMIN_KEY', ' a ']]),
    Object.entries({ HF_TOKEN: 'h', SVC_CLIENT_KEY: ' ', B_KEY: undefined, HOME: '/h' }),
  );
  expect([...list.values].sort()).toEqual([' a ', 'a', 'h']);
});

test('retains former values, newest first', () => {
  const list = new SecretList();
  for (let i = 0; i < 200; i++) list.update([['SVC_ADMIN_KEY', `key${i}`]]);
  expect(list.values).toHaveLength(65);
  expect([list.values[0], list.values[1], list.values.at(-1)]).toEqual(['key199', 'key198', 'key135']);
});

test('a value that contains another one precedes it, regardless of when they were set', () => {
  const list = new SecretList();
  list.update([
    ['SVC_CLIENT_KEY', 'homelab-key'],
    ['SVC_ADMIN_KEY', 'homelab-key-s3cret-admin'],
  ]);
  expect(list.values).toEqual(['homelab-key-s3cret-admin', 'homelab-key']);
  list.update([['SVC_CLIENT_KEY', 'key-s3cret']]);
  expect(list.values).toEqual(['homelab-key-s3cret-admin', 'homelab-key', 'key-s3cret']);
});
