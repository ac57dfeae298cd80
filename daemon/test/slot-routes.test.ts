/** `/api/slots`: slot files over a real port, with real engines. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SlotRecord, SlotView } from '../contract/slots.ts';
import { isAlive } from './harness/descendants.ts';
import { follow } from './harness/follow-events.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { BY_HAND, fieldsOf, SlotFilesGateway } from './harness/slot-files-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';

const gateway = new SlotFilesGateway();
const { sendAsAdmin, create, change, removeSlot, fileOf, textOf, auditRows } = gateway;

describe('keys that no body may set', () => {
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
    for (const response of [
      await create({ name: 'fresh', model: 'tiny', [key]: ['x'] }),
      await change('utility', { parallel: 2, [key]: ['x'] }),
      await sendAsAdmin('POST', '/api/slots/utility/swap', { body: { model_id: 'second', [key]: ['x'] } }),
    ]) {
      expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
      expect(fieldsOf(response)).toEqual([{ path: key, reason: 'cannot be set here' }]);
    }
    expect([textOf('utility'), existsSync(fileOf('fresh'))]).toEqual([before, false]);
  });

  it('several at once, and inside voice, are each named', async () => {
    const response = await change('utility', { argv: [], env: {}, voice: { voice: 'x', command: 'y' } });
    expect(fieldsOf(response).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['argv', 'env', 'voice.command']),
    );
    expect((await change('utility', { name: 'other' })).code).toBe('request.invalid');
  });

  it('a body that is not an object', async () => {
    for (const body of ['[]', '"x"', 'null', '7']) {
      const response = await sendAsAdmin('PUT', '/api/slots/utility', {
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    }
  });
});

describe('POST /api/slots', () => {
  it('writes a file and answers 201 with the record; the slot exists and can be used at once', async () => {
    const response = await create({
      name: 'writer',
      model: 'second',
      context: 1024,
      parallel: 1,
      pinned: true,
    });
    expect(response.status, response.text).toBe(201);
    expect(SlotView.parse(response.json())).toMatchObject({
      name: 'writer',
      model: 'second',
      state: 'offline',
      auto: false,
      pinned: true,
    });
    expect(textOf('writer')).toContain('context = 1024');
    expect((await sendAsAdmin('GET', '/api/slots/writer')).status).toBe(200);
    const body = { model: 'writer', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
    const chatResponse = await sendAsAdmin('POST', '/v1/chat/completions', { key: CLIENT_KEY, body });
    expect([chatResponse.status, chatResponse.headers['x-svc-slot']]).toEqual([200, 'writer']);
    expect(await auditRows('slot.create')).toMatchObject([
      { tier: 'admin', address: '127.0.0.1', details: { slot: 'writer', settings: { context: 1024 } } },
    ]);
  });

  it('an existing name is 409, including a broken file', async () => {
    for (const name of ['writer', 'utility', 'agent', 'broken']) {
      expect(await create({ name, model: 'tiny' })).toMatchObject({ status: 409, code: 'slot.exists' });
    }
  });

  it.each(['', 'Upper', '-first', 'with space', '../escape', 'a/b', 'x'.repeat(33), 'ünï'])(
    'the name %j is rejected',
    async (name) => {
      const response = await create({ name, model: 'tiny' });
      expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
      expect(fieldsOf(response)[0]?.path).toBe('name');
    },
  );

  it.each([
    [{ device: 'abacus' }, 'device'],
    [{ context: 1 }, 'context'],
    [{ parallel: 1000 }, 'parallel'],
    [{ engine: 'steam' }, 'engine'],
    [{ idle_unload: 'soon' }, 'idle_unload'],
  ])('%j is 422 slot.invalid, by key, and writes nothing', async (settings, path) => {
    const response = await create({ name: 'fresh', model: 'tiny', ...settings });
    expect(response).toMatchObject({ status: 422, code: 'slot.invalid' });
    expect(fieldsOf(response)[0]?.path).toBe(path);
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
      expect((await sendAsAdmin(method, path, { key: CLIENT_KEY, body: {} })).code).toBe('auth.forbidden');
      expect((await send(gateway, method, path)).code).toBe('auth.required');
    }
  });
});

describe('PUT /api/slots/{name}', () => {
  it('changes its keys and leaves comments, unknown keys and file-only keys', async () => {
    const response = await change('utility', { parallel: 2, idle_unload: '5 min' });
    expect(response.status, response.text).toBe(200);
    const text = textOf('utility');
    expect(text).toContain('parallel = 2');
    expect(text).toContain('idle_unload = "5 min"');
    for (const line of BY_HAND.split('\n').filter((each) => !each.startsWith('parallel'))) {
      expect(text.split('\n')).toContain(line);
    }
    expect(response.text).not.toContain('worth-keeping');
    const { parallel } = (await sendAsAdmin('GET', '/api/slots/utility')).json<SlotRecord>();
    expect(parallel).toBe(2);
  });

  it('null removes a key, and the text is as before', async () => {
    expect((await change('utility', { parallel: 1, idle_unload: null })).status).toBe(200);
    expect(textOf('utility').replace(/\s+/g, ' ')).toBe(BY_HAND.replace(/\s+/g, ' '));
  });

  it('an invalid value is named and changes nothing', async () => {
    const before = textOf('utility');
    const response = await change('utility', { parallel: 2, device: 'abacus' });
    expect(response).toMatchObject({ status: 422, code: 'slot.invalid' });
    expect(fieldsOf(response)[0]?.path).toBe('device');
    expect(textOf('utility')).toBe(before);
    expect(await change('unknown', { parallel: 1 })).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a disabled slot is unloaded and listed, but no longer a model', async () => {
    await sendAsAdmin('POST', '/api/slots/writer/load');
    expect((await change('writer', { enabled: false })).json()).toMatchObject({ enabled: false });
    await waitForSlotState(gateway, 'writer', 'offline', ADMIN_KEY);
    expect(await sendAsAdmin('POST', '/api/slots/writer/load')).toMatchObject({
      status: 409,
      code: 'slot.disabled',
    });
    expect((await sendAsAdmin('GET', '/v1/models/writer')).status).toBe(404);
    const body = { model: 'writer', messages: [{ role: 'user', content: 'x' }] };
    const refused = await sendAsAdmin('POST', '/v1/chat/completions', { body });
    expect(refused).toMatchObject({ status: 404, code: 'dispatch.no_route' });
    expect(refused.text).toContain('Slot writer is disabled.');
    expect((await change('writer', { enabled: null })).json()).toMatchObject({ enabled: true });
  });

  it('repairs a broken file', async () => {
    expect((await sendAsAdmin('GET', '/api/slots/broken')).status).toBe(404);
    const response = await change('broken', { context: 2048, model: 'tiny' });
    expect(response.status, response.text).toBe(200);
    expect((await sendAsAdmin('GET', '/api/slots/broken')).json()).toMatchObject({
      name: 'broken',
      model: 'tiny',
    });
  });

  it('each change is in the audit trail, a rejected one is not', async () => {
    const rows = await auditRows('slot.change');
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(rows)).not.toContain('abacus');
    expect(rows.at(-1)).toMatchObject({ details: { slot: 'utility', settings: { parallel: 2 } } });
  });

  it('a file that cannot be edited safely is an error', async () => {
    writeFileSync(fileOf('garbled'), 'this is = = no toml\n');
    await until(async () => {
      const { problems } = (await sendAsAdmin('GET', '/api/settings')).json<{
        problems: { file: string }[];
      }>();
      return problems.some(({ file }) => file === 'slots/garbled.toml');
    }, 'the file to be read');
    const response = await change('garbled', { model: 'tiny' });
    expect(response).toMatchObject({ status: 409, code: 'config.broken' });
    expect(response.text).not.toContain(gateway.home);
    expect(textOf('garbled')).toBe('this is = = no toml\n');
    expect((await removeSlot('garbled')).status).toBe(200);
  });
});

describe('DELETE /api/slots/{name}', () => {
  it('ends the engine, removes the file and emits an event', async () => {
    const stream = await follow(gateway, '/api/events', { key: CLIENT_KEY });
    const { pid } = (await sendAsAdmin('POST', '/api/slots/writer/load')).json<SlotRecord>();
    expect((await removeSlot('writer')).json()).toEqual({ ok: true });
    expect([existsSync(fileOf('writer')), isAlive(pid)]).toEqual([false, false]);
    expect((await sendAsAdmin('GET', '/api/slots/writer')).status).toBe(404);
    expect((await sendAsAdmin('GET', '/v1/models/writer')).status).toBe(404);
    await stream.next(
      'slot_removed',
      ({ event, data }) => event === 'slot_removed' && data.includes('"writer"'),
    );
    stream.disconnect();
    expect(await auditRows('slot.remove')).toContainEqual(
      expect.objectContaining({ tier: 'admin', details: { slot: 'writer' } }),
    );
    expect(await removeSlot('writer')).toMatchObject({ status: 404, code: 'slot.not_found' });
  });

  it('a slot without its own file is rejected', async () => {
    const { slots } = (await sendAsAdmin('GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
    const automatic = slots.find(({ auto }) => auto)?.name;
    expect(automatic).toEqual(expect.any(String));
    expect(await removeSlot(automatic as string)).toMatchObject({ status: 422, code: 'slot.invalid' });
  });

  it.each(['%2e%2e%2fconfig', '..%2f..%2fapi', 'utility%2f', 'utility.toml', '%00'])(
    '%s is not a slot name',
    async (name) => {
      for (const response of [await removeSlot(name), await change(name, { parallel: 1 })]) {
        expect(response.status).toBe(404);
      }
      expect(existsSync(join(gateway.home, 'config/config.toml'))).toBe(true);
      expect(existsSync(join(gateway.home, 'config/api.env'))).toBe(true);
    },
  );
});
