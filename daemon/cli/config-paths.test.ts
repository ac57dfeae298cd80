import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch, scratchOfFile } from '../lib/testing/scratch.ts';
import {
  configFolder,
  credential,
  gatewayUrl,
  keyAdvice,
  readEnvFile,
  serviceFolders,
  settingsEnvironment,
  stateFolder,
} from './config-paths.ts';

const file = (values: Record<string, string> = {}) => ({
  path: '/x/api.env',
  values: new Map(Object.entries(values)),
  unreadable: false,
});

describe('credential', () => {
  it('follows the order of the specification', () => {
    const env = { SVC_ADMIN_KEY: 'a', SVC_CLIENT_KEY: 'c' };
    const saved = file({ SVC_ADMIN_KEY: 'fa', SVC_CLIENT_KEY: 'fc' });
    expect(credential(env, saved)).toEqual({ key: 'a', from: 'the environment variable SVC_ADMIN_KEY' });
    expect(credential({ SVC_CLIENT_KEY: 'c' }, saved)?.key).toBe('c');
    expect(credential({}, saved)).toEqual({ key: 'fa', from: 'SVC_ADMIN_KEY in /x/api.env' });
    expect(credential({}, file({ SVC_CLIENT_KEY: 'fc' }))?.key).toBe('fc');
    expect(credential({ SVC_ADMIN_KEY: '  ' }, saved)?.key).toBe('fa');
    expect(credential({ SVC_ADMIN_KEY: '  ' }, file())).toBeNull();
  });
});

describe('the keys of api.env', () => {
  const saved = file({ SVC_ADMIN_KEY: 'fa', SVC_CLIENT_KEY: 'fc' });
  const locked = { ...file(), unreadable: true };

  it('go to no other machine, those of the environment do', () => {
    expect(credential({}, saved, 'elsewhere')).toBeNull();
    expect(credential({ SVC_CLIENT_KEY: 'c' }, saved, 'elsewhere')?.key).toBe('c');
  });

  it('are mentioned only when one would have been sent', () => {
    expect(keyAdvice(saved, null, 'elsewhere')).toMatch(
      /^no key is sent to elsewhere: \/x\/api\.env belongs to this machine's gateway/,
    );
    expect(keyAdvice(saved, { key: 'c', from: 'x' }, 'elsewhere')).toBeNull();
    expect(keyAdvice(file(), null, 'elsewhere')).toBeNull();
    expect(keyAdvice(locked, null, 'elsewhere')).toBeNull();
    expect(keyAdvice(locked, null, null)).toMatch(/^\/x\/api\.env is not readable/);
    expect(keyAdvice(file(), null, null)).toBeNull();
  });
});

describe('serviceFolders', () => {
  const service = { CONFIGURATION_DIRECTORY: '/etc/svc', STATE_DIRECTORY: '/var/lib/svc' };
  it.each([
    ['the installed service', { HOME: '/root' }, ['/etc/svc'], service],
    ['the own folders', { HOME: '/root' }, ['/etc/svc', '/root/.config/svc/api.env'], {}],
    ['a named home', { HOME: '/root', SVC_HOME: '/x' }, ['/etc/svc'], {}],
    ['folders that are named already', { HOME: '/root', CONFIGURATION_DIRECTORY: '/y' }, ['/etc/svc'], {}],
    ['no service', { HOME: '/root' }, [], {}],
  ])('%s', (_, env, there, expected) => {
    expect(serviceFolders(env, (path) => (there as string[]).includes(path))).toEqual(expected);
  });
});

describe('stateFolder', () => {
  it('belongs to the configuration folder', () => {
    expect(stateFolder({ SVC_HOME: '/h' }, () => true)).toBe('/h/state');
    expect(stateFolder({ HOME: '/u' }, (path) => path === '/etc/svc')).toBe('/var/lib/svc');
    expect(stateFolder({ HOME: '/u' }, () => false)).toBe('/u/.local/state/svc');
    expect(stateFolder({ HOME: '/u', XDG_STATE_HOME: '/s' }, () => false)).toBe('/s/svc');
  });
});

describe('settingsEnvironment', () => {
  const env = { HOME: '/root', SVC_ADMIN_KEY: 'a', SVC_CLIENT_KEY: 'c', SVC_PORT: '1' };
  const bare = { HOME: '/root', SVC_ADMIN_KEY: undefined, SVC_CLIENT_KEY: undefined, SVC_PORT: '1' };
  it.each([
    ['the own gateway has the keys of the shell', null, [], env],
    ['an installed service has not', null, ['/etc/svc'], bare],
    ['nor has one that is named', 'http://elsewhere', [], bare],
  ])('%s', (_, named, there, expected) => {
    expect(settingsEnvironment(env, named, (path) => (there as string[]).includes(path))).toEqual(expected);
  });
});

describe('gatewayUrl', () => {
  const empty = scratchOfFile();
  it.each([
    ['http://flag:1', 'http://flag:1/', {}, {}],
    ['http://env:2', undefined, { SVC_URL: 'http://env:2' }, {}],
    ['http://127.0.0.1:8080', undefined, {}, {}],
    ['http://127.0.0.1:9', undefined, { SVC_PORT: '1' }, { SVC_PORT: '9', SVC_BIND_HOST: '0.0.0.0' }],
    ['http://[::1]:8080', undefined, { SVC_BIND_HOST: '::' }, {}],
    ['http://[::1]:8080', undefined, { SVC_BIND_HOST: '::0' }, {}],
    ['http://[fd00::1]:8080', undefined, { SVC_BIND_HOST: 'fd00::1' }, {}],
  ])('is %s', (expected, flag, env, saved) =>
    expect(gatewayUrl(flag, env, { running: null, file: file(saved), folder: empty })).toBe(expected),
  );

  it.each([
    ['http://127.0.0.1:9', {}],
    ['http://127.0.0.1:1', { SVC_PORT: '1' }],
    ['http://env:2', { SVC_URL: 'http://env:2' }],
  ])('is %s while a gateway runs and the environment is %j', (expected, env) => {
    const local = { running: { host: '0.0.0.0', port: 9 }, file: file(), folder: empty };
    expect(gatewayUrl(undefined, env, local)).toBe(expected);
  });

  it('reads config.toml for values that are set nowhere else', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'config.toml'), '[server]\nport = 4321\nbind_host = "10.0.0.9"\n');
    expect(gatewayUrl(undefined, {}, { running: null, file: file(), folder })).toBe('http://10.0.0.9:4321');
  });
});

describe('configFolder', () => {
  it('prefers SVC_HOME, then the own folder, then the one of the service', () => {
    const has =
      (...paths: string[]) =>
      (path: string) =>
        paths.includes(path);
    expect(configFolder({ SVC_HOME: '/h' }, has())).toBe('/h/config');
    expect(configFolder({ XDG_CONFIG_HOME: '/c' }, has('/c/svc/api.env', '/etc/svc'))).toBe('/c/svc');
    expect(configFolder({ XDG_CONFIG_HOME: '/c' }, has('/etc/svc'))).toBe('/etc/svc');
    expect(configFolder({ HOME: '/u' }, has())).toBe('/u/.config/svc');
  });
});

describe('readEnvFile', () => {
  it('is empty when there is none', () => {
    expect(readEnvFile('/nowhere')).toMatchObject({ unreadable: false });
    expect(readEnvFile('/nowhere').values.size).toBe(0);
  });
});
