/** `/api/slots`: files of slots over a real port, with real engines. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SlotRecord, SlotView } from '../contract/slots.ts';
import { alive } from './harness/descendants.ts';
import { follow } from './harness/follow-events.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { BY_HAND, fieldsOf, SlotFilesGateway } from './harness/slot-files-gateway.ts';
import { slotState } from './harness/slots.ts';

const here = new SlotFilesGateway();
const { say, create, change, removeSlot, fileOf, textOf, audited } = here;

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
      expect(fieldsOf(answer)).toEqual([{ path: key, reason: 'cannot be set here' }]);
    }
    expect([textOf('utility'), existsSync(fileOf('fresh'))]).toEqual([before, false]);
  });

  it('several at once, and inside voice, are each named', async () => {
    const answer = await change('utility', { argv: [], env: {}, voice: { voice: 'x', command: 'y' } });
    expect(fieldsOf(answer).map(({ path }) => path)).toEqual(
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
      expect(fieldsOf(answer)[0]?.path).toBe('name');
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
    expect(fieldsOf(answer)[0]?.path).toBe(path);
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
      expect((await ask(here, method, path)).code).toBe('auth.required');
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
    expect(fieldsOf(answer)[0]?.path).toBe('device');
    expect(textOf('utility')).toBe(before);
    expect(await change('nobody', { parallel: 1 })).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a disabled slot is unloaded, listed, and no model any more', async () => {
    await say('POST', '/api/slots/writer/load');
    expect((await change('writer', { enabled: false })).json()).toMatchObject({ enabled: false });
    await slotState(here, 'writer', 'offline', ADMIN_KEY);
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
      return problems.some(({ file }) => file === 'slots/garbled.toml');
    }, 'the file to be seen');
    const answer = await change('garbled', { model: 'tiny' });
    expect(answer).toMatchObject({ status: 409, code: 'config.broken' });
    expect(answer.text).not.toContain(here.home);
    expect(textOf('garbled')).toBe('this is = = no toml\n');
    expect((await removeSlot('garbled')).status).toBe(200);
  });
});

describe('DELETE /api/slots/{name}', () => {
  it('ends the engine, removes the file and tells everybody', async () => {
    const stream = await follow(here, '/api/events', { key: CLIENT_KEY });
    const { pid } = (await say('POST', '/api/slots/writer/load')).json<SlotRecord>();
    expect((await removeSlot('writer')).json()).toEqual({ ok: true });
    expect([existsSync(fileOf('writer')), alive(pid)]).toEqual([false, false]);
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
    expect(await removeSlot('writer')).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a slot without a file of its own is refused', async () => {
    const { slots } = (await say('GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
    const automatic = slots.find(({ auto }) => auto)?.name;
    expect(automatic).toEqual(expect.any(String));
    expect(await removeSlot(automatic as string)).toMatchObject({ status: 422, code: 'slot.invalid' });
  });

  it.each(['%2e%2e%2fconfig', '..%2f..%2fapi', 'utility%2f', 'utility.toml', '%00'])(
    '%s is no name of a slot',
    async (name) => {
      for (const answer of [await removeSlot(name), await change(name, { parallel: 1 })]) {
        expect(answer.status).toBe(404);
      }
      expect(existsSync(join(here.home, 'config/config.toml'))).toBe(true);
      expect(existsSync(join(here.home, 'config/api.env'))).toBe(true);
    },
  );
});
