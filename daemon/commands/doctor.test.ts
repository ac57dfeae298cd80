import { expect, it } from 'vitest';
import { memorySettings } from '../auth/testing.ts';
import { gatewayAccess } from './doctor.ts';

const settings = memorySettings({}, { adminKey: 'of-api.env', port: 4321, bindHost: '127.0.0.1' });
const asked = (url: string | undefined, env: Record<string, string> = {}, strange = '') =>
  gatewayAccess(settings, { env, args: { url } as never }, (at) => at === strange);

it("keys of the settings open this machine's gateway alone, those of the environment any", () => {
  expect(asked(undefined)).toEqual({ url: 'http://127.0.0.1:4321', key: 'of-api.env' });
  expect(asked('http://127.0.0.1:1/')).toEqual({ url: 'http://127.0.0.1:1', key: 'of-api.env' });
  expect(asked('http://elsewhere.invalid').key).toBeNull();
  expect(asked(undefined, { SVC_URL: 'http://elsewhere.invalid' }).key).toBeNull();
  expect(asked(undefined, { SVC_URL: '' }).url).toBe('http://127.0.0.1:4321');
  expect(asked('http://elsewhere.invalid', { SVC_CLIENT_KEY: 'c' }).key).toBe('c');
});

it('a port of this machine that another user holds gets keys of the environment only', () => {
  const own = 'http://127.0.0.1:4321';
  expect(asked(undefined, {}, own)).toEqual({ url: own, key: null });
  expect(asked(undefined, { SVC_ADMIN_KEY: 'a' }, own).key).toBe('a');
});
