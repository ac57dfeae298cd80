import { describe, expect, test } from 'vitest';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post } from '../testing/client.ts';
import {
  chunk,
  eventsOf,
  finish,
  hi,
  JSON_TYPE,
  MESSAGES,
  PATHS,
  type Path,
  RESPONSES,
} from '../testing/dialects.ts';
import { closeAfterEach, SSE, setUp } from '../testing/forwarding.ts';
import { asList, asObject, type Json } from './json.ts';

closeAfterEach();

/**
 * A slot (`agent`) and three upstreams, `here` in the own network, each with one model; all answer the first
 * turn with `first`.
 */
async function setUpTargets(first: Json, reason = 'stop') {
  const requests: Json[] = [];
  const origin = { now: '' };
  const facts = [
    upstreamConfigOf({ name: 'groq', models: ['of-groq'] }),
    upstreamConfigOf({ name: 'other', models: ['of-other'] }),
    upstreamConfigOf({ name: 'here', models: ['of-here'], remote: false }),
  ];
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => facts,
    connect: (name) => upstreamCall({ origin: origin.now, remote: name !== 'here' }),
  };
  const { gateway, engine } = await setUp(
    async (req, res) => {
      let text = '';
      for await (const part of req) text += part;
      const body = JSON.parse(text) as Json;
      requests.push(body);
      const message = assistant(body) === undefined ? first : { content: 'more' };
      if (body.stream === true) {
        res.writeHead(200, SSE);
        res.end(`${chunk({ choices: [{ index: 0, delta: message }] })}${finish(reason)}data: [DONE]\n\n`);
        return;
      }
      res.writeHead(200, JSON_TYPE);
      res.end(JSON.stringify({ choices: [{ message: message, finish_reason: reason }] }));
    },
    { upstreams },
  );
  origin.now = engine.origin;
  return { gateway, requests };
}

/** The part of a response that the next request must repeat. */
function repeated(path: Path, stream: boolean, text: string): unknown {
  if (path === MESSAGES) return stream ? blocksOf(text) : (JSON.parse(text) as Json).content;
  if (!stream) return (JSON.parse(text) as Json).output;
  return asObject(eventsOf(text).at(-1)?.response)?.output;
}

/** Assembles the blocks of a streamed message like Anthropic's client. */
function blocksOf(text: string): Json[] {
  const blocks: Json[] = [];
  let args = '';
  for (const { type, ...event } of eventsOf(text)) {
    const last = blocks.at(-1) ?? {};
    const delta = asObject(event.delta) ?? {};
    if (type === 'content_block_start') blocks.push({ ...asObject(event.content_block) });
    if (delta.type === 'thinking_delta') last.thinking = `${last.thinking}${delta.thinking}`;
    if (delta.type === 'text_delta') last.text = `${last.text}${delta.text}`;
    if (delta.type === 'signature_delta') last.signature = delta.signature;
    if (delta.type === 'input_json_delta') args += delta.partial_json;
    if (type === 'content_block_stop' && last.type === 'tool_use') last.input = JSON.parse(args);
  }
  return blocks;
}

const first = { [RESPONSES]: { input: hi }, [MESSAGES]: { max_tokens: 9, messages: hi } };
/** The request after a response, with the result of its call if there is one. */
const next = (path: Path, message: unknown, id: string | null): Json => {
  if (path === RESPONSES) {
    const result = id === null ? hi : [{ type: 'function_call_output', call_id: id, output: 'r' }];
    return { input: [...hi, ...asList(message), ...result] };
  }
  const result = id === null ? 'And?' : [{ type: 'tool_result', tool_use_id: id, content: 'r' }];
  const turns = [
    { role: 'assistant', content: message },
    { role: 'user', content: result },
  ];
  return { max_tokens: 9, messages: [...hi, ...turns] };
};

const assistant = (body: Json | undefined): Json | undefined =>
  asList(body?.messages)
    .map(asObject)
    .find((message) => message?.role === 'assistant');

const BOTH = PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const));

describe.each(BOTH)('reasoning on %s, stream %s', (path, stream) => {
  test.each(['reasoning', 'reasoning_content'])(
    'in %s is sent back to its upstream in its field and to local engines only',
    async (field) => {
      const { gateway, requests } = await setUpTargets({ [field]: 'hm', content: 'yes' });
      const send = (model: string, body: Json) => post(gateway.origin, path, { ...body, model, stream });
      const answer = await send('of-groq', first[path]);
      const body = next(path, repeated(path, stream, answer.body), null);
      for (const model of ['of-groq', 'of-other', 'of-here', 'agent']) await send(model, body);
      const message = { role: 'assistant', content: 'yes' };
      expect(requests.slice(1).map(assistant)).toEqual([
        { ...message, [field]: 'hm' },
        message,
        { ...message, reasoning_content: 'hm' },
        { ...message, reasoning_content: 'hm' },
      ]);
    },
  );

  test.each([
    ['of-here', 'reasoning'],
    ['of-here', 'reasoning_content'],
    ['agent', 'reasoning'],
    ['agent', 'reasoning_content'],
  ])('of %s in %s is sent back to it in that field', async (source, field) => {
    const { gateway, requests } = await setUpTargets({ [field]: 'hm', content: 'yes' });
    const send = (model: string, body: Json) => post(gateway.origin, path, { ...body, model, stream });
    const answer = await send(source, first[path]);
    const body = next(path, repeated(path, stream, answer.body), null);
    const other = source === 'agent' ? 'of-here' : 'agent';
    for (const model of [source, other, 'of-groq']) await send(model, body);
    const message = { role: 'assistant', content: 'yes' };
    expect(requests.slice(1).map(assistant)).toEqual([
      { ...message, [field]: 'hm' },
      { ...message, reasoning_content: 'hm' },
      message,
    ]);
  });

  test.skipIf(path === MESSAGES).each([
    ['agent', {}],
    ['of-here', { reasoning: { summary: 'auto' } }],
  ])('of %s is sent back by clients that only repeat encrypted_content: %j', async (model, more) => {
    const { gateway, requests } = await setUpTargets({ reasoning: 'h: m\n', content: 'yes' });
    const send = (body: Json) => post(gateway.origin, path, { ...body, model, stream });
    const answer = await send({ ...first[path], ...more });
    const output = asList(repeated(path, stream, answer.body)).map((item) => {
      const { content: _, summary, ...rest } = asObject(item) ?? {};
      return rest.type === 'reasoning' ? { ...rest, summary } : asObject(item);
    });
    await send(next(path, output, null));
    expect(assistant(requests[1])).toEqual({ role: 'assistant', content: 'yes', reasoning: 'h: m\n' });
  });

  test.each([
    ['a slot', 'agent', { reasoning_content: 'hm', content: 'yes' }],
    [
      'parts of a content',
      'of-groq',
      {
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'yes' },
        ],
      },
    ],
  ])('of %s is sent to no provider', async (_, model, message) => {
    const { gateway, requests } = await setUpTargets(message);
    const answer = await post(gateway.origin, path, { ...first[path], model, stream });
    const body = next(path, repeated(path, stream, answer.body), null);
    await post(gateway.origin, path, { ...body, model: 'of-groq' });
    expect(assistant(requests[1])).toEqual({ role: 'assistant', content: 'yes' });
  });
});

describe.each(BOTH)('extra fields of a call on %s, stream %s', (path, stream) => {
  const extra = { google: { thought_signature: 'c2ln' } };
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{"a":1}' },
    extra_content: extra,
  });
  const idOf = (content: unknown) => {
    const { id, call_id } = asObject(asList(content).at(-1)) ?? {};
    return String(path === RESPONSES ? call_id : id);
  };

  test.each([
    ['of-here', 'call_of_engine'],
    ['of-groq', ''],
  ])('are sent back only to the upstream of %s (id %j)', async (source, id) => {
    const { gateway, requests } = await setUpTargets({ tool_calls: [call(id)] }, 'tool_calls');
    const send = (model: string, body: Json) => post(gateway.origin, path, { ...body, model, stream });
    const answer = await send(source, first[path]);
    expect(answer.body).not.toContain('c2ln');
    const content = repeated(path, stream, answer.body);
    const models = ['of-here', 'of-groq', 'of-other', 'agent'];
    for (const model of models) await send(model, next(path, content, idOf(content)));
    const sent = requests.slice(1).map((body) => asObject(asList(assistant(body)?.tool_calls)[0]));
    expect(sent.map((each) => each?.extra_content)).toEqual(
      models.map((model) => (model === source ? extra : undefined)),
    );
    expect(sent).toMatchObject(models.map(() => ({ function: call('').function })));
  });
});
