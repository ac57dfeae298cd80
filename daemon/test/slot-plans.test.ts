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

const gateway = new SlotFilesGateway();
const { sendAsAdmin, change, textOf, auditRows } = gateway;

describe('GET /api/slots/{name}/settings', () => {
  const settings = async (name: string) => {
    const response = await sendAsAdmin('GET', `/api/slots/${name}/settings`);
    const view = response.json<SlotSettingsView>();
    expect(SlotSettingsResponse.parse(view)).toEqual(view);
    const row = (key: string) => view.settings.find((each) => each.key === key);
    return { view, row, text: response.text };
  };

  it('returns every key with its origin, including a recent change, and no value of a variable', async () => {
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

  it('returns the sampling that the model file recommends', async () => {
    await change('utility', { model: 'second' });
    const { row } = await settings('utility');
    expect(row('sampling.temperature')).toMatchObject({ value: 0.5, from: 'model', editable: false });
    expect(row('sampling.top_k')).toMatchObject({ value: 20, from: 'model' });
    await change('utility', { model: 'tiny' });
    expect((await settings('utility')).row('sampling.top_k')).toBeUndefined();
  });

  it('of a slot without a file and of an unknown slot', async () => {
    const { view, row } = await settings('embed');
    expect(view.file).toBeNull();
    expect(row('model')).toMatchObject({ value: 'vectors', from: 'automatic' });
    expect(await sendAsAdmin('GET', '/api/slots/unknown/settings')).toMatchObject({
      status: 404,
      code: 'slot.not_found',
    });
  });
});

describe('GET /api/slots/{name}/plan', () => {
  const plan = async (name: string, query = '') => sendAsAdmin('GET', `/api/slots/${name}/plan${query}`);

  it('shows the launch with the origin of each value, and the sum; nothing is started', async () => {
    await sendAsAdmin('POST', '/api/slots/utility/unload');
    const view = (await plan('utility')).json<SlotPlanView>();
    expect(SlotPlan.parse(view)).toEqual(view);
    expect(view).toMatchObject({ slot: 'utility', model: 'tiny', engine: 'embedded' });
    expect(view.launch.parallel).toEqual({ value: 1, from: 'file' });
    expect(view.need.total).toBeGreaterThan(0);
    expect(view.forecast.sum.pool).toEqual(expect.any(String));
    expect((await sendAsAdmin('GET', '/api/slots/utility')).json()).toMatchObject({
      state: 'offline',
      pid: null,
    });
  });

  it('can be for another model, and never has a value of a variable', async () => {
    const response = await plan('utility', '?model_id=second');
    expect(response.json()).toMatchObject({ model: 'second' });
    expect(response.text).toContain('SECRET_OF_MINE');
    expect(response.text).not.toContain('worth-keeping');
  });

  it('an impossible plan is an error with its reason', async () => {
    expect(await plan('unknown')).toMatchObject({ status: 404, code: 'slot.not_found' });
    expect(await plan('utility', '?model_id=unknown')).toMatchObject({
      status: 404,
      code: 'model.not_found',
    });
    expect(await plan('utility', '?model_id=vectors')).toMatchObject({
      status: 409,
      code: 'dispatch.capability_mismatch',
    });
    const hollow = await plan('hollow');
    expect(hollow.status, hollow.text).toBe(409);
    expect(hollow.code).toBe('slot.failed');
  });
});

describe('POST /api/slots/{name}/swap', () => {
  const swap = (name: string, body: object, query = '') =>
    sendAsAdmin('POST', `/api/slots/${name}/swap${query}`, { body });

  it('loads the other model and writes it into the file, and nothing else', async () => {
    const response = await swap('utility', { model_id: 'second' });
    expect(response.status, response.text).toBe(200);
    expect(response.json()).toMatchObject({ model: 'second', state: 'ready' });
    expect(textOf('utility')).toBe(BY_HAND.replace('model = "tiny"', 'model = "second"'));
  });

  it('with persist false the file is unchanged', async () => {
    const response = await swap('utility', { model_id: 'tiny', persist: false });
    expect(response.json()).toMatchObject({ model: 'tiny', state: 'ready' });
    expect(textOf('utility')).toContain('model = "second"');
  });

  it('is rejected before anything has changed', async () => {
    const before = textOf('utility');
    const { pid } = (await sendAsAdmin('GET', '/api/slots/utility')).json<SlotRecord>();
    expect(await swap('utility', { model_id: 'unknown' })).toMatchObject({
      status: 404,
      code: 'model.not_found',
    });
    expect(await swap('utility', { model_id: 'vectors' })).toMatchObject({
      status: 409,
      code: 'dispatch.capability_mismatch',
    });
    expect(await swap('unknown', { model_id: 'tiny' })).toMatchObject({
      status: 404,
      code: 'slot.not_found',
    });
    for (const body of [{}, { model_id: '' }, { model_id: 7 }, { model_id: 'tiny', persist: 'no' }]) {
      expect(await swap('utility', body)).toMatchObject({ status: 422, code: 'request.invalid' });
    }
    expect(textOf('utility')).toBe(before);
    expect((await sendAsAdmin('GET', '/api/slots/utility')).json()).toMatchObject({
      state: 'ready',
      pid,
      model: 'tiny',
    });
  });

  it('without waiting: 202 at once, and the end is an event', async () => {
    const stream = await follow(gateway, '/api/events', { key: ADMIN_KEY });
    const response = await swap('utility', { model_id: 'second' }, '?wait=false');
    expect(response.status, response.text).toBe(202);
    expect(SlotView.parse(response.json()).name).toBe('utility');
    await stream.next('the swap', ({ event, data }) => {
      if (event !== 'slot') return false;
      const { slot } = JSON.parse(data) as GatewayEvents['slot'];
      return slot.name === 'utility' && slot.state === 'ready' && slot.model === 'second';
    });
    stream.disconnect();
    expect(await swap('utility', { model_id: 'unknown' }, '?wait=false')).toMatchObject({ status: 404 });
    expect(await swap('utility', { model_id: 'tiny' }, '?wait=perhaps')).toMatchObject({ status: 422 });
  });

  it('is in the audit trail with its model', async () => {
    const rows = await auditRows('slot.swap');
    expect(rows.map(({ details }) => details)).toContainEqual({
      slot: 'utility',
      model: 'tiny',
      persist: false,
    });
  });
});
