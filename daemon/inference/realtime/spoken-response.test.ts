import { expect, test } from 'vitest';
import type { InternalCall, InternalReply } from '../internal.ts';
import { runResponse } from './spoken-response.ts';
import type { Input } from './step.ts';

const reply = (status: number, type: string, text: string | Buffer): InternalReply => ({
  status,
  headers: { 'content-type': type },
  body: (async function* () {
    yield Buffer.from(text);
  })(),
  inBandError: () => null,
  abort: () => {},
});
const refusal = (status: number, code: string, param: string | null) =>
  reply(status, 'application/json', JSON.stringify({ error: { code, message: 'no', param } }));
const sound = () => reply(200, 'audio/pcm', Buffer.alloc(4_800));

/** Speaks a reply with a voice that answers each sentence in this way. Returns the inputs of the session. */
async function speak(text: string, voiceReply: (input: string) => InternalReply): Promise<Input[]> {
  const inputs: Input[] = [];
  const chunks = [{ delta: { content: text } }, { delta: {}, finish_reason: 'stop' }];
  const events = chunks.map(
    (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`,
  );
  const internal = async ({ path, body }: InternalCall) =>
    path === '/v1/audio/speech'
      ? voiceReply((JSON.parse(body.toString()) as { input: string }).input)
      : reply(200, 'text/event-stream', `${events.join('')}data: [DONE]\n\n`);
  await runResponse({
    stages: { internal, tier: 'client' },
    response: 'r',
    chat: {
      model: 'agent',
      instructions: '',
      items: [],
      tools: [],
      toolChoice: 'auto',
      maxOutputTokens: 'inf',
    },
    voice: { voice: null, speed: 1, format: { type: 'audio/pcm', rate: 24_000 } },
    signal: new AbortController().signal,
    dispatch: (input) => void inputs.push(input),
    drained: async () => {},
  });
  return inputs;
}
const kinds = (inputs: readonly Input[]) => inputs.map(({ kind }) => kind);
const REPLY =
  'This sentence is in English, and it is long. 这是一个很长的句子，它是用中文写的，它的声音不认识它。';

test('a sentence that the voice cannot speak costs only its sound', async () => {
  const inputs = await speak(REPLY, (input) =>
    /[a-z]/.test(input) ? sound() : refusal(422, 'request.invalid', 'input'),
  );
  expect(kinds(inputs)).toContain('sound');
  expect(kinds(inputs).at(-1)).toBe('spoken');
  expect(kinds(inputs)).not.toContain('failed');
});

test.each([
  ['nothing that the voice can speak', () => refusal(422, 'request.invalid', 'input'), 'request.invalid'],
  ['an unknown voice', () => refusal(422, 'request.invalid', 'voice'), 'request.invalid'],
  ['no sound', () => refusal(502, 'upstream.error', null), 'upstream.error'],
])('%s fails the response with the type of the error', async (_, voiceReply, code) => {
  const inputs = await speak(REPLY, voiceReply);
  const type = code === 'request.invalid' ? 'invalid_request_error' : 'server_error';
  expect(inputs.at(-1)).toMatchObject({ kind: 'failed', error: { type, code } });
});
