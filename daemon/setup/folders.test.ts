import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { scanFolders } from '../models/scan.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { dropInFor } from './drop-in.ts';
import { homesIn, knownFolders } from './known-folders.ts';
import { linkOllama, ollamaModels, weightsIn } from './ollama-links.ts';
import { readFolders } from './read-folders.ts';

let root: string;
beforeEach(() => {
  root = scratch();
});

function put(path: string, content: string | Uint8Array = ''): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}
const gguf = () => encodeGguf(tinyChat({}));
const SUM = 'a'.repeat(64);
const manifest = (digest: string, mediaType = 'application/vnd.ollama.image.model') =>
  JSON.stringify({
    schemaVersion: 2,
    layers: [
      { mediaType, digest, size: 1 },
      { mediaType: 'x', digest: 'y' },
    ],
  });

function createOllama(): string {
  put('.ollama/models/manifests/registry.ollama.ai/library/llama3.2/3b', manifest(`sha256:${SUM}`));
  put('.ollama/models/manifests/registry.ollama.ai/library/broken/latest', '{');
  put('.ollama/models/manifests/hub/me/gone/latest', manifest(`sha256:${'b'.repeat(64)}`));
  put(`.ollama/models/blobs/sha256-${SUM}`, gguf());
  return join(root, '.ollama', 'models');
}

test('users of a machine are accounts with a user id of that range and a home folder', () => {
  const passwd = [
    'root:x:0:0:root:/root:/bin/bash',
    'svc:x:998:998::/var/lib/svc:/usr/sbin/nologin',
    'ann:x:1000:1000:Ann:/home/ann:/bin/bash',
    'ben:x:1001:1001::/home/ben:/bin/sh',
    'nobody:x:65534:65534::/nonexistent:/bin/false',
    'odd:x:1002:1002::/:/bin/sh',
    'two:x:1003:1003::/home/ann:/bin/sh',
    'bad',
    '',
  ].join('\n');
  expect(homesIn(passwd)).toEqual(['/home/ann', '/home/ben']);
});

test('each folder is read once, those from variables first', () => {
  const variables: Record<string, string> = {
    OLLAMA_MODELS: '/data/ollama',
    HF_HOME: '/home/ann/.cache/huggingface',
    LLAMA_CACHE: 'relative',
  };
  const found = knownFolders(['/home/ann'], (name) => variables[name]);
  expect(found[0]).toEqual({ tool: 'Ollama', path: '/data/ollama', home: null });
  expect(found.filter(({ path }) => path === '/home/ann/.cache/huggingface/hub')).toHaveLength(1);
  expect(found.map(({ path }) => path)).not.toContain('relative');
});

test.each([
  [manifest(`sha256:${SUM}`), SUM],
  [manifest(`sha256:${SUM.slice(1)}`), null],
  [manifest(`sha256:../../${SUM}`), null],
  [manifest(`sha256:${SUM}`, 'application/vnd.ollama.image.params'), null],
  ['{"layers":7}', null],
  ['{"layers":[null]}', null],
  ['null', null],
  ['{', null],
])('weights of %s', (text, sum) => {
  expect(weightsIn(text)).toBe(sum);
});

const unread = (error: Error) => {
  throw error;
};

/** Creates a model whose file has this digest. */
function createModel(home: string, name: string, sum: string): string {
  put(`${home}/manifests/${name}`, manifest(`sha256:${sum}`));
  put(`${home}/blobs/sha256-${sum}`);
  return join(root, home);
}
/** Returns the targets of the links in a folder, by name. */
const leads = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, basename(readlinkSync(join(folder, name)))]));

describe('the models of an Ollama', () => {
  test('with equal names get distinct links: the library keeps the short name, the others include their owner', async () => {
    const [first, second, third, other] = ['1', '2', '3', '4'].map((digit) => digit.repeat(64)) as [
      string,
      string,
      string,
      string,
    ];
    createModel('a', 'hub/me/llama/3b', second);
    createModel('a', 'hub/you/llama/3b', third);
    createModel('a', 'another/me/llama/3b', other);
    const ollama = createModel('a', 'registry.ollama.ai/library/llama/3b', first);
    const links = join(root, 'links');
    for (const _ of [1, 2]) {
      await linkOllama([ollama], links, unread);
      expect(leads(links)).toEqual({
        'llama-3b.gguf': `sha256-${first}`,
        'me-llama-3b.gguf': `sha256-${other}`,
        'hub-me-llama-3b.gguf': `sha256-${second}`,
        'you-llama-3b.gguf': `sha256-${third}`,
      });
    }
  });

  test('of several users keep their names, also while one folder is unavailable', async () => {
    const [one, two] = ['1'.repeat(64), '2'.repeat(64)] as [string, string];
    createModel('ann', 'registry.ollama.ai/library/llama/3b', one);
    createModel('ben', 'registry.ollama.ai/library/llama/3b', two);
    const roots = [
      createModel('ann', 'registry.ollama.ai/library/same/1b', one),
      createModel('ben', 'registry.ollama.ai/library/same/1b', one),
    ];
    const links = join(root, 'links');
    const both = {
      'llama-3b.gguf': `sha256-${one}`,
      'library-llama-3b.gguf': `sha256-${two}`,
      'same-1b.gguf': `sha256-${one}`,
    };
    await linkOllama(roots, links, unread);
    expect(leads(links)).toEqual(both);
    renameSync(join(root, 'ann', 'manifests'), join(root, 'away'));
    const faults: string[] = [];
    await linkOllama(roots, links, (error) => faults.push(error.message));
    expect(leads(links)).toEqual(both);
    expect(faults).toHaveLength(1);
  });

  test('have names and links that a scan finds', async () => {
    const ollama = createOllama();
    const blob = join(ollama, 'blobs', `sha256-${SUM}`);
    expect(await ollamaModels(ollama)).toEqual([{ name: 'llama3.2-3b', blob }]);
    const links = join(root, 'links');
    mkdirSync(links);
    writeFileSync(join(links, 'mine.gguf'), 'not a link');
    symlinkSync(join(ollama, 'blobs', 'sha256-gone'), join(links, 'old.gguf'));
    symlinkSync('/elsewhere', join(links, 'foreign.gguf'));
    await linkOllama([ollama], links, unread);
    await linkOllama([ollama], links, unread);
    expect(readdirSync(links).sort()).toEqual(['foreign.gguf', 'llama3.2-3b.gguf', 'mine.gguf']);
    expect(readlinkSync(join(links, 'llama3.2-3b.gguf'))).toBe(blob);
    const { files } = await scanFolders([links]);
    expect(files.map(({ path }) => path)).toContain(join(links, 'llama3.2-3b.gguf'));
  });
});

describe('a scan of the folders', () => {
  const scan = (used: string[] = []) =>
    readFolders({ home: root, variable: () => undefined, used: () => used, passwd: join(root, 'passwd') });

  test('reports existing folders, their size, and whether they are in use', async () => {
    createOllama();
    put('.cache/llama.cpp/one.gguf', gguf());
    put('.lmstudio/models/maker/two/two.gguf', gguf());
    const cache = join(root, '.cache', 'llama.cpp');
    const scanned = (await scan([cache])).filter(({ path }) => path.startsWith(root));
    expect(scanned).toEqual([
      { tool: 'Ollama', path: join(root, '.ollama', 'models'), state: 'readable', models: 1 },
      { tool: 'LM Studio', path: join(root, '.lmstudio', 'models'), state: 'readable', models: 1 },
      { tool: 'llama.cpp', path: cache, state: 'used', models: 1 },
    ]);
  });

  test.skipIf(process.getuid?.() === 0)(
    'reports folders that cannot be read, and those that cannot be accessed at all',
    async () => {
      put('.cache/llama.cpp/one.gguf');
      chmodSync(join(root, '.cache', 'llama.cpp'), 0);
      const scanned = (await scan()).filter(({ path }) => path.startsWith(root));
      expect(scanned).toEqual([
        { tool: 'llama.cpp', path: join(root, '.cache', 'llama.cpp'), state: 'unreadable', models: null },
      ]);
      chmodSync(root, 0);
      const hidden = (await scan()).filter(({ path }) => path.startsWith(root));
      chmodSync(root, 0o700);
      expect(hidden).toEqual([{ tool: 'Home folder', path: root, state: 'hidden', models: null }]);
    },
  );
});

describe('the systemd drop-in', () => {
  const unreadable = (path: string) => ({ tool: 'x', path, state: 'unreadable', models: null }) as const;

  test('mounts the unreadable folders and continues to hide everything else', () => {
    const hidden = { tool: 'Home folder', path: '/home/ann', state: 'hidden', models: null } as const;
    expect(dropInFor([unreadable('/usr/share/ollama/.ollama/models'), hidden], true)?.text).toBe(
      [
        '[Service]',
        'ProtectHome=tmpfs',
        'BindReadOnlyPaths=-/usr/share/ollama/.ollama/models',
        'BindReadOnlyPaths=-/home/ann/.ollama/models',
        'BindReadOnlyPaths=-/home/ann/.lmstudio/models',
        'BindReadOnlyPaths=-/home/ann/.cache/llama.cpp',
        'BindReadOnlyPaths=-/home/ann/.cache/huggingface/hub',
      ].join('\n'),
    );
  });

  test('escapes unusual names so that systemd parses them unchanged', () => {
    expect(dropInFor([unreadable('/data/my 50% models')], true)?.text).toContain(
      'BindReadOnlyPaths="-/data/my 50%% models"',
    );
  });

  test('is offered only for gateways under systemd and for folders that need it', () => {
    expect(dropInFor([unreadable('/x')], false)).toBeNull();
    expect(dropInFor([{ tool: 'x', path: '/x', state: 'readable', models: 1 }], true)).toBeNull();
  });
});
