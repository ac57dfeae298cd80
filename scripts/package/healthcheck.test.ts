import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { selectCommand } from '../../daemon/cli/choose.ts';
import { gatewayUrl } from '../../daemon/cli/config-paths.ts';
import { COMMANDS } from '../../daemon/cli/table.ts';
import { ROUTES } from '../../daemon/contract/routes.ts';

const image = readFileSync(join(import.meta.dirname, '..', '..', 'packaging', 'Containerfile'), 'utf8');
const [program, ...words] = JSON.parse(/^HEALTHCHECK CMD (\[.*\])$/m.exec(image)?.[1] ?? '[]') as string[];
const nothing = { path: '/nowhere', values: new Map<string, string>(), unreadable: false };

it('the image checks a public route with its own command', () => {
  expect(program).toBe('/opt/package/bin/svcctl');
  expect(selectCommand(COMMANDS, words)).toMatchObject({ command: { words: 'auth status' }, args: [] });
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
  expect(gatewayUrl(undefined, { ...env, ...configured }, nothing, '/nowhere')).toBe(url);
});
