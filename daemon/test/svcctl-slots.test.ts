/** svcctl on slots, requests, logs, usage, models and hardware: the real program against a real daemon. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HardwareView } from '../contract/hardware.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../contract/slots.ts';
import type { RequestRecord, UsageView } from '../contract/system.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/gguf/writer.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, KEYS_FILE, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { openStream } from './harness/stream.ts';
import { pointing, type RunOptions, svcctl } from './harness/svcctl.ts';
import { ENDLESS, slotState, startTiny } from './harness/tiny-gateway.ts';

const LONG = 'a-model-whose-id-is-much-longer-than-any-terminal-would-like-it-to-be-in-a-table';
let gateway: Gateway;

beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  mkdirSync(join(home, 'state/models'), { recursive: true });
  for (const id of ['second', LONG]) {
    writeFileSync(join(home, `state/models/${id}.gguf`), encodeGguf(tinyChat({ context: 4096 })));
  }
  gateway = await startTiny(
    {
      home,
      files: {
        ...KEYS_FILE,
        'config/config.toml': '[security]\nrequire_auth = true\n',
        'config/slots/utility.toml': '# mine\nmodel = "tiny"\nparallel = 1\n',
        'config/slots/hollow.toml': 'model = "not-here"\n',
      },
    },
    ADMIN_KEY,
  );
});

afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
});

const run = (args: string[], options: RunOptions = {}) =>
  svcctl(args, { ...options, env: { ...pointing(gateway), ...options.env } });
/** Runs a command that must succeed, and answers its output. */
async function said(...args: string[]): Promise<string> {
  const ran = await run(args);
  expect(ran, args.join(' ')).toMatchObject({ code: 0, err: '' });
  return ran.out;
}
const told = async <T>(...args: string[]) => JSON.parse(await said(...args, '--json')) as T;
const file = (name: string) => join(gateway.home, `config/slots/${name}.toml`);

describe('slots list and show', () => {
  it('is a table that fits 80 columns, whatever the names', async () => {
    const out = await said('slots', 'list');
    expect(out).toMatch(/^SLOT +STATE +MODEL +DEVICE +BUSY +QUEUE +TOK\/S +MEMORY$/m);
    expect(out).toMatch(/^agent +ready +tiny +cpu +0\/\d+ +0 /m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(out).toContain('…');
    expect(await said('slots', 'list', '--wide')).toContain(LONG);
    // What an engine holds is measured anew between the two.
    const still = (table: string) => table.replace(/[\d.]+ [KMG]iB/g, 'N').replace(/ +/g, ' ');
    expect(still(await said('slots'))).toBe(still(await said('slots', 'list')));
  });

  it('names only, for programs', async () => {
    const names = (await said('slots', 'list', '-q')).trim().split('\n');
    expect(names).toEqual(expect.arrayContaining(['agent', 'hollow', 'utility']));
    const { slots } = await told<{ slots: SlotRecord[] }>('slots', 'list');
    expect(names).toEqual(slots.map(({ name }) => name));
  });

  it('shows one, key by key', async () => {
    const out = await said('slots', 'show', 'agent');
    expect(out).toMatch(/^State +ready since /m);
    expect(out).toMatch(/^Engine +embedded, runner worker, pid \d+$/m);
    expect((await told<SlotRecord>('slots', 'show', 'agent')).name).toBe('agent');
  });
});

describe('slots load, unload, restart and swap', () => {
  it('answer when it is done', async () => {
    expect(await said('slots', 'load', 'utility')).toBe('utility is ready, model tiny.\n');
    const before = (await told<SlotRecord>('slots', 'show', 'utility')).pid;
    expect((await told<SlotRecord>('slots', 'restart', 'utility')).pid).not.toBe(before);
    expect(await said('slots', 'swap', 'utility', 'second')).toBe('utility is ready, model second.\n');
    expect(readFileSync(file('utility'), 'utf8')).toBe('# mine\nmodel = "second"\nparallel = 1\n');
    expect(await said('slots', 'swap', 'utility', 'tiny', '--once')).toContain('model tiny');
    expect(readFileSync(file('utility'), 'utf8')).toContain('"second"');
    expect(await said('slots', 'unload', 'utility')).toContain('utility is offline');
  });

  it('with --no-wait at once', async () => {
    const { state } = await told<SlotRecord>('slots', 'load', 'utility', '--no-wait');
    expect(['starting', 'warming', 'ready']).toContain(state);
    await slotState(gateway, 'utility', 'ready', ADMIN_KEY);
    await said('slots', 'unload', 'utility', '--wait');
  });

  it('at a terminal a line tells meanwhile what happens, and goes away', async () => {
    const ran = await run(['slots', 'load', 'utility'], { terminal: true });
    expect(ran.code, ran.out).toBe(0);
    expect(ran.out).toMatch(/\r\u001b\[Kutility: (offline|starting|warming)/);
    expect(ran.out).toMatch(/\r\u001b\[Kutility is ready, model \w+\.\s*$/);
  });

  it.each([
    [['slots', 'load', 'nobody'], 1, /There is no slot of this name\. \(slot\.not_found\)/],
    [['slots', 'load', 'hollow'], 1, /The slot has failed\. .+ \(slot\.failed\)/],
    [['slots', 'swap', 'agent', 'nobody'], 1, /\(model\.not_found\)/],
    [['slots', 'load'], 2, /svcctl slots load NAME/],
    [['slots', 'load', 'a', 'b'], 2, /svcctl slots load NAME/],
    [['slots', 'swap', 'agent'], 2, /svcctl slots swap NAME MODEL/],
    [['slots', 'laod', 'agent'], 2, /slots has list, show, load/],
    [['slots', 'load', 'agent', '--force'], 2, /takes no --force/],
    [['logs', '--lines', 'many'], 2, /--lines takes a whole number from 0 to 1000/],
    [['requests', '--limit', '0'], 2, /--limit takes a whole number from 1 to 1000/],
    [['requests', 'show', 'ffffffff'], 1, /no recent request has the id ffffffff/],
  ])('%j ends with %d and one line', async (args, code, message) => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('a client key is not enough, and says so', async () => {
    const ran = await run(['slots', 'unload', 'agent'], { env: { SVC_CLIENT_KEY: CLIENT_KEY } });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.err).toContain('(auth.forbidden)');
  });
});

describe('slots create, set, plan and rm', () => {
  it('makes, changes and removes a slot', async () => {
    expect(await said('slots', 'create', 'writer', 'model=second', 'context=1024', 'pinned=yes')).toBe(
      'Slot writer is there, offline.\n',
    );
    expect(readFileSync(file('writer'), 'utf8')).toMatch(/context = 1024/);
    expect(await said('slots', 'set', 'writer', 'idle_unload=5 min', 'context=')).toBe(
      'Slot writer is changed.\n',
    );
    const text = readFileSync(file('writer'), 'utf8');
    expect([text.includes('"5 min"'), text.includes('context')]).toEqual([true, false]);
    expect(await run(['slots', 'rm', 'writer'])).toMatchObject({ code: 5, out: '' });
    const declined = await run(['slots', 'rm', 'writer'], { terminal: true, input: 'n' });
    expect([declined.code, existsSync(file('writer'))]).toEqual([5, true]);
    expect(await said('slots', 'rm', 'writer', '--force')).toBe('Slot writer is gone.\n');
    expect(existsSync(file('writer'))).toBe(false);
  });

  it('what the gateway refuses is named key by key', async () => {
    const ran = await run(['slots', 'set', 'utility', 'extra_args=--x', 'env=A', 'parallel=2']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/extra_args cannot be set here; env cannot be set here\. \(request\.invalid\)/);
    const value = await run(['slots', 'set', 'utility', 'device=abacus']);
    expect(value.err).toMatch(/device .*must be auto.*\(slot\.invalid\)/);
    expect((await run(['slots', 'set', 'utility'])).code).toBe(2);
  });

  it('tells every setting of a slot and its origin', async () => {
    const out = await said('slots', 'settings', 'utility');
    expect(out).toMatch(/^Slot +utility$/m);
    expect(out).toMatch(/^parallel +1 +file$/m);
    expect(out).toMatch(/^autoload +false +default$/m);
    expect(out).toMatch(/^extra_args +\[\] +default +file only$/m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await told<SlotSettingsView>('slots', 'settings', 'utility')).toMatchObject({ slot: 'utility' });
  });

  it('plans a load without making it', async () => {
    await said('slots', 'unload', 'utility');
    const out = await said('slots', 'plan', 'utility', '--model', 'second');
    expect(out).toMatch(/^Slot +utility, model second$/m);
    expect(out).toMatch(/^Now +it would start at once$/m);
    expect(out).toMatch(/^parallel +1 +file$/m);
    expect(out).toMatch(/^Needed +[\d.]+ [KMG]iB \((estimated|measured)\)$/m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await told<SlotPlanView>('slots', 'plan', 'utility')).toMatchObject({ slot: 'utility' });
    expect(await told<SlotRecord>('slots', 'show', 'utility')).toMatchObject({ state: 'offline' });
  });
});

describe('requests and usage', () => {
  const body = (content: string, more: object = {}) => ({
    model: 'agent',
    messages: [{ role: 'user', content }],
    max_tokens: 3,
    temperature: 0,
    ...more,
  });

  it('lists, shows by the short id, and sums', async () => {
    const answer = await ask(gateway, 'POST', '/v1/chat/completions', { key: CLIENT_KEY, body: body('x') });
    const id = String(answer.headers['x-request-id']);
    const out = await said('requests');
    expect(out).toMatch(/^ID +TIME +ROUTE +MODEL +SLOT +STATUS +FIRST +TOTAL +IN\/OUT$/m);
    expect(out).toMatch(new RegExp(`^${id.slice(-8)} .* chat/compl\\S+ +tiny +agent +200 `, 'm'));
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await said('requests', 'show', id.slice(-8))).toMatch(new RegExp(`^Id +${id}$`, 'm'));
    expect((await told<RequestRecord>('requests', 'show', id)).id).toBe(id);
    const older = await told<{ recent: RequestRecord[] }>('requests', 'list', '--before', id, '--limit', '1');
    expect(older.recent.map((each) => each.id)).not.toContain(id);
    await until(async () => (await told<UsageView>('usage')).days.length > 0, 'the sums');
    expect(await said('usage', '--days', '1')).toMatch(/^\d{4}-\d\d-\d\d +client +tiny +\d+ +\d+ +\d+$/m);
  });

  it('ends a running one', async () => {
    const streamed = await openStream(
      gateway,
      '/v1/chat/completions',
      body(ENDLESS, { stream: true, max_tokens: 30_000 }),
      { key: CLIENT_KEY },
    );
    await until(() => streamed.text().length > 500, 'the stream to flow');
    const { running } = await told<{ running: RequestRecord[] }>('requests', 'list', '--state', 'running');
    const id = running[0]?.id ?? '';
    expect(await said('requests', 'cancel', id.slice(-8))).toBe(`Request ${id} is cancelled.\n`);
    await streamed.ended;
    await until(
      async () => (await said('requests', 'list', '--state', 'running')) === 'No request yet.\n',
      'its end',
    );
    expect(await said('requests', 'cancel', id)).toBe(`Request ${id} had ended already.\n`);
  });
});

describe('logs and events', () => {
  /** Runs a command that goes on until it is ended; `enough` tells when it has said enough. */
  async function following(
    args: string[],
    enough: (out: string) => boolean,
    act: () => Promise<unknown>,
    stir: () => Promise<unknown> = async () => {},
  ) {
    const program = join(import.meta.dirname, '..', '..', 'scripts', 'svcctl');
    const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...pointing(gateway) };
    const child = spawn(program, args, { env });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      await until(
        async () => {
          await stir();
          return out !== '';
        },
        `${args.join(' ')} to speak`,
      );
      await act();
      await until(() => enough(out), `${args.join(' ')} to say more`);
    } finally {
      child.kill('SIGINT');
      await ended;
    }
    return out;
  }

  it('of a slot: the past, and live lines with -f', async () => {
    const { pid } = await told<SlotRecord>('slots', 'load', 'utility');
    expect(await said('slots', 'logs', 'utility')).toContain(`(pid ${pid},`);
    expect((await said('logs', 'utility', '-n', '1')).trimEnd().split('\n')).toHaveLength(1);
    let next = 0;
    const out = await following(
      ['logs', '-f', 'utility'],
      (text) => next > 0 && text.includes(`(pid ${next},`),
      async () => {
        next = (await told<SlotRecord>('slots', 'restart', 'utility')).pid as number;
      },
    );
    expect(out).toContain(`(pid ${pid},`);
  });

  it('of the gateway: readable lines, or JSON', async () => {
    process.kill((await told<SlotRecord>('slots', 'load', 'utility')).pid as number, 'SIGKILL');
    await gateway.waitFor('slot failed');
    const out = await said('logs', '--level', 'warn');
    expect(out).toMatch(/^\d\d:\d\d:\d\d WARN {2}slot failed slot=utility reason=/m);
    const lines = (await said('logs', '--json')).trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
    expect(await run(['logs', '--level', 'loud'])).toMatchObject({ code: 1, out: '' });
    await slotState(gateway, 'utility', 'ready', ADMIN_KEY);
  });

  it('events tell what happens, one JSON a line with --json', async () => {
    const out = await following(
      ['events', '--json'],
      (text) => text.includes('"state":"ready"'),
      () => said('slots', 'restart', 'utility'),
      // Every probe is an event: one of them comes once the stream is open.
      () => ask(gateway, 'POST', '/api/hardware/probe', { key: ADMIN_KEY }),
    );
    const lines = out.slice(0, out.lastIndexOf('\n')).split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) });
  });
});

describe('models and hardware', () => {
  it('tables that fit, and JSON', async () => {
    const models = await said('models');
    expect(models).toMatch(/^MODEL +TYPE +QUANT +SIZE +CONTEXT +MEMORY +BOUND TO +FROM +LICENCE$/m);
    expect(models).toMatch(/^second +llm /m);
    const hardware = await said('hardware');
    expect(hardware).toMatch(/^Processor +.+ cores \(\d+ threads\)$/m);
    expect(hardware).toMatch(/^DEVICE +KIND +NAME +DRIVER +MEMORY +ACCESS$/m);
    for (const line of [
      ...models.split('\n'),
      ...hardware.split('\n').filter((each) => !each.startsWith('!')),
    ]) {
      if (!line.startsWith('Processor')) expect(line.length, line).toBeLessThanOrEqual(80);
    }
    const before = await told<HardwareView>('hardware');
    const after = await told<HardwareView>('hardware', 'probe');
    expect(after.probed_at).toBeGreaterThan(before.probed_at);
  });
});

describe('without a gateway', () => {
  it('help and completion need none', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_HOME: '/nonexistent' };
    expect(await run(['slots', 'load', '--help'], { env })).toMatchObject({ code: 0, err: '' });
    expect((await run(['help', 'slots'], { env })).out).toContain('slots swap NAME MODEL');
    expect((await run(['completion', 'bash'], { env })).out).toContain('complete -F _svcctl svcctl');
    expect(await run(['completion', 'csh'], { env })).toMatchObject({ code: 2, out: '' });
    expect(await run(['slots', 'list'], { env })).toMatchObject({ code: 3, out: '' });
  });
});
