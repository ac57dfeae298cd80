import { describe, expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NONE_REPORTED } from '../images/resolve-model.ts';
import type { InternalCall, InternalReply } from '../internal.ts';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { internalReply } from '../testing/internal-reply.ts';
import { OmniFiles } from './files.ts';
import type { OmniTool, ToolContext, ToolDeps } from './tool.ts';
import { TOOLS } from './tools.ts';

/** The longest text for speech at a slow pace, at 24,000 samples per second. */
const CHARACTERS = 4_096;
const SOUND = Math.round((CHARACTERS / 12) * 48_000);

test('the longest spoken text is delivered completely', async () => {
  async function* body() {
    for (let left = SOUND; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536));
  }
  const abort = (failure: unknown) => {
    throw failure;
  };
  const answer = (): InternalReply => ({ ...internalReply({}, { abort }), body: body() });
  const files = new OmniFiles();
  const deps = { internal: async () => answer(), tier: 'client', files } as unknown as ToolDeps;
  const speak = TOOLS.find(({ name }) => name === 'text_to_speech');
  const outcome = await speak?.run(deps, { text: 'x'.repeat(CHARACTERS) }, ['tts']);
  expect(outcome?.result).toEqual({ spoken: true, file: 'audio_1' });
  expect(files.get('audio_1', 'audio')?.bytes).toHaveLength(SOUND);
});

const toolNamed = (name: string) => TOOLS.find((each) => each.name === name) as OmniTool;

/** Runs a tool whose calls get this reply. Returns its output, the calls and their bodies. */
async function run(
  name: string,
  args: object,
  { reply = {}, targets = [] as string[], files = new OmniFiles(), status = 200 },
) {
  const calls: InternalCall[] = [];
  const added: unknown[][] = [];
  const memory = {
    search: async (...search: unknown[]) => ({ results: [search[0], search[1]] }),
    add: (...add: unknown[]) => ({ id: `m${added.push(add)}` }),
  };
  const internal = async (call: InternalCall) => {
    calls.push(call);
    return internalReply(reply, { status });
  };
  const deps = { internal, memory, files, tier: 'client', signal: new AbortController().signal };
  const output = await toolNamed(name).run(deps as unknown as ToolDeps, args, targets);
  return { output, calls, added, bodies: calls.map(({ body }) => body.toString('latin1')) };
}

describe('tools that call a route', () => {
  test('a picture is drawn once and shown', async () => {
    const reply = { data: [{ url: '/images/a.png' }] };
    const { output, calls, bodies } = await run(
      'generate_image',
      { prompt: 'a cat' },
      { reply, targets: ['img'] },
    );
    expect(calls).toMatchObject([{ path: '/v1/images/generations', tier: 'client', translated: true }]);
    expect(JSON.parse(bodies[0] as string)).toEqual({ model: 'img', prompt: 'a cat', n: 1 });
    expect(output).toEqual({
      result: { shown: true, url: '/images/a.png' },
      attachment: { kind: 'image', type: 'image/png', url: '/images/a.png' },
    });
  });

  test.each([
    [{ text: 'hello' }, 'hello'],
    [{}, ''],
    [[], ''],
  ])('a transcript %j is %j', async (reply, text) => {
    const files = new OmniFiles();
    files.add('audio', 'wav', Buffer.from('RIFFsound'));
    const { output, calls, bodies } = await run('transcribe_audio', { file: 'audio_1' }, { reply, files });
    expect(output).toEqual({ result: { text } });
    expect(calls[0]).toMatchObject({
      contentType: expect.stringMatching(/^multipart\/form-data; boundary=/),
    });
    expect(bodies[0]).toContain('RIFFsound');
    expect(bodies[0]).toMatch(/name="model"\r\n\r\nstt\r\n/);
  });

  test.each([
    [undefined, 'Describe this picture.'],
    ['Is it red?', 'Is it red?'],
  ])('a picture is described, with the question %j', async (question, text) => {
    const files = new OmniFiles();
    files.add('image', 'image/png', Buffer.from('png'));
    const reply = { choices: [{ message: { content: 'A cat.' } }] };
    const { output, bodies } = await run(
      'describe_image',
      { file: 'image_1', question },
      { reply, files, targets: ['eye'] },
    );
    expect(output).toEqual({ result: { text: 'A cat.' } });
    expect(JSON.parse(bodies[0] as string)).toMatchObject({
      model: 'eye',
      messages: [
        {
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } },
          ],
        },
      ],
    });
  });

  test.each([
    ['transcribe_audio', 'image_1'],
    ['transcribe_audio', 'audio_2'],
    ['describe_image', 'audio_1'],
  ])('%s refuses a file that is not there: %s', async (name, file) => {
    const files = new OmniFiles();
    files.add('image', 'image/png', Buffer.from('png'));
    files.add('audio', 'wav', Buffer.from('RIFF'));
    await expect(run(name, { file }, { files })).rejects.toMatchObject({
      code: 'request.invalid',
      message: `file: there is no ${file}`,
    });
  });

  test('vectors go to the user, and the model learns how alike the texts are', async () => {
    const reply = { data: [[1, 0], [3, 4], [0, 0], [2]].map((embedding) => ({ embedding })) };
    const { output } = await run(
      'embed_text',
      { texts: ['a', 'b', 'c', 'd'] },
      { reply, targets: ['embed'] },
    );
    expect(output.result).toEqual({ dimensions: 2, alike: [1, 0.6, 0, 1] });
    expect(output.attachment).toEqual({ kind: 'vectors', vectors: [[1, 0], [3, 4], [0, 0], [2]] });
    const none = await run('embed_text', { texts: ['a'] }, { reply: [] });
    expect(none.output.result).toEqual({ dimensions: 0, alike: [] });
    expect((await run('embed_text', { texts: ['a'] }, { reply: { data: [{}] } })).output.result).toEqual({
      dimensions: 0,
      alike: [0],
    });
  });

  test('documents are ordered', async () => {
    const results = [{ index: 1, relevance_score: 0.9 }];
    const documents = ['x', 'y'];
    const { output, bodies } = await run(
      'rerank_documents',
      { query: 'q', documents },
      { reply: { results }, targets: ['rerank'] },
    );
    expect(output).toEqual({ result: { results } });
    expect(JSON.parse(bodies[0] as string)).toEqual({ model: 'rerank', query: 'q', documents });
  });

  test('another model receives the prompt, by its name or the first one', async () => {
    const reply = { choices: [{ message: { content: 'yes' } }] };
    const targets = ['utility', 'coder'];
    for (const [model, expected] of [
      [undefined, 'utility'],
      ['coder', 'coder'],
    ]) {
      const { output, bodies } = await run('ask_model', { prompt: 'p', model }, { reply, targets });
      expect(output).toEqual({ result: { answer: 'yes' } });
      expect(JSON.parse(bodies[0] as string)).toMatchObject({ model: expected });
    }
    await expect(run('ask_model', { prompt: 'p', model: 'agent' }, { targets })).rejects.toMatchObject({
      code: 'model.not_found',
      options: { details: { models: targets } },
    });
  });

  test.each([[{}], [[]], [{ choices: [{ message: { content: [{ text: 'x' }] } }] }]])(
    'an answer without text is empty: %j',
    async (reply) => {
      const { output } = await run('ask_model', { prompt: 'p' }, { reply, targets: ['utility'] });
      expect(output).toEqual({ result: { answer: '' } });
    },
  );

  test('the refusal of a route is that of the tool', async () => {
    const reply = { error: { code: 'slot.no_memory', message: 'It is full.' } };
    await expect(run('rerank_documents', {}, { reply, status: 503 })).rejects.toMatchObject({
      ...{ code: 'slot.no_memory', status: 503, message: 'It is full.' },
    });
  });
});

test('memories are found and added', async () => {
  expect((await run('search_memory', { query: 'q' }, {})).output.result).toEqual({ results: ['q', 5] });
  expect((await run('search_memory', { query: 'q', limit: 2 }, {})).output.result).toEqual({
    results: ['q', 2],
  });
  const { output, added } = await run('remember', { text: 't' }, {});
  expect([output, added]).toEqual([{ result: { remembered: 'm1' } }, [['t', [], 'client']]]);
  expect((await run('remember', { text: 't', tags: ['a'] }, {})).added).toEqual([['t', ['a'], 'client']]);
});

describe('the models that a tool could use', () => {
  const view = routingView({
    slots: [
      slotRecord({ name: 'agent', model: 'qwen' }),
      slotRecord({ name: 'eye', model: 'vl' }),
      slotRecord({ name: 'cold', model: 'vl', state: 'offline' }),
      slotRecord({ name: 'empty', model: null }),
      slotRecord({ name: 'stt', type: 'stt' }),
      slotRecord({ name: 'tts', type: 'tts', state: 'offline' }),
    ],
    models: [registeredModel({ id: 'vl', capabilities: { vision: true } })],
    upstreams: [
      {
        ...upstreamConfigOf({ name: 'desk' }),
        models: [
          { id: 'far-eye', type: null, context: null, created: null, vision: true },
          { id: 'voice', type: 'tts', context: null, created: null },
        ],
      },
      {
        ...upstreamConfigOf({ name: 'sick', isHealthy: false }),
        models: [{ id: 'sick-eye', type: null, context: null, created: null, vision: true }],
      },
    ],
  });
  const targets = (name: string, more: Partial<ToolContext> = {}) =>
    toolNamed(name).targets({
      ...{ view, requestedModel: null, attached: { audio: false, image: false } },
      ...{ reportedModels: NONE_REPORTED, ...more },
    });

  test('of chat: loaded slots other than the requested one', () => {
    expect(targets('ask_model')).toEqual(['eye']);
    expect(targets('ask_model', { requestedModel: 'vl' })).toEqual(['agent']);
    expect(targets('ask_model', { requestedModel: 'svc/eye' })).toEqual(['agent']);
  });

  test('of pictures: those with vision, when the requested one has none', () => {
    const attached = { audio: false, image: true };
    expect(targets('describe_image')).toEqual([]);
    expect(targets('describe_image', { attached })).toEqual(['eye', 'far-eye']);
    expect(targets('describe_image', { attached, requestedModel: 'eye' })).toEqual([]);
  });

  test('of recordings: with a recording, or with a voice that makes one', () => {
    expect(targets('transcribe_audio', { attached: { audio: true, image: false } })).toEqual(['stt']);
    expect(targets('transcribe_audio')).toEqual(['stt']);
    expect(targets('transcribe_audio', { view: { ...view, upstreams: [] } })).toEqual([]);
    expect(targets('text_to_speech')).toEqual(['voice']);
    expect(targets('search_memory')).toEqual(['memory']);
  });
});
