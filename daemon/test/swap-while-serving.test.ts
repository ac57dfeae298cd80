/**
 * docs/spec/contract.md#swap over the API while the slot answers: no answer is cut, and none comes from the
 * wrong model.
 */
import { expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { ask, said } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, slotState } from './harness/slots.ts';
import { flowing, tinyModel, WINDOW } from './harness/tiny-gateway.ts';

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
const say = (model: string) =>
  ask(gateway, 'POST', CHAT, { body: { model, messages: user('x'), temperature: 0, max_tokens: 16 } });
const swap = (model_id: string) => ask(gateway, 'POST', '/api/slots/work/swap', { body: { model_id } });
const queued = (count: number) =>
  until(async () => (await slot(gateway, 'work')).queued === count, `${count} to wait`);

it('the running stream ends whole; who waits by alias gets the new model, who named the old one gets that elsewhere', async () => {
  expect((await say('work')).headers['x-svc-model']).toBe('tiny');
  const streamed = await flowing(gateway, 'work', 6_000);
  const [byAlias, byModel] = [say('work'), say('tiny')];
  await queued(2);
  const swapped = swap('new');
  await slotState(gateway, 'work', 'draining');
  const late = say('work');
  expect(await streamed.ended).toBe(true);
  expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
  expect((await swapped).json()).toMatchObject({ model: 'new' });
  for (const answer of [await byAlias, await late]) {
    expect([answer.status, said(answer)]).toEqual([200, NEW_REPLY]);
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'work', 'x-svc-model': 'new' });
  }
  const elsewhere = await byModel;
  expect([elsewhere.status, elsewhere.headers['x-svc-model']]).toEqual([200, 'tiny']);
  expect(elsewhere.headers['x-svc-slot']).not.toBe('work');
  expect(said(elsewhere)).toMatch(/^yz/);
});

it('back and forth under callers: each is answered, and by the model that it named', async () => {
  const wrong: unknown[] = [];
  let over = false;
  const callers = ['new', 'tiny', 'work', 'work'].map(async (model) => {
    while (!over) {
      const answer = await say(model);
      const served = answer.headers['x-svc-model'];
      const right = said(answer) === NEW_REPLY ? 'new' : 'tiny';
      const fits = answer.status === 200 && served === right && (model === 'work' || served === model);
      if (!fits) wrong.push([model, answer.status, served, answer.text]);
    }
  });
  for (const model of ['tiny', 'new', 'tiny']) {
    const swapped = await swap(model);
    if (swapped.json<SlotRecord>().model !== model) wrong.push(swapped.text);
  }
  over = true;
  await Promise.all(callers);
  expect(wrong).toEqual([]);
});
