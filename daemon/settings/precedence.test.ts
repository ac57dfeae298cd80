import { expect, test } from 'vitest';
import { SETTINGS, type SettingName } from './catalogue.ts';
import { environmentValue, resolve, type Sources } from './precedence.ts';

interface Inputs {
  file?: Record<string, string>;
  everInFile?: string[];
  unread?: string[];
  inherited?: Record<string, string | undefined>;
  toml?: Record<string, unknown>;
}
const sources = (inputs: Inputs): Sources => ({
  fileEnv: new Map(Object.entries(inputs.file ?? {})),
  everInFile: new Set(inputs.everInFile ?? []),
  inheritedEnv: inputs.inherited ?? {},
  unread: new Set(inputs.unread ?? []),
  toml: new Map(Object.entries(inputs.toml ?? {})),
});
const of = (name: SettingName, inputs: Inputs) => {
  const { value, source, persisted, warning } = resolve<unknown>(SETTINGS[name] as never, sources(inputs));
  return {
    value,
    source,
    ...(persisted === undefined ? {} : { persisted }),
    ...(warning ? { warning } : {}),
  };
};

const R = 'SVC_REQUIRE_AUTH';
const T = 'security.require_auth';

test.each<[string, Inputs, unknown]>([
  ['nothing', {}, { value: false, source: 'default' }],
  ['config.toml', { toml: { [T]: true } }, { value: true, source: 'file', persisted: true }],
  ['inherited', { inherited: { [R]: '1' } }, { value: true, source: 'env' }],
  [
    'inherited beats config.toml',
    { inherited: { [R]: 'off' }, toml: { [T]: true } },
    { value: false, source: 'env', persisted: true },
  ],
  [
    'api.env precedes an inherited value',
    { file: { [R]: 'no' }, inherited: { [R]: 'yes' } },
    { value: false, source: 'env' },
  ],
  [
    'blank in api.env unsets the inherited one',
    { file: { [R]: ' ' }, inherited: { [R]: 'yes' } },
    { value: false, source: 'default' },
  ],
  [
    'blank inherited is unset',
    { inherited: { [R]: '' }, toml: { [T]: true } },
    { value: true, source: 'file', persisted: true },
  ],
  [
    'removed from api.env is unset',
    { everInFile: [R], inherited: { [R]: 'yes' } },
    { value: false, source: 'default' },
  ],
  ['accepted words in any case, trimmed', { inherited: { [R]: '  TRUE ' } }, { value: true, source: 'env' }],
])('enforcement: %s', (_title, inputs, expected) => {
  expect(of('requireAuth', inputs)).toEqual(expected);
});

test.each(['1', 'true', 'yes', 'on', 'YES'])('%s turns enforcement on', (word) => {
  expect(of('requireAuth', { file: { [R]: word }, toml: { [T]: false } })).toMatchObject({
    value: true,
    source: 'env',
  });
});
test.each(['0', 'false', 'no', 'off', 'Off'])('%s turns enforcement off', (word) => {
  expect(of('requireAuth', { file: { [R]: word }, toml: { [T]: true } })).toMatchObject({
    value: false,
    source: 'env',
  });
});

test('any other word counts as on, with a warning that lists the accepted ones', () => {
  for (const word of ['enabled', '2', 'y', 'tru', 'null', '-1', 'öff']) {
    const result = of('requireAuth', { inherited: { [R]: word } });
    expect(result).toMatchObject({ value: true, source: 'env' });
    expect(result.warning).toMatch(/SVC_REQUIRE_AUTH.*1, true, yes, on.*0, false, no, off/);
  }
});

test.each([
  'hub.example',
  'htps://hub.example',
  'https://hub.example/?token=x',
  'https://me:secret@hub.example',
  'https://hub example',
  'file:///models',
  'https://',
])('the hub %s: the default and a warning without it', (address) => {
  const { source, warning } = of('hubUrl', { inherited: { HF_ENDPOINT: address } });
  expect(source).toBe('default');
  expect(warning).toMatch(/must be an address like https:\/\/hub\.example/);
  expect(warning).not.toMatch(/secret|token|me:/);
});

test.each(['0', '-1', '1.5', 'ten', 'Infinity', 'NaN', '1e3', '0x10', '99999999999', '10 # ten'])(
  'limiter budget %s: the default and a warning, never unlimited',
  (text) => {
    const result = of('loginRatelimitMax', { inherited: { SVC_LOGIN_RATELIMIT_MAX: text } });
    expect(result).toMatchObject({ value: 10, source: 'default' });
    expect(result.warning).toContain('SVC_LOGIN_RATELIMIT_MAX');
  },
);
test.each(['0', '-60', 'x', '1e9', '90000'])('limiter window %s: the default and a warning', (text) => {
  const result = of('loginRatelimitWindowS', { inherited: { SVC_LOGIN_RATELIMIT_WINDOW_S: text } });
  expect(result).toMatchObject({
    value: 60,
    source: 'default',
    warning: expect.stringContaining('WINDOW_S'),
  });
});
test('accepts valid limiter values, also with a fraction', () => {
  expect(of('loginRatelimitMax', { inherited: { SVC_LOGIN_RATELIMIT_MAX: ' 3 ' } })).toEqual({
    value: 3,
    source: 'env',
  });
  expect(of('loginRatelimitWindowS', { inherited: { SVC_LOGIN_RATELIMIT_WINDOW_S: '60.0' } })).toEqual({
    value: 60,
    source: 'env',
  });
});

test('a bad variable still wins over the file, with the strict default', () => {
  const result = of('trustForwardedFor', {
    inherited: { SVC_TRUST_FORWARDED_FOR: 'maybe' },
    toml: { 'security.trust_forwarded_for': true },
  });
  expect(result).toMatchObject({
    value: false,
    source: 'default',
    persisted: true,
    warning: expect.stringContaining('SVC_TRUST_FORWARDED_FOR'),
  });
});

test('a setting without variable or without key', () => {
  expect(of('guardRemoteAdmin', { toml: { 'security.guard_remote_admin': false } })).toEqual({
    value: false,
    source: 'file',
    persisted: false,
  });
  expect(of('adminKey', { file: { SVC_ADMIN_KEY: ' abc ' } })).toEqual({ value: 'abc', source: 'env' });
  expect(of('adminKey', { file: { SVC_ADMIN_KEY: 'schlüssel' } })).toMatchObject({
    value: '',
    source: 'default',
  });
});

test('returns the environment value of any name with its source', () => {
  const all = sources({
    file: { A: '1', B: '' },
    everInFile: ['A', 'B', 'C'],
    inherited: { A: 'x', B: 'x', C: 'x', D: '2', E: undefined },
  });
  const read = (name: string) => environmentValue(name, all);
  expect(read('A')).toEqual({ text: '1', origin: 'file' });
  expect(read('D')).toEqual({ text: '2', origin: 'inherited' });
  for (const name of ['B', 'C', 'E', 'F', 'constructor', '__proto__']) expect(read(name)).toBeUndefined();
});

test('a name that is assigned without effect has the value of the other sources, and is reported', () => {
  const row = SETTINGS.adminKey;
  const unread = ['SVC_ADMIN_KEY'];
  expect(resolve(row, sources({ unread }))).toMatchObject({ value: '', source: 'default', unusable: true });
  expect(resolve(row, sources({ unread, inherited: { SVC_ADMIN_KEY: 'abc' } }))).not.toHaveProperty(
    'unusable',
  );
});
