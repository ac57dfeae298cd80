import { afterEach, expect, it, vi } from 'vitest';
import type { InferenceCall } from '../../inference/call-context.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, InferenceHandler } from '../handler.ts';
import { inferenceRoutes } from './inference.ts';

afterEach(() => vi.restoreAllMocks());

it('counts the checks of a request and the processing of its body as overhead, but not the wait for the body', async () => {
  const calls: InferenceCall[] = [];
  const take = async (call: InferenceCall) => void calls.push(call);
  const auth = { address: () => '127.0.0.1' };
  const deps = { auth, omni: { chat: take }, inference: { embeddings: take } } as unknown as RouteDeps;
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const bytes = async () => {
    now += 400;
    return { bytes: Buffer.from('{}'), workMs: 50 };
  };
  const routes = inferenceRoutes(deps, { bytes, receive: () => async () => {} });
  for (const name of ['v1.chat', 'v1.embeddings'] as const) {
    const call = {
      ...{ id: 'id', route: { id: name }, target: { path: '/' } },
      ...{ caller: { tier: 'client' }, receivedAt: performance.now() - 20 },
    } as unknown as Call;
    const req = { headers: { 'user-agent': 'curl/8' } };
    await routes[name]({ req, state: call } as unknown as Parameters<InferenceHandler>[0]);
    const own = performance.now() - (calls.at(-1)?.overheadSince ?? 0);
    expect(own).toBe(70);
  }
  expect(calls.map(({ caller }) => caller?.user_agent)).toEqual(['curl/8', 'curl/8']);
});
