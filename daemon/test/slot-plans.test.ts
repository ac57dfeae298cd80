import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import {
  SlotPlan,
  type SlotPlanView,
  type SlotRecord,
  SlotSettingsResponse,
  type SlotSettingsView,
  SlotView,
} from '../contract/slots.ts';
import { follow } from './harness/follow-events.ts';
import { ADMIN_KEY } from './harness/gateway.ts';
import { BY_HAND, SlotFilesGateway } from './harness/slot-files-gateway.ts';

const here = new SlotFilesGateway();
const { say, change, textOf, audited } = here;

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
    expect(text).not.toContain(here.home);
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
    const stream = await follow(here, '/api/events', { key: ADMIN_KEY });
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
