import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseArguments } from '../lib/arguments.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { runSubcommand } from './subcommands.ts';

async function config(home: string): Promise<string> {
  let text = '';
  const out = (more: string) => {
    text += more;
  };
  await runSubcommand('config', { env: { SVC_HOME: home }, args: parseArguments(['config']), out });
  return text;
}

test('config writes nothing, so that the service finds no files of another user', async () => {
  const home = scratch();
  for (const name of ['config', 'state']) mkdirSync(join(home, name));
  writeFileSync(join(home, 'config', 'config.toml'), '[security]\nrequire_auth = true\n');
  writeFileSync(join(home, 'config', 'api.env'), 'SVC_PORT=1234\n');
  const before = readdirSync(home, { recursive: true });
  const text = await config(home);
  expect(text).toMatch(/^requireAuth +true +file /m);
  expect(text).toMatch(/^port +1234 +env /m);
  expect(readdirSync(home, { recursive: true })).toEqual(before);
});

test('config creates no folders', async () => {
  const home = join(scratch(), 'later');
  expect(await config(home)).toContain(`Configuration ${home}/config`);
  expect(existsSync(home)).toBe(false);
});
