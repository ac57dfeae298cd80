/** Every writer of one file: keys, secret, settings, slots, upstreams, images. */
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
import { compareFile, type Outcome, put, textOf, type Writer } from './writer.ts';

const log = silentLog();
const OLD_KEY = 'the-old-admin-key-0123456789';
const settingsOf = (root: string) => openSettings({ env: { SVC_HOME: root }, log, watch: false });

const envFile = (root: string) => join(root, 'config', 'api.env');
const envText = (key: string) => `# above\nSVC_ADMIN_KEY=${key}\n${'# filler\n'.repeat(2_000)}OTHER=1\n`;
const keyIn = (root: string) => parseEnvFile(readFileSync(envFile(root))).get('SVC_ADMIN_KEY') ?? '';

const ROTATE: Writer = {
  minCalls: 10,
  prepare: (root) => put(envFile(root), envText(OLD_KEY)),
  async begin(root) {
    const settings = await settingsOf(root);
    const rotate = createRotate({ settings, log, envFile: 'api.env', onRotated: () => {} });
    return {
      write: () => rotate('admin'),
      agrees: () => settings.value('adminKey') === keyIn(root),
      end: () => settings.close(),
    };
  },
  outcome(root) {
    const key = keyIn(root);
    if (textOf(envFile(root)) !== envText(key)) return 'torn: api.env';
    if (key === OLD_KEY) return 'old';
    return key.length === 43 ? 'new' : `torn: a key of ${key.length} characters`;
  },
};

const secretFile = (root: string) => join(root, 'secret.bin');
const OLD_SECRET = Buffer.alloc(32, 7);

/** Returns the outcome for the secret, which a start accepts only as 32 bytes that only its owner can read. */
function secretOutcome(root: string, before: Buffer | null): Outcome {
  if (!existsSync(secretFile(root))) return before === null ? 'old' : 'torn: no secret';
  const bytes = readFileSync(secretFile(root));
  const mode = statSync(secretFile(root)).mode & 0o777;
  if (bytes.length !== 32 || mode !== 0o600) return `torn: ${bytes.length} bytes, mode ${mode.toString(8)}`;
  return before?.equals(bytes) ? 'old' : 'new';
}

const SECRET_CREATED: Writer = {
  minCalls: 8,
  // The file exists but the following read can fail: this start fails, the next one reads it.
  canFailLate: true,
  prepare: () => {},
  begin: (root) => ({ write: () => openSigningSecret(secretFile(root)) }),
  outcome: (root) => secretOutcome(root, null),
};

const SECRET_RENEWED: Writer = {
  minCalls: 7,
  prepare: (root) => put(secretFile(root), OLD_SECRET),
  async begin(root) {
    const secret = await openSigningSecret(secretFile(root));
    return {
      write: () => secret.renew(),
      agrees: () => secret.current().equals(readFileSync(secretFile(root))),
    };
  },
  outcome: (root) => secretOutcome(root, OLD_SECRET),
};

const configFile = (root: string) => join(root, 'config', 'config.toml');
const config = (on: boolean) =>
  `# by hand\n[security]\nrequire_auth = ${on} # kept\n\n[server]\nport = 8123\n`;

/** Returns a violation when a state file, which a start without config.toml uses, is not valid JSON. */
function tornStateFile(root: string): Outcome | null {
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
  minCalls: 15,
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
  outcome: (root) => tornStateFile(root) ?? compareFile(configFile(root), config(false), config(true)),
};

const slotFile = (root: string) => join(root, 'slots', 'agent.toml');
const SLOT = { before: '# mine\nautoload = false\n', after: '# mine\nautoload = true\n' };
const slotWriter = (before: string | null, after: string | null, minCalls: number): Writer => ({
  minCalls,
  prepare: (root) => (before === null ? undefined : put(slotFile(root), before)),
  begin(root) {
    const files = new SlotFiles(join(root, 'slots'));
    if (after === null) return { write: () => files.remove('agent') };
    return { write: () => files.write('agent', () => after) };
  },
  outcome: (root) => compareFile(slotFile(root), before, after),
});

const upstreamFolder = (root: string) => join(root, 'upstreams');
const upstreamFile = (root: string) => join(upstreamFolder(root), 'box.toml');
const BOX = 'http://192.168.1.20:8080/v1';
const UPSTREAM = `base_url = "${BOX}"\npriority = 1 # mine\n`;

const UPSTREAM_CREATED: Writer = {
  minCalls: 7,
  prepare: () => {},
  begin: (root) => ({
    write: () => createUpstreamFile(upstreamFolder(root), { name: 'box', base_url: BOX }, 0),
  }),
  outcome(root) {
    const text = textOf(upstreamFile(root));
    if (text === null) return 'old';
    return text.endsWith(`base_url = "${BOX}"\n`) ? 'new' : `torn: ${text}`;
  },
};

const UPSTREAM_CHANGED: Writer = {
  minCalls: 10,
  prepare: (root) => put(upstreamFile(root), UPSTREAM),
  begin: (root) => ({ write: () => changeUpstreamFile(upstreamFolder(root), 'box', { priority: 2 }) }),
  outcome: (root) => compareFile(upstreamFile(root), UPSTREAM, UPSTREAM.replace('= 1', '= 2')),
};

const UPSTREAM_REMOVED: Writer = {
  minCalls: 1,
  prepare: (root) => put(upstreamFile(root), UPSTREAM),
  begin: (root) => ({ write: () => removeUpstreamFile(upstreamFolder(root), 'box') }),
  outcome: (root) => compareFile(upstreamFile(root), UPSTREAM, null),
};

const PNG = drawnPng({ width: 64, height: 64, seed: 1 });
const IMAGE: Writer = {
  minCalls: 8,
  prepare: () => {},
  begin(root) {
    const cache = new ImageCache({ folder: join(root, 'images'), log });
    return { write: () => cache.store(PNG) };
  },
  outcome(root) {
    const folder = join(root, 'images');
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.png')) : [];
    if (names.some((name) => !readFileSync(join(folder, name)).equals(PNG))) return 'torn: a picture';
    return names.length === 0 ? 'old' : 'new';
  },
};

const RECORD = { nonce: 'nonce-of-the-container', key: 'key-of-the-container-0123' };
const recordFile = (root: string) => join(root, 'run', 'containers', 'agent.json');
const CONTAINER: Writer = {
  minCalls: 6,
  isInner: true,
  // The engine in the container reads its key as another user; the folder is private.
  isPublic: true,
  prepare: (root) => put(recordFile(root), JSON.stringify({ ...RECORD, nonce: 'nonce-of-an-older-one' })),
  begin: (root) => ({
    write: async () => new ContainerRecords(join(root, 'run')).write('agent', RECORD, true),
  }),
  outcome: (root) =>
    compareFile(
      recordFile(root),
      JSON.stringify({ ...RECORD, nonce: 'nonce-of-an-older-one' }),
      JSON.stringify(RECORD),
    ),
};

export const SINGLE: Readonly<Record<string, Writer>> = {
  'api.env at a rotation': ROTATE,
  'the signing secret, created': SECRET_CREATED,
  'the signing secret, renewed': SECRET_RENEWED,
  'config.toml at a change': CONFIG,
  'a slot file, created': slotWriter(null, SLOT.after, 8),
  'a slot file, changed': slotWriter(SLOT.before, SLOT.after, 10),
  'a slot file, removed': slotWriter(SLOT.before, null, 1),
  'an upstream file, created': UPSTREAM_CREATED,
  'an upstream file, changed': UPSTREAM_CHANGED,
  'an upstream file, removed': UPSTREAM_REMOVED,
  'an image': IMAGE,
  'the record of a container': CONTAINER,
};
