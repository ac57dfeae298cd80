import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readCommand } from './config.ts';
import { readJson } from './read-json.ts';
import { asRefusal, invalidField, Refusal } from './refusal.ts';

const config = {
  kind: 'chat',
  modelPath: '/m.gguf',
  modelId: 'm',
  key: 'secret-key',
  context: null,
  parallel: 1,
  threads: 1,
  device: 'cpu',
  gpuLayers: null,
  batch: null,
  queueLimit: 0,
  ngramTokens: 0,
  kvCache: null,
};

test('the first message is the configuration', () => {
  expect(readCommand({ type: 'start', config })).toEqual(config);
});

test.each([
  [{ type: 'start', config: { ...config, threads: 0 } }, 'threads'],
  [{ type: 'start', config: { ...config, key: '', device: 'tpu' } }, 'key'],
  [{ type: 'stop' }, 'type'],
])('an invalid configuration is refused, naming the fields but no value', (message, field) => {
  expect(() => readCommand(message)).toThrow(field);
  expect(() => readCommand(message)).not.toThrow('secret-key');
});

test('reads a body up to its limit', async () => {
  expect(await readJson(Readable.from([Buffer.from('{"a"'), Buffer.from(':1}')]))).toEqual({ a: 1 });
  await expect(readJson(Readable.from([Buffer.alloc(20)]), 10)).rejects.toMatchObject({ status: 413 });
  await expect(readJson(Readable.from([Buffer.from('{')]))).rejects.toMatchObject({ status: 400 });
});

test.each([
  [new Refusal('a', 'm', { status: 401 }), 'authentication_error'],
  [new Refusal('a', 'm', { status: 404 }), 'not_found_error'],
  [new Refusal('a', 'm', { status: 429 }), 'rate_limit_error'],
  [new Refusal('a', 'm', { status: 503 }), 'server_error'],
  [invalidField('stop', 'm'), 'invalid_request_error'],
])('a refusal has the error type of its status', (refusal, type) => {
  expect(refusal.envelope().error).toMatchObject({ message: 'm', type, code: expect.any(String) });
});

test('any other error is an engine failure', () => {
  expect(asRefusal(new Error('decode failed')).envelope().error).toMatchObject({
    code: 'engine.failed',
    type: 'server_error',
    message: 'The engine failed: decode failed',
  });
});
