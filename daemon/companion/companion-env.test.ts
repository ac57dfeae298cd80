import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';
import { companionPlan, readCompanionPlan } from './companion-env.ts';
import { companionSeed } from './seed.ts';

const plan = async (text: string, env: Record<string, string> = {}) =>
  companionPlan(Buffer.from(text), await loadSettingsReadOnly({ SVC_HOME: '/nonexistent/svc', ...env }));

it.each([
  ['', {}, { bindHost: '127.0.0.1', port: 3000, isLoopback: true, signIn: true, trustsHeader: false }],
  ['', { SVC_BIND_HOST: '0.0.0.0' }, { bindHost: '0.0.0.0', isLoopback: false }],
  [
    'SVC_OWUI_BIND_HOST=10.0.0.2\nSVC_OWUI_PORT=81',
    {},
    { bindHost: '10.0.0.2', port: 81, isLoopback: false },
  ],
  ['SVC_OWUI_PORT=81', { SVC_OWUI_PORT: '82' }, { port: 81 }],
  ['', { SVC_OWUI_PORT: '82', SVC_OWUI_BIND_HOST: '10.0.0.3' }, { port: 82, bindHost: '10.0.0.3' }],
  ['SVC_OWUI_PORT=none\nSVC_OWUI_BIND_HOST=a b', {}, { port: 3000, bindHost: '127.0.0.1' }],
  ['WEBUI_AUTH=False', {}, { signIn: false }],
  ['WEBUI_AUTH="true"', {}, { signIn: true }],
  ['WEBUI_AUTH="true" # a comment only at the start of a line', {}, { signIn: false }],
  ['WEBUI_AUTH=yes', {}, { signIn: true, problems: [] }],
  ['WEBUI_AUTH="True "', {}, { signIn: true, problems: [] }],
  ['WEBUI_AUTH=', {}, { signIn: false }],
  ['WEBUI_AUTH=perhaps', {}, { signIn: false }],
  ['WEBUI_AUTH_TRUSTED_EMAIL_HEADER=X-Email', {}, { trustsHeader: true }],
  ['WEBUI_AUTH_TRUSTED_EMAIL_HEADER=', {}, { trustsHeader: false }],
  ['WEBUI_URL=https://chat.example.com', {}, { publicUrl: 'https://chat.example.com/' }],
  ['WEBUI_URL=javascript:alert(1)', {}, { publicUrl: null }],
])('%j with %j is %j', async (text, env, expected) => {
  expect(await plan(text, env)).toMatchObject(expected);
});

it('a first companion.env is read as intended', async () => {
  const read = await plan(companionSeed({ bindHost: '0.0.0.0', port: 3001, sessionSecret: 'abc' }));
  expect(read).toMatchObject({
    bindHost: '0.0.0.0',
    port: 3001,
    signIn: true,
    trustsHeader: false,
    publicUrl: null,
  });
  expect(Object.fromEntries(read.variables)).toMatchObject({
    WEBUI_AUTH: 'True',
    ENABLE_PERSISTENT_CONFIG: 'False',
    WEBUI_SECRET_KEY: 'abc',
  });
  expect(read.variables.has('OPENAI_API_KEY')).toBe(false);
});

it('an invalid value is reported with its line', async () => {
  const text =
    'SVC_OWUI_PORT=abc\nnot a line\nSVC_OWUI_BIND_HOST=a b\nWEBUI_AUTH=perhaps\nWEBUI_URL=javascript:alert(1)\n';
  const { problems } = await plan(text);
  const file = 'companion.env';
  const problem = (line: number, message: string) => ({
    file,
    line,
    message: expect.stringContaining(message),
  });
  expect(problems).toEqual([
    problem(2, ''),
    problem(1, 'SVC_OWUI_PORT: must be'),
    problem(3, 'SVC_OWUI_BIND_HOST: '),
    problem(4, 'WEBUI_AUTH: must be'),
    problem(5, 'WEBUI_URL: must be'),
  ]);
  expect((await plan('SVC_OWUI_PORT=\nWEBUI_URL=\nWEBUI_AUTH=0\nANY=x')).problems).toEqual([]);
  expect((await plan('WEBUI_AUTH=')).problems).toMatchObject([{ line: 1 }]);
});

it('without the file, or with something that is not a file, there is no plan', async () => {
  const folder = scratch();
  const settings = await loadSettingsReadOnly({ SVC_HOME: '/nonexistent/svc' });
  expect(await readCompanionPlan(folder, settings)).toBeNull();
  mkdirSync(join(folder, 'companion.env'));
  expect(await readCompanionPlan(folder, settings)).toBeNull();
  rmSync(join(folder, 'companion.env'), { recursive: true });
  writeFileSync(join(folder, 'companion.env'), Buffer.alloc(300 << 10));
  expect(await readCompanionPlan(folder, settings)).toBeNull();
});
