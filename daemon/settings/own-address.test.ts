import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { parseEnvFile } from './env-file.ts';
import { openSettings } from './open-settings.ts';
import { configuredAddress } from './own-address.ts';

let home = '';
beforeEach(() => {
  home = scratch();
  for (const folder of ['config', 'state']) mkdirSync(join(home, folder), { mode: 0o700 });
});
const write = (name: string, text: string) =>
  writeFileSync(join(home, 'config', name), text, { mode: 0o600 });

/** Returns where a gateway that starts now would listen. */
async function gateways(env: Record<string, string>) {
  const settings = await openSettings({ env: { SVC_HOME: home, ...env }, log: silentLog(), watch: false });
  settings.close();
  return { host: settings.value('bindHost'), port: settings.value('port') };
}
const svcctls = (env: Record<string, string>, apiEnv: string) =>
  configuredAddress({
    env,
    apiEnv: parseEnvFile(Buffer.from(apiEnv)),
    config: join(home, 'config'),
    folderEnv: { SVC_HOME: home },
  });

const GOOD = '[server]\nport = 9100\nbind_host = "10.0.0.9"\n';

describe('the configured address is the one that the gateway uses', () => {
  it.each<[string, string, string, Record<string, string>, number]>([
    ['without any setting', '', '', {}, 8080],
    ['by config.toml', GOOD, '', {}, 9100],
    ['by api.env before it', GOOD, 'SVC_PORT=9200\n', {}, 9200],
    ['by the environment', GOOD, '', { SVC_PORT: '9300' }, 9300],
    ['for a blank line of api.env above the environment', GOOD, 'SVC_PORT=\n', { SVC_PORT: '9300' }, 9100],
    ['for an invalid port', GOOD, 'SVC_PORT=80800\n', {}, 8080],
    ['for a port with blanks', GOOD, 'SVC_PORT="9090 "\n', {}, 9090],
    ['for a port in quotes', '[server]\nport = "9091"\n', '', {}, 8080],
  ])('%s', async (_name, config, apiEnv, env, port) => {
    write('config.toml', config);
    write('api.env', apiEnv);
    expect(svcctls(env, apiEnv)).toEqual(await gateways(env));
    expect(svcctls(env, apiEnv).port).toBe(port);
  });

  it.each([
    ['a slip in config.toml', '[server\nport = 1\n'],
    ['an invalid value', '[server]\nport = 80800\nbind_host = "10.0.0.9"\n'],
    ['an empty file', ''],
  ])('after %s the address is the last good one', async (_name, config) => {
    write('config.toml', GOOD);
    await gateways({});
    write('config.toml', config);
    expect(svcctls({}, '')).toEqual({ host: '10.0.0.9', port: 9100 });
    expect(await gateways({})).toEqual({ host: '10.0.0.9', port: 9100 });
  });

  it('returns the defaults when nothing can be read', () => {
    mkdirSync(join(home, 'config', 'config.toml'));
    writeFileSync(join(home, 'state', 'last-good.json'), '[');
    expect(svcctls({}, '')).toEqual({ host: '127.0.0.1', port: 8080 });
  });
});
