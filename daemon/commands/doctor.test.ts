import { expect, it } from 'vitest';
import { memorySettings } from '../auth/testing.ts';
import { wayIn } from './doctor.ts';

const settings = memorySettings({}, { adminKey: 'of-api.env', port: 4321, bindHost: '127.0.0.1' });
const asked = (url: string | undefined, env: Record<string, string> = {}) =>
  wayIn(settings, { env, given: { url } as never });

it("keys of the settings open this machine's gateway alone, those of the environment any", () => {
  expect(asked(undefined)).toEqual({ url: 'http://127.0.0.1:4321', key: 'of-api.env' });
  expect(asked('http://127.0.0.1:1/')).toEqual({ url: 'http://127.0.0.1:1', key: 'of-api.env' });
  expect(asked('http://elsewhere.invalid').key).toBeNull();
  expect(asked(undefined, { SVC_URL: 'http://elsewhere.invalid' }).key).toBeNull();
  expect(asked(undefined, { SVC_URL: '' }).url).toBe('http://127.0.0.1:4321');
  expect(asked('http://elsewhere.invalid', { SVC_CLIENT_KEY: 'c' }).key).toBe('c');
});
