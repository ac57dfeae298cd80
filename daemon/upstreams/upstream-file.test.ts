import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { cpuTimer } from '../lib/testing/cpu-time.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { readUpstreamFile } from './upstream-file.ts';
import { MAX_UPSTREAMS, readUpstreamFolder, type UpstreamFolder } from './upstream-folder.ts';

const desk = (text: string) => readUpstreamFile('desk.toml', text);

describe('readUpstreamFile', () => {
  it('an address is enough', () => {
    expect(desk('base_url = "http://desk.lan:8080"\n')).toEqual({
      problems: [],
      config: {
        name: 'desk',
        enabled: true,
        at: expect.objectContaining({ text: 'http://desk.lan:8080/v1' }),
        kind: 'openai',
        keyEnv: null,
        header: null,
        remote: false,
        priority: 0,
        localFirst: true,
        dailyRequests: null,
        include: [],
        exclude: [],
        models: null,
        connectTimeoutS: null,
        streamUsage: true,
        sendAppName: false,
        weight: 1,
        hangProbe: true,
        idleTimeoutS: null,
      },
    });
  });

  it('whether it is a provider follows from the host, unless the file sets it', () => {
    expect(desk('base_url = "https://api.openai.com/v1"').config?.remote).toBe(true);
    expect(desk('base_url = "https://ai.my-house.net/v1"\nremote = false').config?.remote).toBe(false);
    expect(desk('base_url = "http://desk.lan"\nremote = true').config?.remote).toBe(true);
  });

  it.each([
    ['priority = 1', null, /base_url: /],
    ['base_url = "desk"', 1, /base_url: must be an address/],
    ['base_url = "http://desk"\nkey_env = "SVC_ADMIN_KEY"', 2, /key_env: must be the name of a variable/],
    ['base_url = "http://desk"\nkey_env = "sk-secret-value"', 2, /key_env: must be/],
    ['base_url = "http://desk"\nheader = "Cookie"', 2, /header: is a reserved header/],
    ['base_url = "http://desk"\nheader = "X-svc-Hops"', 2, /header: is a reserved header/],
    ['base_url = "http://desk"\nkind = "ollama"', 2, /kind: /],
    ['base_url = "http://desk"\ndaily_requests = 0', 2, /daily_requests: /],
    ['base_url = "http://desk"\nmodels = []', 2, /models: /],
    ['base_url = "http://desk"\ninclude = "all"', 2, /include: /],
    ['base_url = "http://desk"\nenabled = ', 2, /^is not valid TOML: (?!Invalid TOML)/],
  ])('%j names line and reason, never the value', (text, line, message) => {
    const { config, problems } = desk(text);
    expect(config).toBeNull();
    expect(problems[0]).toMatchObject({ file: 'upstreams/desk.toml', line });
    expect(problems[0]?.message).toMatch(message);
    expect(JSON.stringify(problems)).not.toContain('sk-secret');
  });

  it('an unknown key is reported and the file stays valid', () => {
    const { config, problems } = desk('base_url = "http://desk"\n\ncolour = "red"\n');
    expect(config).not.toBeNull();
    expect(problems).toEqual([
      { file: 'upstreams/desk.toml', line: 3, message: 'unknown key "colour" is ignored' },
    ]);
  });

  it('a key that would cross the internet unencrypted is reported, not refused', () => {
    const text = 'base_url = "http://api.example.com/v1"\nkey_env = "UPSTREAM_X"\n';
    expect(desk(text).config).not.toBeNull();
    expect(desk(text).problems).toEqual([
      { file: 'upstreams/desk.toml', line: 1, message: expect.stringContaining('use https') },
    ]);
    expect(desk(text.replace('api.example.com', 'desk.lan')).problems).toEqual([]);
  });

  it.each(['Desk.toml', 'svc.toml', '-x.toml', `${'x'.repeat(33)}.toml`])('%s is not a name', (file) => {
    expect(readUpstreamFile(file, 'base_url = "http://desk"').config).toBeNull();
  });

  it('a hanging parser or an oversized file affects only that file', () => {
    expect(desk(`base_url = "http://desk"\n#${'x'.repeat(70_000)}`).config).toBeNull();
    expect(desk('a=[1 #').config).toBeNull();
  });
});

it('thousands of unknown keys are read in one pass', () => {
  const text = Array.from({ length: 6_000 }, (_, at) => `k${at}=1`).join('\n');
  const cpuMs = cpuTimer();
  const { problems } = desk(`base_url = "http://desk"\n${text}`);
  expect(cpuMs()).toBeLessThan(1_000);
  expect(problems[1]).toMatchObject({ line: 3, message: 'unknown key "k1" is ignored' });
});

describe('readUpstreamFolder', () => {
  let folder: string;
  beforeEach(() => {
    folder = scratch();
  });

  it('an invalid file affects only its own upstream, and other files are ignored', () => {
    writeFileSync(join(folder, 'bad.toml'), 'base_url = 1');
    writeFileSync(join(folder, 'good.toml'), 'base_url = "http://desk"');
    writeFileSync(join(folder, 'notes.txt'), '');
    writeFileSync(join(folder, '.swap.toml'), '');
    mkdirSync(join(folder, 'folder.toml'));
    const read = readUpstreamFolder(folder) as UpstreamFolder;
    expect(read.configs.map(({ name }) => name)).toEqual(['good']);
    expect([...read.broken]).toEqual(['bad', 'folder']);
    expect(read.problems.map(({ file }) => file)).toEqual(['upstreams/bad.toml', 'upstreams/folder.toml']);
  });

  it('a missing folder is normal, an unreadable one is reported', () => {
    rmSync(folder, { recursive: true });
    expect(readUpstreamFolder(folder)).toMatchObject({ configs: [], problems: [] });
    writeFileSync(folder, '');
    expect(readUpstreamFolder(folder)).toEqual({
      problem: { file: 'upstreams', line: null, message: 'cannot be listed (ENOTDIR)' },
    });
  });

  it('is bounded', () => {
    for (let index = 0; index < MAX_UPSTREAMS + 2; index++)
      writeFileSync(join(folder, `u${index}.toml`), 'base_url = "http://desk"');
    const read = readUpstreamFolder(folder) as UpstreamFolder;
    expect(read.configs).toHaveLength(MAX_UPSTREAMS);
    expect(read.problems[0]?.message).toMatch(/more than 64/);
  });
});
