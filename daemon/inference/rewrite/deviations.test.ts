import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { scanBody } from './body-index.ts';
import { CHAT_DEVIATIONS, rewriteChat, rewriteModel } from './deviations.ts';
import { loadModel } from './load-model.ts';

const context = (text: string, more = {}) => ({
  index: scanBody(Buffer.from(text)),
  local: true,
  thinkingDefault: () => null as boolean | null,
  ...more,
});

test('the seven rewrites are in the order of the specification', () => {
  expect(CHAT_DEVIATIONS.map(({ name }) => name)).toEqual([
    'omni',
    'slot-alias',
    'npu-suffix',
    'virtual-name',
    'thinking',
    'system-messages',
    'load-model',
  ]);
});

test('a chat without rewrites is the same Buffer', () => {
  const chat = context(
    '{"model":"qwen","messages":[{"role":"user","content":"hi"}],"seed":18446744073709551615}',
  );
  expect(rewriteChat(chat, 'qwen', 'qwen')).toBe(chat.index.bytes);
});

test('all rewrites at once keep numbers beyond double precision', () => {
  const chat = context(
    '{"omni":true,"model":"agent","seed":18446744073709551615,"messages":[{"role":"user","content":1e400},{"role":"developer","content":"d"}],"enable_thinking":false}',
    { thinkingDefault: () => true },
  );
  expect(rewriteChat(chat, 'agent', 'qwen').toString()).toBe(
    '{"chat_template_kwargs":{"enable_thinking":false},"model":"qwen","seed":18446744073709551615,"messages":[{"role":"system","content":"d"},{"role":"user","content":1e400}]}',
  );
});

test('a model that occurs twice reaches the engine once, with the value that chose the slot', () => {
  const chat = context('{"model":"a","stream":true,"mod\\u0065l":"b","stream":false}');
  expect(rewriteModel(chat.index, 'b', 'b').toString()).toBe('{"mod\\u0065l":"b","stream":false}');
  expect(rewriteModel(chat.index, 'b', 'c').toString()).toBe('{"mod\\u0065l":"c","stream":false}');
});

test('completions: only the model is spliced, everything else is unchanged, including system messages and omni', () => {
  const body = context('{ "omni":true, "model" : "agent" ,"prompt":"x","enable_thinking":true}');
  expect(rewriteModel(body.index, 'agent', 'qwen').toString()).toBe(
    '{ "omni":true, "model" : "qwen" ,"prompt":"x","enable_thinking":true}',
  );
});

test('an omitted model is filled in', () => {
  expect(rewriteModel(context('{"input":"x"}').index, null, 'e5').toString()).toBe(
    '{"model":"e5","input":"x"}',
  );
  expect(rewriteModel(context('{"model":null}').index, null, 'e5').toString()).toBe('{"model":"e5"}');
});

test('load-model continues with the next of the chain only for memory and failure', async () => {
  const refuse = (code: 'slot.no_memory' | 'slot.failed' | 'slot.queue_full') => (slot: string) =>
    slot === 'utility' ? Promise.reject(new GatewayError(code)) : Promise.resolve(slot);
  expect(await loadModel('utility', ['agent'], refuse('slot.no_memory'))).toBe('agent');
  expect(await loadModel('utility', ['agent'], refuse('slot.failed'))).toBe('agent');
  await expect(loadModel('utility', ['agent'], refuse('slot.queue_full'))).rejects.toMatchObject({
    code: 'slot.queue_full',
  });
  await expect(loadModel('utility', [], refuse('slot.no_memory'))).rejects.toMatchObject({
    code: 'slot.no_memory',
  });
});
