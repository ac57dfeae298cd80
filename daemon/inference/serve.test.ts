import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import type { UpstreamState } from '../upstreams/port.ts';
import { NO_UPSTREAMS, type Upstreams } from './ports.ts';
import { registeredModel, upstreamCall, upstreamConfigOf } from './testing/builders.ts';
import { post, readAll, send, until } from './testing/client.ts';
import { CHAT, closeAfterEach, closers } from './testing/forwarding.ts';
import { type GatewayOptions, listen, openGateway, TestSlots } from './testing/gateway.ts';

closeAfterEach();

interface ReceivedRequest {
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A gateway with an engine that returns what it received. */
async function setUp(slots: TestSlots, more: Partial<GatewayOptions> = {}) {
  const requests: ReceivedRequest[] = [];
  const engine = await listen(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const chunk of req) parts.push(chunk as Buffer);
    requests.push({ url: req.url, headers: req.headers, body: Buffer.concat(parts).toString('latin1') });
    res.setHeader('content-type', 'application/json');
    res.end('{"ok":true}');
  });
  closers.push(engine.close);
  slots.engine = engine.origin;
  const gateway = await openGateway({ slots, ...more });
  closers.push(gateway.close);
  return { gateway, requests, engine };
}

const agent = () => new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]);
const messages = [{ role: 'user', content: 'hi' }];
const code = ({ body }: { body: string }) => (JSON.parse(body) as { error: { code: string } }).error.code;

describe('bodies', () => {
  test('a chat by model id reaches the engine byte for byte', async () => {
    const { gateway, requests } = await setUp(agent());
    const body =
      '{ "messages":[{"role":"user","content":"\\u00e9"}], "seed":18446744073709551615,"model" : "qwen","t":1e400 }';
    await post(gateway.origin, CHAT, body);
    expect(requests[0]?.body).toBe(body);
    expect(requests[0]?.headers['content-length']).toBe(String(body.length));
  });

  test('completions: an alias is spliced, an omitted model stays omitted', async () => {
    const { gateway, requests } = await setUp(agent());
    await post(gateway.origin, '/v1/completions', '{"prompt":"x" , "model":"svc/agent","omni":true}');
    await post(gateway.origin, '/v1/completions', '{"prompt" : "x"}');
    expect(requests.map(({ body }) => body)).toEqual([
      '{"prompt":"x" , "model":"qwen","omni":true}',
      '{"prompt" : "x"}',
    ]);
  });

  test.each([
    ['slot', true, false],
    [null, null, null],
    ['model', null, true],
  ])('thinking defaults from the %s', async (_, ofSlot, ofModel) => {
    const slots = agent();
    slots.enableThinking = ofSlot;
    const models = [registeredModel({ id: 'qwen', enable_thinking: ofModel })];
    const { gateway, requests } = await setUp(slots, { models });
    await post(gateway.origin, CHAT, { model: 'qwen', messages });
    const expected = ofSlot ?? ofModel;
    expect(JSON.parse(requests[0]?.body ?? '').chat_template_kwargs).toEqual(
      expected === null ? undefined : { enable_thinking: expected },
    );
  });

  test.each([
    ['not json', 'request.invalid_json', 400],
    ['{"model":"qwen","messages":[{"role":"user"}]', 'request.invalid_json', 400],
    ['[]', 'request.invalid', 422],
    ['{"model":"qwen"}', 'request.invalid', 422],
    ['{"model":7,"messages":[]}', 'request.invalid', 422],
  ])('%s is %s', async (body, expected, status) => {
    const { gateway, requests } = await setUp(agent());
    const answer = await post(gateway.origin, CHAT, body);
    expect(answer.status).toBe(status);
    expect(code(answer)).toBe(expected);
    expect(requests).toEqual([]);
    expect(gateway.log[0]).toMatchObject({ status, error: expected, slot: null });
  });

  test('a transcription is forwarded unchanged, its model read from the bytes', async () => {
    const slots = new TestSlots([slotRecord({ name: 'stt', type: 'stt', model: 'whisper' })]);
    const { gateway, requests } = await setUp(slots);
    const form =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\0\xff\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nstt\r\n--b--\r\n';
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await post(gateway.origin, '/v1/audio/transcriptions', Buffer.from(form, 'latin1'), type);
    expect(answer.status).toBe(200);
    expect(requests[0]).toMatchObject({ body: form, headers: type });
    const none = await post(gateway.origin, '/v1/audio/transcriptions', Buffer.from('--b--\r\n'), type);
    expect([none.status, code(none)]).toEqual([400, 'request.missing_model']);
  });

  test.each([
    ['whisper-server', false],
    ['custom', true],
  ])('a stream request to engine %s waits for a load as a stream: %s', async (engine, waits) => {
    const slots = new TestSlots([slotRecord({ name: 'stt', type: 'stt', model: 'whisper', engine })]);
    const { gateway } = await setUp(slots);
    const waited: boolean[] = [];
    slots.before = (_, { stream }) => void waited.push(stream);
    const field = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const form = `${field('model', 'stt')}${field('stream', 'true')}--b--\r\n`;
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await post(gateway.origin, '/v1/audio/transcriptions', form, type)).status).toBe(200);
    expect(waited).toEqual([waits]);
  });

  test('images: checked in order, then dispatched', async () => {
    const { gateway } = await setUp(agent());
    const send = async (body: object) => {
      const answer = await post(gateway.origin, '/v1/images/generations', body);
      return [answer.status, code(answer)];
    };
    expect(await send({ model: 'dall-e-3' })).toEqual([422, 'image.prompt_required']);
    expect(await send({ model: 'dall-e-3', prompt: 'a cat', n: 99 })).toEqual([
      404,
      'image.model_not_curated',
    ]);
    expect(await send({ model: 'agent', prompt: 'a cat' })).toEqual([404, 'image.model_not_curated']);
    expect(await send({ model: 'a_'.repeat(40_000), prompt: 'a cat' })).toEqual([422, 'request.invalid']);
    expect(await send({ model: 'sdxl', prompt: 'a cat', n: 99 })).toEqual([422, 'request.invalid']);
    expect(await send({ model: 'sdxl', prompt: 'a cat' })).toEqual([404, 'dispatch.no_route']);
  });

  test('images: an engine with another model generates no image and is not loaded for it', async () => {
    const slots = new TestSlots([
      slotRecord({ name: 'img', type: 'image', engine: 'sd-server', model: 'sdxl', state: 'offline' }),
    ]);
    const { gateway } = await setUp(slots);
    const answer = await post(gateway.origin, '/v1/images/generations', { model: 'sd15', prompt: 'a cat' });
    expect([answer.status, code(answer)]).toEqual([404, 'dispatch.no_route']);
    expect(slots.leased).toBe(0);
  });
});

describe('dispatch and slots', () => {
  test('an unknown model is 404 with suggestions and loads nothing', async () => {
    const slots = agent();
    const { gateway } = await setUp(slots);
    const answer = await post(gateway.origin, CHAT, { model: 'qwem', messages });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body).error).toMatchObject({
      code: 'dispatch.no_route',
      param: 'model',
      details: { suggestions: ['qwen'] },
    });
    expect(slots.requests).toEqual([]);
  });

  test('a virtual name continues with the next of its chain when memory is refused', async () => {
    const slots = agent();
    slots.records.push(slotRecord({ name: 'utility', model: 'small', state: 'offline' }));
    slots.before = (name) => {
      if (name === 'utility') throw new GatewayError('slot.no_memory');
    };
    const { gateway, requests } = await setUp(slots);
    const answer = await post(gateway.origin, CHAT, { model: 'svc/utility', messages });
    expect(slots.requests).toEqual(['utility', 'agent']);
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'agent', 'x-svc-model': 'qwen' });
    expect(JSON.parse(requests[0]?.body ?? '').model).toBe('qwen');
    expect(gateway.log[0]).toMatchObject({ slot: 'agent', model: 'qwen' });
  });

  test('a plain alias does not', async () => {
    const slots = agent();
    slots.before = () => {
      throw new GatewayError('slot.no_memory');
    };
    const { gateway } = await setUp(slots);
    const answer = await post(gateway.origin, CHAT, { model: 'agent', messages });
    expect([answer.status, code(answer)]).toEqual([507, 'slot.no_memory']);
    expect(answer.headers['x-svc-slot']).toBe('agent');
  });

  test('a degraded slot is reported', async () => {
    const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen', degraded: 'runs on the CPU' })]);
    const { gateway } = await setUp(slots);
    const answer = await post(gateway.origin, CHAT, { messages });
    expect(answer.headers['x-svc-degraded']).toBe('runs on the CPU');
  });

  test('batch priority reaches the slot', async () => {
    const slots = agent();
    const priorities: (string | undefined)[] = [];
    slots.before = (_, { priority }) => void priorities.push(priority);
    const { gateway } = await setUp(slots);
    await post(gateway.origin, CHAT, { messages }, { 'x-svc-priority': 'batch' });
    await post(gateway.origin, CHAT, { messages });
    expect(priorities).toEqual(['batch', 'interactive']);
  });

  test('a waiting caller is listed as running and can be cancelled', async () => {
    const slots = agent();
    slots.before = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const { gateway } = await setUp(slots);
    const { head } = send(gateway.origin, CHAT, JSON.stringify({ messages }));
    await until(() => slots.requests.length === 1);
    expect(gateway.inference.running()).toMatchObject([{ id: 'r1', slot: 'agent', state: 'running' }]);
    gateway.inference.cancel('r1');
    const answer = await readAll(await head);
    expect(code(answer)).toBe('request.cancelled');
  });
});

describe('upstreams', () => {
  function upstreams(facts: UpstreamState[], origin: () => string): Upstreams & { refreshed: number } {
    return {
      ...NO_UPSTREAMS,
      refreshed: 0,
      list: () => facts,
      async refreshCold() {
        this.refreshed++;
        for (const [index, each] of facts.entries())
          facts[index] = upstreamConfigOf({ ...each, isCold: false, models: ['far-model'] });
      },
      connect: () => upstreamCall({ origin: origin(), headers: { authorization: 'Bearer upstream-key' } }),
    };
  }

  test('a cold list is read once, then the request is sent there without thinking switches', async () => {
    let origin = '';
    const list = upstreams([upstreamConfigOf({ name: 'cloud', isCold: true })], () => origin);
    const { gateway, requests, engine } = await setUp(agent(), { upstreams: list });
    origin = engine.origin;
    const answer = await post(gateway.origin, CHAT, { model: 'far-model', messages, enable_thinking: true });
    expect(answer.headers).toMatchObject({ 'x-svc-upstream': 'cloud', 'x-svc-step': 'upstream-live' });
    expect(answer.headers).not.toHaveProperty('x-svc-slot');
    expect(requests[0]?.headers.authorization).toBe('Bearer upstream-key');
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ model: 'far-model', messages });
    expect(list.refreshed).toBe(1);
  });
});
