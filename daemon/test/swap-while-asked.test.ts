/** spec "Slots", swap over the API while the slot answers: nobody is cut, nobody is answered by the wrong model. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/gguf/writer.ts';
import { type Gateway, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { openStream, type Streamed } from './harness/stream.ts';
import { said } from './harness/three-models.ts';
import { ENDLESS, slot, slotState, WINDOW, writeTinyModel } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const NEW_REPLY = 'The new model speaks.';
let gateway: Gateway;

beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeTinyModel(folder);
  writeFileSync(join(folder, 'new.gguf'), encodeGguf(tinyChat({ reply: NEW_REPLY, runs: false })));
  const work = `model = "tiny"\ncontext = ${WINDOW}\nparallel = 1\n`;
  gateway = await startGateway({ home, files: { ...QUIET_FILE, 'config/slots/work.toml': work } });
});
afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
});

const user = (content: string) => [{ role: 'user', content }];
const say = (model: string) =>
  ask(gateway, 'POST', CHAT, { body: { model, messages: user('x'), temperature: 0, max_tokens: 16 } });
const swap = (model_id: string) => ask(gateway, 'POST', '/api/slots/work/swap', { body: { model_id } });
const queued = (count: number) =>
  until(async () => (await slot(gateway, 'work')).queued === count, `${count} to wait`);

async function flowing(tokens: number): Promise<Streamed> {
  const body = { model: 'work', messages: user(ENDLESS), temperature: 0, max_tokens: tokens, stream: true };
  const streamed = await openStream(gateway, CHAT, body);
  await until(() => streamed.text().length > 500, 'the stream to flow');
  return streamed;
}

it('the running stream ends whole; who waits by alias gets the new model, who named the old one gets that elsewhere', async () => {
  expect((await say('work')).headers['x-svc-model']).toBe('tiny');
  const streamed = await flowing(6_000);
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
