import { expect, it, vi } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { RouteContext } from '../handler.ts';
import { slotRoutes } from './slots.ts';

/** Routes over one slot whose every action is refused, with the started actions and the audit rows. */
function refusing() {
  const act = vi.fn(() => Promise.reject(new GatewayError('model.not_found')));
  const add = vi.fn();
  const deps = {
    slots: { get: () => ({ name: 'agent' }), load: act, unload: act, restart: act, swap: act },
    store: { audit: { add } },
    auth: { address: () => '127.0.0.1' },
  } as unknown as RouteDeps;
  return { act, add, routes: slotRoutes(deps) };
}

const contextWith = (querystring: string) =>
  ({
    ...{ params: { name: 'agent' }, querystring, state: { caller: { tier: 'admin' } } },
    request: { body: { model_id: 'no-such-model' } },
  }) as unknown as RouteContext;
const VERBS = ['slot.load', 'slot.unload', 'slot.restart', 'slot.swap'] as const;

it.each(VERBS)('%s with a refused query starts no action', async (verb) => {
  const { act, add, routes } = refusing();
  const answer = Promise.resolve(routes[verb](contextWith('wait=yes')));
  await expect(answer).rejects.toMatchObject({ code: 'request.invalid' });
  expect([act.mock.calls, add.mock.calls]).toEqual([[], []]);
});

it.each(VERBS)('%s that fails immediately reports the failure, awaited or not', async (verb) => {
  for (const query of ['', 'wait=false']) {
    const { add, routes } = refusing();
    const answer = Promise.resolve(routes[verb](contextWith(query)));
    await expect(answer).rejects.toMatchObject({ code: 'model.not_found' });
    expect(add).toHaveBeenCalledTimes(1);
  }
});
