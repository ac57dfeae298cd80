import { describe, expect, test } from 'vitest';
import type { CallEnd } from '../../upstreams/call-meaning.ts';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post } from '../testing/client.ts';
import { hi, JSON_TYPE, MESSAGES, PATHS, type Path } from '../testing/dialects.ts';
import { CHAT, closeAfterEach, setUp } from '../testing/forwarding.ts';
import type { Json } from './json.ts';

closeAfterEach();

const OPENAI =
  "Function tools with reasoning_effort are not supported for gpt-x in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
const GROQ = 'reasoning_effort is not supported with this model';

/** A provider that refuses each chat for which `refuses` is true, with this message. */
async function provider(refuses: (body: Json) => boolean, message: string, remote = true) {
  const efforts: unknown[] = [];
  const ends: CallEnd[] = [];
  const origin = { now: '' };
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', models: ['gpt-x', 'gpt-y'], remote })],
    connect: () => upstreamCall({ origin: origin.now, remote, onEnd: (end) => void ends.push(end) }),
  };
  const { gateway, engine } = await setUp(
    async (req, res) => {
      let text = '';
      for await (const part of req) text += part;
      const body = JSON.parse(text) as Json;
      efforts.push(body.reasoning_effort ?? null);
      const refused = refuses(body);
      res.writeHead(refused ? 400 : 200, JSON_TYPE);
      const error = { message, type: 'invalid_request_error', param: 'reasoning_effort', code: null };
      const choices = [{ message: { content: 'yes' }, finish_reason: 'stop' }];
      res.end(JSON.stringify(refused ? { error } : { choices }));
    },
    { upstreams },
  );
  origin.now = engine.origin;
  return { gateway, efforts, ends };
}

const bodyOf = (path: Path, tools: boolean, model = 'gpt-x'): Json => {
  if (path === MESSAGES) {
    const toolFields = tools ? { tools: [{ name: 'f', input_schema: { type: 'object' } }] } : {};
    return { model, max_tokens: 9, messages: hi, output_config: { effort: 'high' }, ...toolFields };
  }
  const toolFields = tools ? { tools: [{ type: 'function', name: 'f', parameters: {} }] } : {};
  return { model, input: hi, reasoning: { effort: 'high' }, ...toolFields };
};

describe.each(PATHS)('%s', (path) => {
  test('an effort that a provider refuses with tools is sent as none, and immediately so in later requests', async () => {
    const refuses = ({ tools, reasoning_effort: effort }: Json) => tools !== undefined && effort !== 'none';
    const { gateway, efforts, ends } = await provider(refuses, OPENAI);
    const first = await post(gateway.origin, path, bodyOf(path, true));
    expect(first).toMatchObject({
      status: 200,
      headers: { 'x-svc-degraded': expect.stringContaining('none') },
    });
    expect(await post(gateway.origin, path, bodyOf(path, true))).toMatchObject({ status: 200 });
    const plain = await post(gateway.origin, path, bodyOf(path, false));
    expect(plain.status).toBe(200);
    expect(plain.headers).not.toHaveProperty('x-svc-degraded');
    expect(efforts).toEqual(['high', 'none', 'none', 'high']);
    expect(ends).toEqual([{ status: 400 }, { status: 200 }, { status: 200 }, { status: 200 }]);
    expect(gateway.log).toHaveLength(3);
  });

  test('an unknown effort is left out for that model', async () => {
    const { gateway, efforts } = await provider(
      ({ model, reasoning_effort: effort }) => model === 'gpt-x' && effort !== undefined,
      GROQ,
    );
    const answers = [];
    for (const model of ['gpt-x', 'gpt-x', 'gpt-y'])
      answers.push(await post(gateway.origin, path, bodyOf(path, false, model)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers['x-svc-degraded'] !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
    expect(efforts).toEqual(['high', null, null, 'high']);
  });

  test('a second refusal is returned', async () => {
    const { gateway, efforts } = await provider(() => true, GROQ);
    expect(await post(gateway.origin, path, bodyOf(path, false))).toMatchObject({ status: 400 });
    expect(efforts).toEqual(['high', null]);
  });

  test("a local engine's first refusal is returned", async () => {
    const { gateway, efforts } = await provider(() => true, GROQ, false);
    expect(await post(gateway.origin, path, bodyOf(path, false))).toMatchObject({ status: 400 });
    expect(efforts).toEqual(['high']);
  });
});

test('a chat that is not translated passes unchanged, and so does its refusal', async () => {
  const { gateway, efforts } = await provider(() => true, GROQ);
  const body = { model: 'gpt-x', messages: hi, reasoning_effort: 'high' };
  expect(await post(gateway.origin, CHAT, body)).toMatchObject({ status: 400 });
  expect(efforts).toEqual(['high']);
});
