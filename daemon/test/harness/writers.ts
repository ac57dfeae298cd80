/** Every writer of one file: keys, secret, settings, slots, upstreams, pictures. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRotate } from '../../auth/rotate.ts';
import { openSigningSecret } from '../../auth/signing-secret.ts';
import { ImageCache } from '../../inference/images/cache.ts';
import { silentLog } from '../../lib/log.ts';
import { parseEnvFile } from '../../settings/env-file.ts';
import { openSettings } from '../../settings/open-settings.ts';
import { SlotFiles } from '../../slots/config/slot-files.ts';
import { ContainerRecords } from '../../slots/runners/container/record.ts';
import { changeUpstreamFile, createUpstreamFile, removeUpstreamFile } from '../../upstreams/edit-upstream.ts';
import { drawnPng } from './drawn-png.ts';
import { type Left, put, textOf, type Writer, which } from './writer.ts';

const log = silentLog();
const OLD_KEY = 'the-old-admin-key-0123456789';
const settingsOf = (root: string) => openSettings({ env: { SVC_HOME: root }, log, watch: false });

const envFile = (root: string) => join(root, 'config', 'api.env');
const envText = (key: string) => `# above\nSVC_ADMIN_KEY=${key}\n${'# filler\n'.repeat(2_000)}OTHER=1\n`;
const keyIn = (root: string) => parseEnvFile(readFileSync(envFile(root))).get('SVC_ADMIN_KEY') ?? '';

const ROTATE: Writer = {
  least: 10,
  prepare: (root) => put(envFile(root), envText(OLD_KEY)),
  async begin(root) {
    const settings = await settingsOf(root);
    const rotate = createRotate({ settings, log, onRotated: () => {} });
    return {
      write: () => rotate('admin'),
      agrees: () => settings.value('adminKey') === keyIn(root),
      end: () => settings.close(),
    };
  },
  left(root) {
    const key = keyIn(root);
    if (textOf(envFile(root)) !== envText(key)) return 'torn: api.env';
    if (key === OLD_KEY) return 'old';
    return key.length === 43 ? 'new' : `torn: a key of ${key.length} characters`;
  },
};

const secretFile = (root: string) => join(root, 'secret.bin');
const OLD_SECRET = Buffer.alloc(32, 7);

/** The secret as a start takes it: 32 bytes for its owner alone. */
function secretLeft(root: string, before: Buffer | null): Left {
  if (!existsSync(secretFile(root))) return before === null ? 'old' : 'torn: no secret';
  const bytes = readFileSync(secretFile(root));
  const mode = statSync(secretFile(root)).mode & 0o777;
  if (bytes.length !== 32 || mode !== 0o600) return `torn: ${bytes.length} bytes, mode ${mode.toString(8)}`;
  return before?.equals(bytes) ? 'old' : 'new';
}

const SECRET_MADE: Writer = {
  least: 8,
  // It is there and the read that follows fails: the start is refused, the next one reads it.
  mayFailLate: true,
  prepare: () => {},
  begin: (root) => ({ write: () => openSigningSecret(secretFile(root)) }),
  left: (root) => secretLeft(root, null),
};

const SECRET_RENEWED: Writer = {
  least: 7,
  prepare: (root) => put(secretFile(root), OLD_SECRET),
  async begin(root) {
    const secret = await openSigningSecret(secretFile(root));
    return {
      write: () => secret.renew(),
      agrees: () => secret.current().equals(readFileSync(secretFile(root))),
    };
  },
  left: (root) => secretLeft(root, OLD_SECRET),
};

const configFile = (root: string) => join(root, 'config', 'config.toml');
const config = (on: boolean) =>
  `# by hand\n[security]\nrequire_auth = ${on} # kept\n\n[server]\nport = 8123\n`;

/** What a start without config.toml goes by is JSON, or not there. */
function remembered(root: string): Left | null {
  for (const name of ['enforcement.json', 'last-good.json']) {
    const text = textOf(join(root, 'state', name));
    try {
      if (text !== null) JSON.parse(text);
    } catch {
      return `torn: ${name}`;
    }
  }
  return null;
}

const CONFIG: Writer = {
  least: 15,
  prepare: (root) => put(configFile(root), config(false)),
  async begin(root) {
    const settings = await settingsOf(root);
    return {
      write: () => settings.persist('requireAuth', true),
      agrees: () =>
        settings.value('requireAuth') === /require_auth = true/.test(textOf(configFile(root)) ?? ''),
      end: () => settings.close(),
    };
  },
  left: (root) => remembered(root) ?? which(configFile(root), config(false), config(true)),
};

const slotFile = (root: string) => join(root, 'slots', 'agent.toml');
const SLOT = { before: '# mine\nautoload = false\n', after: '# mine\nautoload = true\n' };
const slotWriter = (before: string | null, after: string | null, least: number): Writer => ({
  least,
  prepare: (root) => (before === null ? undefined : put(slotFile(root), before)),
  begin(root) {
    const files = new SlotFiles(join(root, 'slots'));
    if (after === null) return { write: () => files.remove('agent') };
    return { write: () => files.write('agent', () => after) };
  },
  left: (root) => which(slotFile(root), before, after),
});

const upstreamFolder = (root: string) => join(root, 'upstreams');
const upstreamFile = (root: string) => join(upstreamFolder(root), 'box.toml');
const BOX = 'http://192.168.1.20:8080/v1';
const UPSTREAM = `base_url = "${BOX}"\npriority = 1 # mine\n`;

const UPSTREAM_MADE: Writer = {
  least: 7,
  prepare: () => {},
  begin: (root) => ({
    write: () => createUpstreamFile(upstreamFolder(root), { name: 'box', base_url: BOX }, 0),
  }),
  left(root) {
    const text = textOf(upstreamFile(root));
    if (text === null) return 'old';
    return text.endsWith(`base_url = "${BOX}"\n`) ? 'new' : `torn: ${text}`;
  },
};

const UPSTREAM_CHANGED: Writer = {
  least: 10,
  prepare: (root) => put(upstreamFile(root), UPSTREAM),
  begin: (root) => ({ write: () => changeUpstreamFile(upstreamFolder(root), 'box', { priority: 2 }) }),
  left: (root) => which(upstreamFile(root), UPSTREAM, UPSTREAM.replace('= 1', '= 2')),
};

const UPSTREAM_REMOVED: Writer = {
  least: 1,
  prepare: (root) => put(upstreamFile(root), UPSTREAM),
  begin: (root) => ({ write: () => removeUpstreamFile(upstreamFolder(root), 'box') }),
  left: (root) => which(upstreamFile(root), UPSTREAM, null),
};

const PNG = drawnPng({ width: 64, height: 64, seed: 1 });
const PICTURE: Writer = {
  least: 8,
  prepare: () => {},
  begin(root) {
    const cache = new ImageCache({ folder: join(root, 'images'), log });
    return { write: () => cache.store(PNG) };
  },
  left(root) {
    const folder = join(root, 'images');
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.png')) : [];
    if (names.some((name) => !readFileSync(join(folder, name)).equals(PNG))) return 'torn: a picture';
    return names.length === 0 ? 'old' : 'new';
  },
};

const RECORD = { nonce: 'nonce-of-the-container', key: 'key-of-the-container-0123' };
const recordFile = (root: string) => join(root, 'run', 'containers', 'agent.json');
const CONTAINER: Writer = {
  least: 6,
  inner: true,
  // The engine inside reads its key as another user; the folder around it is closed.
  open: true,
  prepare: (root) => put(recordFile(root), JSON.stringify({ ...RECORD, nonce: 'nonce-of-an-older-one' })),
  begin: (root) => ({
    write: async () => new ContainerRecords(join(root, 'run')).write('agent', RECORD, true),
  }),
  left: (root) =>
    which(
      recordFile(root),
      JSON.stringify({ ...RECORD, nonce: 'nonce-of-an-older-one' }),
      JSON.stringify(RECORD),
    ),
};

export const SINGLE: Readonly<Record<string, Writer>> = {
  'api.env at a rotation': ROTATE,
  'the signing secret, made': SECRET_MADE,
  'the signing secret, renewed': SECRET_RENEWED,
  'config.toml at a change': CONFIG,
  'a slot file, made': slotWriter(null, SLOT.after, 8),
  'a slot file, changed': slotWriter(SLOT.before, SLOT.after, 10),
  'a slot file, removed': slotWriter(SLOT.before, null, 1),
  'an upstream file, made': UPSTREAM_MADE,
  'an upstream file, changed': UPSTREAM_CHANGED,
  'an upstream file, removed': UPSTREAM_REMOVED,
  'a picture': PICTURE,
  'the record of a container': CONTAINER,
};
