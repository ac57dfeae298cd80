/**
 * Case F02 over a real port: a change over the API is based on the revision that was read. A file edited since
 * is not changed (412 `config.stale`); the next read returns its content.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_KEY, KEYS_FILE, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const gateway = new OneGateway(() => startGateway({ files: { ...KEYS_FILE, ...QUIET_FILE } }));

/** A file that can be changed over the API and with an editor. */
interface SharedFile {
  readonly file: string;
  /** Its initial content, and the content after an edit by hand. */
  readonly first: string;
  readonly byHand: string;
  /** Address that returns the `revision`. */
  readonly read: string;
  readonly write: string;
  readonly body: unknown;
  /** Content of the file after the change. */
  readonly expected: RegExp;
  readonly removable: boolean;
}

const BOX = 'base_url = "http://192.168.1.20:8080/v1"\n';
const SHARED: Readonly<Record<string, SharedFile>> = {
  'config.toml': {
    file: 'config.toml',
    first: '# first\n[slots]\nqueue_max = 10\n',
    byHand: '# by hand\n[slots]\nqueue_max = 20\n',
    read: '/api/settings',
    write: '/api/settings',
    body: { values: { queueMax: 30, idleTimeoutS: 500 } },
    expected: /queue_max = 30\n.*= 500\n/s,
    removable: false,
  },
  'a slot file': {
    file: 'slots/writer.toml',
    first: '# first\nparallel = 1\n',
    byHand: '# by hand\nparallel = 2\n',
    read: '/api/slots/writer/settings',
    write: '/api/slots/writer',
    body: { parallel: 3 },
    expected: /parallel = 3\n/,
    removable: true,
  },
  'an upstream file': {
    file: 'upstreams/box.toml',
    first: `# first\n${BOX}priority = 1\n`,
    byHand: `# by hand\n${BOX}priority = 2\n`,
    read: '/api/upstreams/box',
    write: '/api/upstreams/box',
    body: { priority: 3 },
    expected: /priority = 3\n/,
    removable: true,
  },
};

describe.each(Object.entries(SHARED))('F02 %s', (_, shared) => {
  const path = () => join(gateway.home, 'config', shared.file);
  const text = () => readFileSync(path(), 'utf8');
  const writeByHand = (content: string) => {
    mkdirSync(dirname(path()), { recursive: true, mode: 0o700 });
    writeFileSync(path(), content, { mode: 0o600 });
  };
  const sendTo = (method: string, address: string, revision?: string, body?: unknown) =>
    send(gateway, method, address, {
      key: ADMIN_KEY,
      ...(body === undefined ? {} : { body }),
      ...(revision === undefined ? {} : { headers: { 'if-match': revision } }),
    });
  const change = (revision?: string) => sendTo('PUT', shared.write, revision, shared.body);
  /** Waits until the gateway has read the file and returns its revision. */
  async function revisionOf(before?: string): Promise<string> {
    let revision = '';
    await until(async () => {
      const response = await sendTo('GET', shared.read);
      if (response.status === 200) ({ revision } = response.json<{ revision: string }>());
      return revision !== '' && revision !== before;
    }, 'the file to be read');
    return revision;
  }
  const expectStale = (response: HttpResponse) => {
    expect(response).toMatchObject({ status: 412, code: 'config.stale' });
    expect(response.text).not.toContain(gateway.home);
  };

  let revision: string;
  beforeEach(async () => {
    writeByHand(`${shared.byHand}# another\n`);
    const other = await revisionOf();
    writeByHand(shared.first);
    revision = await revisionOf(other);
  });

  it('a change with the current revision succeeds, also with the next one', async () => {
    const first = await change(`"${revision}"`);
    expect(first.status).toBe(200);
    expect(text()).toMatch(shared.expected);
    expect(text()).toContain('# first');
    expectStale(await change(`"${revision}"`));
    expect((await change(`"${await revisionOf(revision)}"`)).status).toBe(200);
  });

  it('edited by hand since: rejected, the edit stays, and the next read returns it', async () => {
    writeByHand(shared.byHand);
    expectStale(await change(`"${revision}"`));
    expect(text()).toBe(shared.byHand);
    const next = await revisionOf(revision);
    expect((await change(`"${next}"`)).status).toBe(200);
    expect(text()).toContain('# by hand');
    expect(text()).toMatch(shared.expected);
  });

  it('removed by hand since: rejected, and not created again', async () => {
    rmSync(path());
    const response = await change(`"${revision}"`);
    expect([404, 412]).toContain(response.status);
    expect(existsSync(path())).toBe(false);
  });

  it('other revisions are rejected, a star matches any content, and no header means no check', async () => {
    for (const word of ['"AAAAAAAAAAAAAAAAAAAAAA"', revision, `W/"${revision}"`, ''])
      expectStale(await change(word));
    expect(text()).toBe(shared.first);
    expect((await change(`"other", "${revision}"`)).status).toBe(200);
    writeByHand(shared.byHand);
    expect((await change('*')).status).toBe(200);
    writeByHand(shared.byHand);
    expect((await change()).status).toBe(200);
    expect(text()).toMatch(shared.expected);
  });

  it.runIf(shared.removable)('a removal checks the revision too', async () => {
    writeByHand(shared.byHand);
    expectStale(await sendTo('DELETE', shared.write, `"${revision}"`));
    expect(text()).toBe(shared.byHand);
    const next = await revisionOf(revision);
    expect((await sendTo('DELETE', shared.write, `"${next}"`)).status).toBe(200);
    expect(existsSync(path())).toBe(false);
  });
});

it('F02 several settings at once are one write: all of them or none', async () => {
  const path = join(gateway.home, 'config', 'config.toml');
  // `inference` is not a table, so its key cannot be set; that of `slots` could.
  const text = 'inference = 5\n[slots]\nqueue_max = 10\n';
  writeFileSync(path, text);
  const body = { values: { queueMax: 11, idleTimeoutS: 501 } };
  const response = await send(gateway, 'PUT', '/api/settings', { key: ADMIN_KEY, body });
  expect(response).toMatchObject({ status: 409, code: 'config.broken' });
  expect(readFileSync(path, 'utf8')).toBe(text);
});
