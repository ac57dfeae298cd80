/** `/api/slots`: files, plans and swaps over a real port, with real engines. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import {
  SlotPlan,
  type SlotPlanView,
  type SlotRecord,
  SlotSettingsResponse,
  type SlotSettingsView,
  SlotView,
} from '../contract/slots.ts';
import type { AuditRow } from '../contract/system.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/gguf/writer.ts';
import { follow } from './harness/follow.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, KEYS_FILE, until } from './harness/gateway.ts';
import { type Answer, type Ask, ask } from './harness/http.ts';
import { slotState, startTiny } from './harness/tiny-gateway.ts';

/** A file as somebody writes it by hand. */
const BY_HAND = `# the small one
model = "tiny"   # see the shelf
parallel = 1
favourite_colour = "green"

[env]
SECRET_OF_MINE = "worth-keeping"
`;

let gateway: Gateway;

beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  mkdirSync(join(home, 'state/models'), { recursive: true });
  writeFileSync(join(home, 'state/models/second.gguf'), encodeGguf(tinyChat({ context: 4096 })));
  writeFileSync(join(home, 'state/models/vectors.gguf'), encodeGguf(tinyEmbed()));
  gateway = await startTiny(
    {
      home,
      files: {
        ...KEYS_FILE,
        'config/config.toml': '[security]\nrequire_auth = true\n',
        'config/slots/utility.toml': BY_HAND,
        'config/slots/hollow.toml': 'model = "not-here"\n',
        'config/slots/broken.toml': 'context = "many"\n',
      },
    },
    ADMIN_KEY,
  );
});

afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
});

const say = (method: string, path: string, options: Ask = {}): Promise<Answer> =>
  ask(gateway, method, path, { key: ADMIN_KEY, ...options });
const fileOf = (name: string) => join(gateway.home, `config/slots/${name}.toml`);
const textOf = (name: string) => readFileSync(fileOf(name), 'utf8');
const create = (body: object) => say('POST', '/api/slots', { body });
const change = (name: string, body: object) => say('PUT', `/api/slots/${name}`, { body });
const remove = (name: string) => say('DELETE', `/api/slots/${name}`);
const fields = (answer: Answer) =>
  answer.json<{ error: { details: { fields: { path: string; reason: string }[] } } }>().error.details.fields;
const audited = async (action: string) =>
  (await say('GET', '/api/audit'))
    .json<{ entries: AuditRow[] }>()
    .entries.filter((each) => each.action === action);

describe('what no body may set', () => {
  const FORBIDDEN = [
    'binary',
    'command',
    'path',
    'image',
    'argv',
    'args',
    'extra_args',
    'env',
    'environment',
    'mount',
    'mounts',
    'volumes',
    'address',
    'base_url',
    'nonsense',
    'constructor',
  ];

  it.each(FORBIDDEN)('%s', async (key) => {
    const before = textOf('utility');
    for (const answer of [
      await create({ name: 'fresh', model: 'tiny', [key]: ['x'] }),
      await change('utility', { parallel: 2, [key]: ['x'] }),
      await say('POST', '/api/slots/utility/swap', { body: { model_id: 'second', [key]: ['x'] } }),
    ]) {
      expect(answer).toMatchObject({ status: 422, code: 'request.invalid' });
      expect(fields(answer)).toEqual([{ path: key, reason: 'cannot be set here' }]);
    }
    expect([textOf('utility'), existsSync(fileOf('fresh'))]).toEqual([before, false]);
  });

  it('several at once, and inside voice, are each named', async () => {
    const answer = await change('utility', { argv: [], env: {}, voice: { voice: 'x', command: 'y' } });
    expect(fields(answer).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['argv', 'env', 'voice.command']),
    );
    expect((await change('utility', { name: 'other' })).code).toBe('request.invalid');
  });

  it('a body that is no object', async () => {
    for (const body of ['[]', '"x"', 'null', '7']) {
      const answer = await say('PUT', '/api/slots/utility', {
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect(answer).toMatchObject({ status: 422, code: 'request.invalid' });
    }
  });
});

describe('POST /api/slots', () => {
  it('writes a file and answers 201 with the record; the slot is there and can be used at once', async () => {
    const answer = await create({
      name: 'writer',
      model: 'second',
      context: 1024,
      parallel: 1,
      pinned: true,
    });
    expect(answer.status, answer.text).toBe(201);
    expect(SlotView.parse(answer.json())).toMatchObject({
      name: 'writer',
      model: 'second',
      state: 'offline',
      auto: false,
      pinned: true,
    });
    expect(textOf('writer')).toContain('context = 1024');
    expect((await say('GET', '/api/slots/writer')).status).toBe(200);
    const body = { model: 'writer', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
    const said = await say('POST', '/v1/chat/completions', { key: CLIENT_KEY, body });
    expect([said.status, said.headers['x-svc-slot']]).toEqual([200, 'writer']);
    expect(await audited('slot.create')).toMatchObject([
      { tier: 'admin', address: '127.0.0.1', details: { slot: 'writer', settings: { context: 1024 } } },
    ]);
  });

  it('a name that is taken is 409, a broken file included', async () => {
    for (const name of ['writer', 'utility', 'agent', 'broken']) {
      expect(await create({ name, model: 'tiny' })).toMatchObject({ status: 409, code: 'slot.exists' });
    }
  });

  it.each(['', 'Upper', '-first', 'with space', '../escape', 'a/b', 'x'.repeat(33), 'ünï'])(
    'the name %j is refused',
    async (name) => {
      const answer = await create({ name, model: 'tiny' });
      expect(answer).toMatchObject({ status: 422, code: 'request.invalid' });
      expect(fields(answer)[0]?.path).toBe('name');
    },
  );

  it.each([
    [{ device: 'abacus' }, 'device'],
    [{ context: 1 }, 'context'],
    [{ parallel: 1000 }, 'parallel'],
    [{ engine: 'steam' }, 'engine'],
    [{ idle_unload: 'soon' }, 'idle_unload'],
  ])('%j is 422 slot.invalid, by key, and writes nothing', async (settings, path) => {
    const answer = await create({ name: 'fresh', model: 'tiny', ...settings });
    expect(answer).toMatchObject({ status: 422, code: 'slot.invalid' });
    expect(fields(answer)[0]?.path).toBe(path);
    expect(existsSync(fileOf('fresh'))).toBe(false);
  });

  it('is for admins', async () => {
    for (const [method, path] of [
      ['POST', '/api/slots'],
      ['PUT', '/api/slots/utility'],
      ['DELETE', '/api/slots/utility'],
      ['POST', '/api/slots/utility/swap'],
      ['GET', '/api/slots/utility/plan'],
      ['GET', '/api/slots/utility/settings'],
    ] as const) {
      expect((await say(method, path, { key: CLIENT_KEY, body: {} })).code).toBe('auth.forbidden');
      expect((await ask(gateway, method, path)).code).toBe('auth.required');
    }
  });
});

describe('PUT /api/slots/{name}', () => {
  it('changes its keys and leaves comments, unknown keys and what only the file may hold', async () => {
    const answer = await change('utility', { parallel: 2, idle_unload: '5 min' });
    expect(answer.status, answer.text).toBe(200);
    const text = textOf('utility');
    expect(text).toContain('parallel = 2');
    expect(text).toContain('idle_unload = "5 min"');
    for (const line of BY_HAND.split('\n').filter((each) => !each.startsWith('parallel'))) {
      expect(text.split('\n')).toContain(line);
    }
    expect(answer.text).not.toContain('worth-keeping');
    const { parallel } = (await say('GET', '/api/slots/utility')).json<SlotRecord>();
    expect(parallel).toBe(2);
  });

  it('null takes a key out, and the text is as it was', async () => {
    expect((await change('utility', { parallel: 1, idle_unload: null })).status).toBe(200);
    expect(textOf('utility').replace(/\s+/g, ' ')).toBe(BY_HAND.replace(/\s+/g, ' '));
  });

  it('a wrong value is named and changes nothing', async () => {
    const before = textOf('utility');
    const answer = await change('utility', { parallel: 2, device: 'abacus' });
    expect(answer).toMatchObject({ status: 422, code: 'slot.invalid' });
    expect(fields(answer)[0]?.path).toBe('device');
    expect(textOf('utility')).toBe(before);
    expect(await change('nobody', { parallel: 1 })).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a disabled slot is unloaded, listed, and no model any more', async () => {
    await say('POST', '/api/slots/writer/load');
    expect((await change('writer', { enabled: false })).json()).toMatchObject({ enabled: false });
    await slotState(gateway, 'writer', 'offline', ADMIN_KEY);
    expect(await say('POST', '/api/slots/writer/load')).toMatchObject({ status: 409, code: 'slot.disabled' });
    expect((await say('GET', '/v1/models/writer')).status).toBe(404);
    expect((await change('writer', { enabled: null })).json()).toMatchObject({ enabled: true });
  });

  it('mends a broken file', async () => {
    expect((await say('GET', '/api/slots/broken')).status).toBe(404);
    const answer = await change('broken', { context: 2048, model: 'tiny' });
    expect(answer.status, answer.text).toBe(200);
    expect((await say('GET', '/api/slots/broken')).json()).toMatchObject({ name: 'broken', model: 'tiny' });
  });

  it('each change is in the audit trail, a refused one is not', async () => {
    const rows = await audited('slot.change');
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(rows)).not.toContain('abacus');
    expect(rows.at(-1)).toMatchObject({ details: { slot: 'utility', settings: { parallel: 2 } } });
  });

  it('a file that cannot be changed without touching the rest is told as such', async () => {
    writeFileSync(fileOf('garbled'), 'this is = = no toml\n');
    await until(async () => {
      const { problems } = (await say('GET', '/api/settings')).json<{ problems: { file: string }[] }>();
      return problems.some(({ file }) => file === 'garbled.toml');
    }, 'the file to be seen');
    const answer = await change('garbled', { model: 'tiny' });
    expect(answer).toMatchObject({ status: 409, code: 'config.broken' });
    expect(answer.text).not.toContain(gateway.home);
    expect(textOf('garbled')).toBe('this is = = no toml\n');
    expect((await remove('garbled')).status).toBe(200);
  });
});

describe('GET /api/slots/{name}/settings', () => {
  const settings = async (name: string) => {
    const answer = await say('GET', `/api/slots/${name}/settings`);
    const view = answer.json<SlotSettingsView>();
    expect(SlotSettingsResponse.parse(view)).toEqual(view);
    const row = (key: string) => view.settings.find((each) => each.key === key);
    return { view, row, text: answer.text };
  };

  it('tells every key with its origin, what was changed a moment ago too, and no value of a variable', async () => {
    await change('utility', { priority: 7 });
    const { view, row, text } = await settings('utility');
    expect(row('priority')).toEqual({ key: 'priority', value: 7, from: 'file', editable: true });
    expect(row('model')).toMatchObject({ value: 'tiny', from: 'file' });
    expect(row('autoload')).toMatchObject({ value: false, from: 'default' });
    expect(row('env')).toEqual({ key: 'env', value: ['SECRET_OF_MINE'], from: 'file', editable: false });
    expect(text).not.toContain('worth-keeping');
    expect(text).not.toContain(gateway.home);
    expect(view.file).toBe('utility.toml');
    expect(view.problems).toEqual([{ line: 4, message: expect.stringContaining('favourite_colour') }]);
    await change('utility', { priority: null });
    expect((await settings('utility')).row('priority')).toMatchObject({ value: 0, from: 'default' });
  });

  it('of a slot without a file and of none', async () => {
    const { view, row } = await settings('embed');
    expect(view.file).toBeNull();
    expect(row('model')).toMatchObject({ value: 'vectors', from: 'automatic' });
    expect(await say('GET', '/api/slots/nobody/settings')).toMatchObject({
      status: 404,
      code: 'slot.not_found',
    });
  });
});

describe('GET /api/slots/{name}/plan', () => {
  const plan = async (name: string, query = '') => say('GET', `/api/slots/${name}/plan${query}`);

  it('shows the launch with where each value comes from, and the sum; nothing is started', async () => {
    await say('POST', '/api/slots/utility/unload');
    const view = (await plan('utility')).json<SlotPlanView>();
    expect(SlotPlan.parse(view)).toEqual(view);
    expect(view).toMatchObject({ slot: 'utility', model: 'tiny', engine: 'embedded' });
    expect(view.launch.parallel).toEqual({ value: 1, from: 'file' });
    expect(view.need.total).toBeGreaterThan(0);
    expect(view.forecast.sum.pool).toEqual(expect.any(String));
    expect((await say('GET', '/api/slots/utility')).json()).toMatchObject({ state: 'offline', pid: null });
  });

  it('of another model, and never a value of a variable', async () => {
    const answer = await plan('utility', '?model_id=second');
    expect(answer.json()).toMatchObject({ model: 'second' });
    expect(answer.text).toContain('SECRET_OF_MINE');
    expect(answer.text).not.toContain('worth-keeping');
  });

  it('what cannot be planned says why', async () => {
    expect(await plan('nobody')).toMatchObject({ status: 404, code: 'slot.not_found' });
    expect(await plan('utility', '?model_id=nobody')).toMatchObject({ status: 404, code: 'model.not_found' });
    expect(await plan('utility', '?model_id=vectors')).toMatchObject({
      status: 409,
      code: 'dispatch.capability_mismatch',
    });
    const hollow = await plan('hollow');
    expect(hollow.status, hollow.text).toBe(503);
    expect(hollow.code).toBe('slot.failed');
  });
});

describe('POST /api/slots/{name}/swap', () => {
  const swap = (name: string, body: object, query = '') =>
    say('POST', `/api/slots/${name}/swap${query}`, { body });

  it('loads the other model and writes it into the file, and nothing else', async () => {
    const answer = await swap('utility', { model_id: 'second' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json()).toMatchObject({ model: 'second', state: 'ready' });
    expect(textOf('utility')).toBe(BY_HAND.replace('model = "tiny"', 'model = "second"'));
  });

  it('for once: the file stays as it is', async () => {
    const answer = await swap('utility', { model_id: 'tiny', persist: false });
    expect(answer.json()).toMatchObject({ model: 'tiny', state: 'ready' });
    expect(textOf('utility')).toContain('model = "second"');
  });

  it('is refused before anything has changed', async () => {
    const before = textOf('utility');
    const { pid } = (await say('GET', '/api/slots/utility')).json<SlotRecord>();
    expect(await swap('utility', { model_id: 'nobody' })).toMatchObject({
      status: 404,
      code: 'model.not_found',
    });
    expect(await swap('utility', { model_id: 'vectors' })).toMatchObject({
      status: 409,
      code: 'dispatch.capability_mismatch',
    });
    expect(await swap('nobody', { model_id: 'tiny' })).toMatchObject({ status: 404, code: 'slot.not_found' });
    for (const body of [{}, { model_id: '' }, { model_id: 7 }, { model_id: 'tiny', persist: 'no' }]) {
      expect(await swap('utility', body)).toMatchObject({ status: 422, code: 'request.invalid' });
    }
    expect(textOf('utility')).toBe(before);
    expect((await say('GET', '/api/slots/utility')).json()).toMatchObject({
      state: 'ready',
      pid,
      model: 'tiny',
    });
  });

  it('without waiting: 202 at once, and the end is told by events', async () => {
    const stream = await follow(gateway, '/api/events', { key: ADMIN_KEY });
    const answer = await swap('utility', { model_id: 'second' }, '?wait=false');
    expect(answer.status, answer.text).toBe(202);
    expect(SlotView.parse(answer.json()).name).toBe('utility');
    await stream.next('the swap', ({ event, data }) => {
      if (event !== 'slot') return false;
      const { slot } = JSON.parse(data) as GatewayEvents['slot'];
      return slot.name === 'utility' && slot.state === 'ready' && slot.model === 'second';
    });
    stream.leave();
    expect(await swap('utility', { model_id: 'nobody' }, '?wait=false')).toMatchObject({ status: 404 });
    expect(await swap('utility', { model_id: 'tiny' }, '?wait=perhaps')).toMatchObject({ status: 422 });
  });

  it('is in the audit trail with its model', async () => {
    const rows = await audited('slot.swap');
    expect(rows.map(({ details }) => details)).toContainEqual({
      slot: 'utility',
      model: 'tiny',
      persist: false,
    });
  });
});

describe('DELETE /api/slots/{name}', () => {
  it('ends the engine, removes the file and tells everybody', async () => {
    const stream = await follow(gateway, '/api/events', { key: CLIENT_KEY });
    const { pid } = (await say('POST', '/api/slots/writer/load')).json<SlotRecord>();
    expect((await remove('writer')).json()).toEqual({ ok: true });
    expect([existsSync(fileOf('writer')), existsSync(`/proc/${pid}`)]).toEqual([false, false]);
    expect((await say('GET', '/api/slots/writer')).status).toBe(404);
    expect((await say('GET', '/v1/models/writer')).status).toBe(404);
    await stream.next(
      'slot_removed',
      ({ event, data }) => event === 'slot_removed' && data.includes('"writer"'),
    );
    stream.leave();
    expect(await audited('slot.remove')).toContainEqual(
      expect.objectContaining({ tier: 'admin', details: { slot: 'writer' } }),
    );
    expect(await remove('writer')).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a slot without a file of its own is refused', async () => {
    const { slots } = (await say('GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
    const automatic = slots.find(({ auto }) => auto)?.name;
    expect(automatic).toEqual(expect.any(String));
    expect(await remove(automatic as string)).toMatchObject({ status: 422, code: 'slot.invalid' });
  });

  it.each(['%2e%2e%2fconfig', '..%2f..%2fapi', 'utility%2f', 'utility.toml', '%00'])(
    '%s is no name of a slot',
    async (name) => {
      for (const answer of [await remove(name), await change(name, { parallel: 1 })]) {
        expect(answer.status).toBe(404);
      }
      expect(existsSync(join(gateway.home, 'config/config.toml'))).toBe(true);
      expect(existsSync(join(gateway.home, 'config/api.env'))).toBe(true);
    },
  );
});
