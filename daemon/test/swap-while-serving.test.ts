/**
 * docs/spec/contract.md#swap over the API during responses: no response is truncated, and none comes from the
 * wrong model.
 */
import { expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { replyText, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, waitForSlotState } from './harness/slots.ts';
import { startLongStream, tinyModel, WINDOW } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const NEW_REPLY = 'The new model speaks.';
const gateway = new OneGateway(() => {
  const work = `model = "tiny"\ncontext = ${WINDOW}\nparallel = 1\n`;
  return startGateway({
    models: { tiny: tinyModel(), new: tinyChat({ reply: NEW_REPLY, runs: false }) },
    files: { ...QUIET_FILE, 'config/slots/work.toml': work },
  });
});

const user = (content: string) => [{ role: 'user', content }];
const chat = (model: string) =>
  send(gateway, 'POST', CHAT, { body: { model, messages: user('x'), temperature: 0, max_tokens: 16 } });
const swap = (model_id: string) => send(gateway, 'POST', '/api/slots/work/swap', { body: { model_id } });
const queued = (count: number) =>
  until(async () => (await slot(gateway, 'work')).queued === count, `${count} to wait`);

it('the running stream completes; queued requests for the alias get the new model, those for the old model get it from another slot', async () => {
  expect((await chat('work')).headers['x-svc-model']).toBe('tiny');
  const streamed = await startLongStream(gateway, 'work', 6_000);
  const [byAlias, byModel] = [chat('work'), chat('tiny')];
  await queued(2);
  const swapped = swap('new');
  await waitForSlotState(gateway, 'work', 'draining');
  const late = chat('work');
  expect(await streamed.ended).toBe(true);
  expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
  expect((await swapped).json()).toMatchObject({ model: 'new' });
  for (const response of [await byAlias, await late]) {
    expect([response.status, replyText(response)]).toEqual([200, NEW_REPLY]);
    expect(response.headers).toMatchObject({ 'x-svc-slot': 'work', 'x-svc-model': 'new' });
  }
  const elsewhere = await byModel;
  expect([elsewhere.status, elsewhere.headers['x-svc-model']]).toEqual([200, 'tiny']);
  expect(elsewhere.headers['x-svc-slot']).not.toBe('work');
  expect(replyText(elsewhere)).toMatch(/^yz/);
});

it('repeated swaps under load: each request is served by the model that it named', async () => {
  const failures: unknown[] = [];
  let stopped = false;
  const callers = ['new', 'tiny', 'work', 'work'].map(async (model) => {
    while (!stopped) {
      const response = await chat(model);
      const served = response.headers['x-svc-model'];
      const actual = replyText(response) === NEW_REPLY ? 'new' : 'tiny';
      const fits = response.status === 200 && served === actual && (model === 'work' || served === model);
      if (!fits) failures.push([model, response.status, served, response.text]);
    }
  });
  for (const model of ['tiny', 'new', 'tiny']) {
    const swapped = await swap(model);
    if (swapped.json<SlotRecord>().model !== model) failures.push(swapped.text);
  }
  stopped = true;
  await Promise.all(callers);
  expect(failures).toEqual([]);
});
