import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { changeUpstreamFile, createUpstreamFile, removeUpstreamFile } from './edit-upstream.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = scratch();
  folder = join(root, 'upstreams');
});

const text = (name = 'desk') => readFileSync(join(folder, `${name}.toml`), 'utf8');
const write = (body: string) => writeFileSync(join(folder, 'desk.toml'), body);
const desk = { name: 'desk', base_url: 'http://desk.lan:8000/v1' };
const refused = (work: Promise<void>) =>
  work.then(
    () => null,
    (error: { code: string; options: object }) => error,
  );

it('writes a file that only its owner may read, once', async () => {
  await createUpstreamFile(folder, { ...desk, key_env: 'UPSTREAM_DESK', priority: 3, include: ['a*'] }, 0);
  expect(text().split('\n').slice(1)).toEqual([
    'base_url = "http://desk.lan:8000/v1"',
    'key_env = "UPSTREAM_DESK"',
    'priority = 3',
    'include = ["a*"]',
    '',
  ]);
  expect(statSync(join(folder, 'desk.toml')).mode & 0o777).toBe(0o600);
  expect(await refused(createUpstreamFile(folder, desk, 1))).toMatchObject({ code: 'upstream.exists' });
  expect(await refused(createUpstreamFile(folder, { ...desk, name: 'b' }, 64))).toMatchObject({
    code: 'upstream.invalid',
  });
});

it('refuses an invalid file with field and reason', async () => {
  const error = await refused(
    createUpstreamFile(folder, { ...desk, base_url: 'http://u:sk-secret@desk' }, 0),
  );
  expect(error).toMatchObject({
    code: 'upstream.invalid',
    options: {
      details: {
        fields: [
          {
            path: 'base_url',
            reason: 'must not contain a user or a password; key_env names the variable of the key',
          },
        ],
      },
    },
  });
  expect(JSON.stringify(error)).not.toContain('sk-secret');
});

it('changes the named keys and keeps every other byte', async () => {
  await createUpstreamFile(folder, desk, 0);
  write('# mine\nbase_url = "http://desk.lan:8000/v1" # here\npriority = 5\ncolour = "red"\n');
  await changeUpstreamFile(folder, 'desk', { priority: null, enabled: false });
  expect(text()).toBe(
    '# mine\nbase_url = "http://desk.lan:8000/v1" # here\ncolour = "red"\nenabled = false\n',
  );
});

it('a new address keeps the key only when the key is sent again', async () => {
  await createUpstreamFile(folder, { ...desk, key_env: 'UPSTREAM_DESK' }, 0);
  await changeUpstreamFile(folder, 'desk', { base_url: 'http://desk.lan:8000' });
  expect(text()).toContain('UPSTREAM_DESK');
  await changeUpstreamFile(folder, 'desk', { base_url: 'http://evil.example:8000/v1' });
  expect(text()).not.toContain('key_env =');
  await changeUpstreamFile(folder, 'desk', { base_url: 'http://desk.lan', key_env: 'UPSTREAM_DESK' });
  expect(text()).toContain('key_env = "UPSTREAM_DESK"');
});

it('a broken file or a bad value changes nothing', async () => {
  await createUpstreamFile(folder, desk, 0);
  const before = text();
  expect(await refused(changeUpstreamFile(folder, 'desk', { base_url: 'ftp://x' }))).toMatchObject({
    code: 'upstream.invalid',
  });
  expect(text()).toBe(before);
  expect(await refused(changeUpstreamFile(folder, 'other', { priority: 1 }))).toMatchObject({
    code: 'upstream.not_found',
  });
});

it('removes the file', async () => {
  await createUpstreamFile(folder, desk, 0);
  await removeUpstreamFile(folder, 'desk');
  expect(await refused(removeUpstreamFile(folder, 'desk'))).toMatchObject({ code: 'upstream.not_found' });
});
