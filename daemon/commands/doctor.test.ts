import { expect, it } from 'vitest';
import { memorySettings } from '../auth/testing.ts';
import { gatewayAccess } from './doctor.ts';

const settings = memorySettings({}, { adminKey: 'of-api.env', port: 4321, bindHost: '127.0.0.1' });
const access = (url: string | undefined, env: Record<string, string> = {}, foreignUrl = '') =>
  gatewayAccess(settings, { env, args: { url } as never }, (at) => at === foreignUrl);

it('keys of the settings are sent only to the gateway of this machine, those of the environment to any gateway', () => {
  expect(access(undefined)).toEqual({ url: 'http://127.0.0.1:4321', key: 'of-api.env' });
  expect(access('http://127.0.0.1:1/')).toEqual({ url: 'http://127.0.0.1:1', key: 'of-api.env' });
  expect(access('http://elsewhere.invalid').key).toBeNull();
  expect(access(undefined, { SVC_URL: 'http://elsewhere.invalid' }).key).toBeNull();
  expect(access(undefined, { SVC_URL: '' }).url).toBe('http://127.0.0.1:4321');
  expect(access('http://elsewhere.invalid', { SVC_CLIENT_KEY: 'c' }).key).toBe('c');
});

it('a port of this machine that another user listens on gets keys of the environment only', () => {
  const own = 'http://127.0.0.1:4321';
  expect(access(undefined, {}, own)).toEqual({ url: own, key: null });
  expect(access(undefined, { SVC_ADMIN_KEY: 'a' }, own).key).toBe('a');
});
