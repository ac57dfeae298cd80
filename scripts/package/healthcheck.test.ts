import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseCommandLine } from '../../daemon/cli/command-line.ts';
import { status } from '../../daemon/cli/commands/auth.ts';
import { gatewayUrl } from '../../daemon/cli/config-paths.ts';
import { ROUTES } from '../../daemon/contract/routes.ts';

const image = readFileSync(join(import.meta.dirname, '..', '..', 'packaging', 'Containerfile'), 'utf8');
const [program, ...words] = JSON.parse(/^HEALTHCHECK CMD (\[.*\])$/m.exec(image)?.[1] ?? '[]') as string[];
const nothing = { path: '/nowhere', values: new Map<string, string>(), unreadable: false };

it('the image checks a public route with its own command', async () => {
  expect(program).toBe('/opt/package/bin/svcctl');
  const line = parseCommandLine(words);
  expect('load' in line && (await line.load())).toBe(status);
  expect(ROUTES['auth.status'].auth).toBe('open');
});

it.each([
  [{}, 'http://127.0.0.1:8080'],
  [{ SVC_PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ SVC_BIND_HOST: '::', SVC_PORT: '9000' }, 'http://[::1]:9000'],
  [{ SVC_BIND_HOST: '10.88.0.5' }, 'http://10.88.0.5:8080'],
])('which checks where %j puts the gateway', (configured, url) => {
  const [, set = ''] = /^ENV (.*)$/m.exec(image) ?? [];
  const env = Object.fromEntries(set.split(' ').map((pair) => pair.split('='))) as Record<string, string>;
  expect(
    gatewayUrl(undefined, { ...env, ...configured }, { running: null, file: nothing, folder: '/nowhere' }),
  ).toBe(url);
});
