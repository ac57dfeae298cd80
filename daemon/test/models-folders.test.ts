/** docs/spec/contract.md#watched-folders over a real port: files and disks that appear after the start. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ModelRecordView } from '../contract/models.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome, writeModel } from './harness/home.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const namespace = process.getuid?.() === 0 ? '-m' : '-Urm';
const canMount = spawnSync('unshare', [namespace, 'true']).status === 0;
if (!canMount) console.info('skipped: this machine does not permit mount namespaces');

const REPLY = 'I came later.';
const model = (name: string) => tinyChat({ name, width: 32, reply: REPLY });
const home = newHome();
const folder = (name: string) => join(home, name);
/** Mounts a folder in the gateway's own namespace as soon as the file `mount` exists. */
const LATE_MOUNT = `(while [ -d "$SVC_HOME" ] && [ ! -e "$SVC_HOME/mount" ]; do sleep 0.1; done; mount --bind "$SVC_HOME/disk" "$SVC_HOME/late") &`;

beforeAll(() => {
  for (const name of ['late', 'disk/maker', 'open']) mkdirSync(folder(name), { recursive: true });
  writeModel(folder('disk/maker'), 'newcomer', model('newcomer'));
});

const gateway = new OneGateway(() =>
  startGateway({
    home,
    ...(canMount ? { mounts: LATE_MOUNT } : {}),
    files: {
      'config/config.toml': `[models]\nfolders = ${JSON.stringify(['late', 'absent', 'open'].map(folder))}\n`,
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/desk.toml': 'autoload = false\ntype = "llm"\nmodel = "newcomer"\n',
    },
  }),
);

const sendChat = (name: string) =>
  gateway.sendAsAdmin('POST', '/v1/chat/completions', {
    body: { model: name, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 40 },
  });
const listed = async () =>
  (await gateway.sendAsAdmin('GET', '/api/models'))
    .json<{ models: ModelRecordView[] }>()
    .models.map(({ id }) => id);
const appears = (id: string) =>
  until(async () => (await listed()).includes(id), `${id} to be listed`, 60_000);
const vanishes = (id: string) => until(async () => !(await listed()).includes(id), `${id} to vanish`, 60_000);

describe.runIf(canMount)('a disk that is mounted after the start', () => {
  test('is found without a scan by hand, and its slot serves', async () => {
    expect((await sendChat('desk')).status).toBe(409);
    expect((await sendChat('newcomer')).status).toBe(404);
    writeFileSync(folder('mount'), '');
    await appears('newcomer');
    const answer = await sendChat('desk');
    expect([answer.status, answer.text.includes(REPLY)]).toEqual([200, true]);
    expect((await sendChat('newcomer')).status).toBe(200);
    const list = await svcctl(['models', 'list', '--quiet'], { env: envFor(gateway) });
    expect(list.out).toContain('newcomer\n');
  });
});

describe('files that appear after the start', () => {
  test('a request names a file that was just copied', async () => {
    writeModel(folder('open'), 'fresh', model('fresh'));
    await until(async () => (await sendChat('fresh')).status === 200, 'the new file to answer', 60_000);
  });

  test('a folder that did not exist', async () => {
    const { text } = await gateway.sendAsAdmin('GET', '/api/models');
    expect(text).toContain('ENOENT');
    mkdirSync(folder('absent'));
    writeModel(folder('absent'), 'other', model('other'));
    await appears('other');
    expect((await gateway.sendAsAdmin('GET', '/api/models')).text).not.toContain('ENOENT');
  });

  test('a file that was copied in parts is used when it is whole', async () => {
    const bytes = encodeGguf(model('slow'));
    const path = join(folder('open'), 'slow.gguf');
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    await until(
      async () => (await gateway.sendAsAdmin('GET', '/api/models')).text.includes('slow.gguf'),
      'the cut file to be named',
      60_000,
    );
    writeFileSync(path, bytes);
    await appears('slow');
  });

  test('a renamed download and a file that was removed', async () => {
    const path = join(folder('open'), 'ready.gguf.part');
    writeFileSync(path, encodeGguf(model('ready')));
    renameSync(path, join(folder('open'), 'ready.gguf'));
    await appears('ready');
    rmSync(join(folder('open'), 'ready.gguf'));
    await vanishes('ready');
    expect((await sendChat('ready')).status).toBe(404);
  });

  test('a loaded model answers on while its folder is away, and is the same model afterwards', async () => {
    expect((await sendChat('other')).status).toBe(200);
    renameSync(folder('absent'), folder('away'));
    await until(
      async () => (await gateway.sendAsAdmin('GET', '/api/models')).text.includes('ENOENT'),
      'the folder to be missed',
      60_000,
    );
    const answer = await sendChat('other');
    expect([answer.status, answer.text.includes(REPLY)]).toEqual([200, true]);
    renameSync(folder('away'), folder('absent'));
    await until(
      async () => !(await gateway.sendAsAdmin('GET', '/api/models')).text.includes('ENOENT'),
      'the folder to be found',
      60_000,
    );
    expect((await sendChat('other')).status).toBe(200);
    renameSync(folder('absent'), folder('away'));
    await gateway.sendAsAdmin('POST', '/api/models/scan');
    const slots = (await gateway.sendAsAdmin('GET', '/api/slots')).json<{
      slots: { name: string; model: string | null }[];
    }>().slots;
    const slot = slots.find(({ model: id }) => id === 'other')?.name;
    await gateway.sendAsAdmin('POST', `/api/slots/${slot}/unload`);
    await vanishes('other');
    expect((await sendChat('other')).status).toBe(404);
    renameSync(folder('away'), folder('absent'));
    await appears('other');
    expect((await sendChat('other')).status).toBe(200);
  }, 240_000);
});
