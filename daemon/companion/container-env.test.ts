import { expect, it } from 'vitest';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';
import { companionPlan } from './companion-env.ts';
import { containerEnv, envFileText } from './container-env.ts';

async function environment(text: string, clientKey = 'the-key', bindHost = '127.0.0.1') {
  const settings = await loadSettingsReadOnly({ SVC_HOME: '/nonexistent/svc' });
  const plan = companionPlan(Buffer.from(text), settings);
  return Object.fromEntries(containerEnv({ plan, clientKey, bindHost, port: 8080 }));
}

it.each([
  [
    '',
    {
      OPENAI_API_KEY: 'the-key',
      OPENAI_API_BASE_URL: 'http://127.0.0.1:8080/v1',
      HOST: '127.0.0.1',
      PORT: '3000',
    },
  ],
  ['HOST=evil\nPORT=1\nSVC_OWUI_PORT=81', { HOST: '127.0.0.1', PORT: '81' }],
  ['OPENAI_API_KEY=old', { OPENAI_API_KEY: 'the-key' }],
  ['OPENAI_API_BASE_URL=http://gw.lan/v1', { OPENAI_API_BASE_URL: 'http://gw.lan/v1' }],
  [
    'WEBUI_AUTH_TRUSTED_EMAIL_HEADER=X-Email',
    { WEBUI_AUTH: 'True', WEBUI_AUTH_TRUSTED_EMAIL_HEADER: 'X-Email' },
  ],
  ['WEBUI_AUTH_TRUSTED_EMAIL_HEADER=X-Email\nWEBUI_AUTH=False', { WEBUI_AUTH: 'False' }],
  ['WEBUI_AUTH=1\nOFFLINE_MODE=yes', { WEBUI_AUTH: 'True', OFFLINE_MODE: 'True' }],
  ['WEBUI_AUTH="True "', { WEBUI_AUTH: 'True' }],
  ['WEBUI_AUTH=perhaps\nOFFLINE_MODE=no', { WEBUI_AUTH: 'perhaps', OFFLINE_MODE: 'no' }],
  ['ANY="two words # and more"', { ANY: 'two words # and more' }],
])('%j gives the container %j', async (text, expected) => {
  expect(await environment(text)).toMatchObject(expected);
});

const PARTS = ['RAG', 'AUDIO_STT', 'AUDIO_TTS', 'AUDIO_REALTIME', 'IMAGES', 'IMAGES_EDIT'];

it.each(PARTS)('%s uses the gateway with the client key; another server never receives it', async (part) => {
  const [url, key] = [`${part}_OPENAI_API_BASE_URL`, `${part}_OPENAI_API_KEY`];
  const own = 'http://127.0.0.1:8080/v1';
  expect(await environment('')).toMatchObject({ [url]: own, [key]: 'the-key' });
  for (const blank of ['', '  ']) expect((await environment(`${url}="${blank}"`))[url]).toBe(own);
  expect(await environment(`${key}=old`)).toMatchObject({ [url]: own, [key]: 'the-key' });
  expect(await environment(`${url}=${own}/`)).toMatchObject({ [url]: own, [key]: 'the-key' });
  const elsewhere = await environment('OPENAI_API_BASE_URL=http://gw.lan/v1/');
  expect(elsewhere).toMatchObject({ [url]: 'http://gw.lan/v1', [key]: 'the-key' });
  const other = await environment(`${url}=https://api.example.com/v1`);
  // Without the variable, Open WebUI sends OPENAI_API_KEY.
  expect(other).toMatchObject({ [url]: 'https://api.example.com/v1', [key]: '' });
  const withKey = await environment(`${url}=https://api.example.com/v1\n${key}=theirs`);
  expect(withKey).toMatchObject({ [key]: 'theirs' });
  expect(await environment('', '')).not.toHaveProperty(key);
});

it("contains none of the gateway's variables and no generated key", async () => {
  const env = await environment('SVC_OWUI_PORT=81\nSVC_ADMIN_KEY=never', '');
  expect(Object.keys(env).filter((name) => name.startsWith('SVC_'))).toEqual([]);
  expect(env).not.toHaveProperty('OPENAI_API_KEY');
  expect((await environment('OPENAI_API_KEY=mine', '')).OPENAI_API_KEY).toBe('mine');
});

it.each([
  ['0.0.0.0', 'http://127.0.0.1:8080/v1'],
  ['::', 'http://[::1]:8080/v1'],
  ['192.168.1.5', 'http://192.168.1.5:8080/v1'],
])('a gateway on %s is reached at %s', async (bindHost, address) => {
  expect((await environment('', 'k', bindHost)).OPENAI_API_BASE_URL).toBe(address);
});

it('writes one variable per line; a multi-line value is refused, naming only the variable', () => {
  expect(
    envFileText(
      new Map([
        ['A', '1 2'],
        ['B', ''],
      ]),
    ),
  ).toBe('A=1 2\nB=\n');
  const text = () => envFileText(new Map([['A', 'secret\nOPENAI_API_KEY=other']]));
  expect(text).toThrow(/^A holds more than one line\.$/);
});
