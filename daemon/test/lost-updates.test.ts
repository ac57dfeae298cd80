/**
 * Case F02 over a real port: who changes a file over the API goes by what was read. A file that somebody changed by hand since
 * is left as it is (412 `config.stale`), whatever the change would have been; the next read shows what it says.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_KEY, KEYS_FILE, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const here = new OneGateway(() => startGateway({ files: { ...KEYS_FILE, ...QUIET_FILE } }));

/** A file that a caller of the API and somebody with an editor may both change. */
interface Shared {
  readonly file: string;
  /** What it holds, and what somebody makes of it by hand. */
  readonly first: string;
  readonly byHand: string;
  /** Answers the `revision`. */
  readonly read: string;
  readonly write: string;
  readonly body: unknown;
  /** In the file after the change. */
  readonly wanted: RegExp;
  readonly removable: boolean;
}

const BOX = 'base_url = "http://192.168.1.20:8080/v1"\n';
const SHARED: Readonly<Record<string, Shared>> = {
  'config.toml': {
    file: 'config.toml',
    first: '# first\n[slots]\nqueue_max = 10\n',
    byHand: '# by hand\n[slots]\nqueue_max = 20\n',
    read: '/api/settings',
    write: '/api/settings',
    body: { values: { queueMax: 30, idleTimeoutS: 500 } },
    wanted: /queue_max = 30\n.*= 500\n/s,
    removable: false,
  },
  'a slot file': {
    file: 'slots/writer.toml',
    first: '# first\nparallel = 1\n',
    byHand: '# by hand\nparallel = 2\n',
    read: '/api/slots/writer/settings',
    write: '/api/slots/writer',
    body: { parallel: 3 },
    wanted: /parallel = 3\n/,
    removable: true,
  },
  'an upstream file': {
    file: 'upstreams/box.toml',
    first: `# first\n${BOX}priority = 1\n`,
    byHand: `# by hand\n${BOX}priority = 2\n`,
    read: '/api/upstreams/box',
    write: '/api/upstreams/box',
    body: { priority: 3 },
    wanted: /priority = 3\n/,
    removable: true,
  },
};

describe.each(Object.entries(SHARED))('F02 %s', (_, shared) => {
  const path = () => join(here.home, 'config', shared.file);
  const text = () => readFileSync(path(), 'utf8');
  const edit = (content: string) => {
    mkdirSync(dirname(path()), { recursive: true, mode: 0o700 });
    writeFileSync(path(), content, { mode: 0o600 });
  };
  const at = (method: string, address: string, revision?: string, body?: unknown) =>
    send(here, method, address, {
      key: ADMIN_KEY,
      ...(body === undefined ? {} : { body }),
      ...(revision === undefined ? {} : { headers: { 'if-match': revision } }),
    });
  const change = (revision?: string) => at('PUT', shared.write, revision, shared.body);
  /** The revision of what is there now, once the gateway has seen it. */
  async function revisionOf(before?: string): Promise<string> {
    let revision = '';
    await until(async () => {
      const response = await at('GET', shared.read);
      if (response.status === 200) ({ revision } = response.json<{ revision: string }>());
      return revision !== '' && revision !== before;
    }, 'the file to be read');
    return revision;
  }
  const refused = (response: HttpResponse) => {
    expect(response).toMatchObject({ status: 412, code: 'config.stale' });
    expect(response.text).not.toContain(here.home);
  };

  let revision: string;
  beforeEach(async () => {
    edit(`${shared.byHand}# another\n`);
    const other = await revisionOf();
    edit(shared.first);
    revision = await revisionOf(other);
  });

  it('a change by the revision that was read, and by the one after it', async () => {
    const first = await change(`"${revision}"`);
    expect(first.status).toBe(200);
    expect(text()).toMatch(shared.wanted);
    expect(text()).toContain('# first');
    refused(await change(`"${revision}"`));
    expect((await change(`"${await revisionOf(revision)}"`)).status).toBe(200);
  });

  it('edited by hand since: refused, the edit stays, and the next read goes by it', async () => {
    edit(shared.byHand);
    refused(await change(`"${revision}"`));
    expect(text()).toBe(shared.byHand);
    const next = await revisionOf(revision);
    expect((await change(`"${next}"`)).status).toBe(200);
    expect(text()).toContain('# by hand');
    expect(text()).toMatch(shared.wanted);
  });

  it('removed by hand since: refused, and not made anew', async () => {
    rmSync(path());
    const response = await change(`"${revision}"`);
    expect([404, 412]).toContain(response.status);
    expect(existsSync(path())).toBe(false);
  });

  it('words that are no revision of it are refused, a star is any content, and none is no question', async () => {
    for (const word of ['"AAAAAAAAAAAAAAAAAAAAAA"', revision, `W/"${revision}"`, ''])
      refused(await change(word));
    expect(text()).toBe(shared.first);
    expect((await change(`"other", "${revision}"`)).status).toBe(200);
    edit(shared.byHand);
    expect((await change('*')).status).toBe(200);
    edit(shared.byHand);
    expect((await change()).status).toBe(200);
    expect(text()).toMatch(shared.wanted);
  });

  it.runIf(shared.removable)('a removal goes by it as well', async () => {
    edit(shared.byHand);
    refused(await at('DELETE', shared.write, `"${revision}"`));
    expect(text()).toBe(shared.byHand);
    const next = await revisionOf(revision);
    expect((await at('DELETE', shared.write, `"${next}"`)).status).toBe(200);
    expect(existsSync(path())).toBe(false);
  });
});

it('F02 several settings at once are one write: all of them or none', async () => {
  const path = join(here.home, 'config', 'config.toml');
  // Where `inference` is no table, its key can't be set; that of `slots` could.
  const text = 'inference = 5\n[slots]\nqueue_max = 10\n';
  writeFileSync(path, text);
  const body = { values: { queueMax: 11, idleTimeoutS: 501 } };
  const response = await send(here, 'PUT', '/api/settings', { key: ADMIN_KEY, body });
  expect(response).toMatchObject({ status: 409, code: 'config.broken' });
  expect(readFileSync(path, 'utf8')).toBe(text);
});
