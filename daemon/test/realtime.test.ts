/** Live voice over a real port: a real chat model, a tone voice and a tone recogniser, and clients that check every event. */
import { once } from 'node:events';
import * as fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { ServerEvent } from '../contract/realtime.ts';
import type { SlotRecord } from '../contract/slots.ts';
import { ALAW, toG711 } from '../inference/realtime/g711.ts';
import { fromPcm16 } from '../lib/media/pcm.ts';
import { Resampler } from '../lib/media/resampler.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { anyEvent, SILENCE, TOOL, TOOLS } from './harness/any-voice-event.ts';
import { until } from './harness/gateway.ts';
import { newHome, writeModel } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { scale, seed } from './harness/scale.ts';
import { startTones, synthesize } from './harness/tone-gateway.ts';
import { VoiceCall } from './harness/voice-call.ts';

const REPLY = 'Good morning to you. All is well in this house today, thank you very much for asking.';
/** Half an hour of speech without a repeated word. */
const SPEECH = Array.from({ length: 300 }, (_, at) => `word${at}${at % 10 === 9 ? '.' : ''}`).join(' ');
const SPOKEN_TEXT = 'what a day.';

let voice: Buffer;
const calls: VoiceCall[] = [];

const gateway = new OneGateway(() => {
  const home = newHome();
  const model = writeModel(home, 'talker', tinyChat({ reply: REPLY, tool: TOOL }));
  return startTones({
    home,
    env: { SVC_MODEL: model },
    models: { orator: tinyChat({ name: 'orator', reply: SPEECH }) },
  });
});
beforeAll(async () => {
  voice = await synthesize(gateway, SPOKEN_TEXT);
});
afterEach(() => {
  for (const call of calls.splice(0)) call.close();
});

async function open(query = ''): Promise<VoiceCall> {
  const call = await VoiceCall.open(gateway, query);
  calls.push(call);
  return call;
}

/** Returns the transcript of PCM16 at 24,000 samples per second by the tone recogniser. */
async function transcribe(pcm: Buffer): Promise<string> {
  const call = await open('?intent=transcription');
  await call.update({ audio: { input: { turn_detection: null } } }, 'transcription');
  call.speak(pcm);
  call.send({ type: 'input_audio_buffer.commit' });
  return (await call.next('conversation.item.input_audio_transcription.completed')).transcript as string;
}

const responseOf = (event: ServerEvent) => event.response as Record<string, never>;
const inFlight = async () =>
  (await send(gateway, 'GET', '/api/slots'))
    .json<{ slots: SlotRecord[] }>()
    .slots.reduce((sum, { active }) => sum + active, 0);

describe('a conversation', () => {
  it('is transcribed, answered in sentences and spoken, and every stage is timed', async () => {
    const call = await open();
    await call.update({ audio: { input: { transcription: { model: 'stt' } } } });
    call.speak(voice);
    call.speak(SILENCE);
    const started = await call.next('input_audio_buffer.speech_started');
    const transcript = await call.next('conversation.item.input_audio_transcription.completed');
    expect(transcript).toMatchObject({ transcript: SPOKEN_TEXT, item_id: started.item_id });
    const done = responseOf(await call.next('response.done'));
    expect(done).toMatchObject({
      status: 'completed',
      output: [
        { role: 'assistant', status: 'completed', content: [{ type: 'output_audio', transcript: REPLY }] },
      ],
      metadata: {
        svc_stt_ms: expect.any(String),
        svc_chat_first_ms: expect.any(String),
        svc_tts_first_ms: expect.any(String),
      },
    });
    const [first, second] = REPLY.split('. ');
    expect(await transcribe(call.sound(done.id))).toBe(`${first?.toLowerCase()}.${second?.toLowerCase()}`);
    expect(call.failure).toBeNull();
  });

  it('speaks before the reply is complete', async () => {
    const call = await open();
    call.type('a');
    call.send({ type: 'response.create', response: { instructions: 'x' } });
    await call.next('response.done');
    const types = call.events.map(({ type }) => type);
    expect(types.indexOf('response.output_audio.delta')).toBeGreaterThan(0);
    expect(types.indexOf('response.output_audio.delta')).toBeLessThan(
      types.indexOf('response.output_audio_transcript.done'),
    );
  });

  it('is interrupted by speech, and truncated to the part that was played', async () => {
    const call = await open('?model=orator');
    call.type('hello');
    call.send({ type: 'response.create' });
    await call.next('response.output_audio.delta');
    call.speak(voice);
    await call.next('input_audio_buffer.speech_started');
    const done = responseOf(await call.next('response.done'));
    expect(done).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
      output: [{ status: 'incomplete' }],
    });
    const [{ id: item_id }] = done.output as unknown as [{ id: string }];
    call.send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 1000 });
    expect(await call.next('conversation.item.truncated')).toMatchObject({ item_id, audio_end_ms: 1000 });
    call.send({ type: 'conversation.item.retrieve', item_id });
    const { item } = (await call.next('conversation.item.retrieved')) as never as {
      item: { content: { transcript: string }[] };
    };
    expect(item.content[0]?.transcript).toBe('word0');
    await call.update({ model: 'agent' });
    call.speak(SILENCE);
    expect(responseOf(await call.next('response.done'))).toMatchObject({ status: 'completed' });
  });

  it('a long reply is complete, also for a client that pauses reading', async () => {
    const call = await open('?model=orator');
    call.type('hello');
    call.send({ type: 'response.create' });
    await call.next('response.output_audio.delta');
    call.socket.pause();
    expect(await inFlight()).toBeGreaterThan(0);
    call.socket.resume();
    const done = responseOf(await call.next('response.done', 60_000));
    expect(done).toMatchObject({ status: 'completed', output: [{ content: [{ transcript: SPEECH }] }] });
    expect(call.sound(done.id).length / 48_000).toBeGreaterThan(200);
  });

  it('waits for the commit when turns are manual', async () => {
    const call = await open();
    await call.update({ audio: { input: { turn_detection: null, transcription: { model: 'tone-ear' } } } });
    call.speak(voice);
    call.send({ type: 'input_audio_buffer.commit' });
    const { item_id } = await call.next('input_audio_buffer.committed');
    expect(await call.next('conversation.item.input_audio_transcription.completed')).toMatchObject({
      item_id,
      transcript: SPOKEN_TEXT,
    });
    call.send({ type: 'response.create', response: { output_modalities: ['text'] } });
    const done = responseOf(await call.next('response.done'));
    expect(done).toMatchObject({
      output: [{ content: [{ type: 'output_text', text: REPLY }] }],
      usage: { input_tokens: expect.any(Number) },
    });
    call.send({ type: 'input_audio_buffer.commit', event_id: 'again' });
    expect(await call.next('error')).toMatchObject({
      error: { code: 'input_audio_buffer_commit_empty', event_id: 'again' },
    });
  });

  it('passes function calls to the client and accepts their outputs', async () => {
    const call = await open();
    await call.update({ output_modalities: ['text'], tools: TOOLS });
    call.type('hello');
    call.send({ type: 'response.create' });
    const args = await call.next('response.function_call_arguments.done');
    expect(args).toMatchObject({ name: TOOL.name });
    expect(JSON.parse(args.arguments as string)).toEqual(TOOL.args);
    expect(responseOf(await call.next('response.done'))).toMatchObject({
      status: 'completed',
      output: [{ type: 'function_call' }],
    });
    call.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: args.call_id, output: '12:00' },
    });
    call.send({ type: 'response.create', response: { tools: [], tool_choice: 'auto' } });
    expect(responseOf(await call.next('response.done'))).toMatchObject({
      status: 'completed',
      output: [{ type: 'message' }],
    });
  });

  it('over a telephone: G.711 in and out', async () => {
    const call = await open();
    const format = { type: 'audio/pcma' };
    await call.update({ audio: { input: { format, transcription: {} }, output: { format } } });
    const resampler = new Resampler(24_000, 8_000);
    const all = [resampler.push(fromPcm16(Buffer.concat([voice, SILENCE]))), resampler.flush()];
    call.speak(Buffer.concat(all.map((samples) => toG711(ALAW, samples))));
    const { transcript } = await call.next('conversation.item.input_audio_transcription.completed');
    expect(transcript).toMatch(/a/);
    const { id, status } = responseOf(await call.next('response.done')) as unknown as {
      id: string;
      status: string;
    };
    expect(status).toBe('completed');
    const seconds = call.sound(id).length / 8_000;
    expect(seconds).toBeGreaterThan(9);
    expect(seconds).toBeLessThan(13);
  });
});

describe('the end of a call', () => {
  it('a disconnect ends all work for the call', async () => {
    const call = await open();
    call.type('hello');
    call.send({ type: 'response.create' });
    await call.next('response.output_audio.delta');
    call.socket.terminate();
    await until(async () => (await inFlight()) === 0, 'the engines to be free');
  });

  it.each([
    ['unknown', 'dispatch.no_route', 4404],
    ['tone-ear', 'dispatch.capability_mismatch', 4409],
  ])('model %s is refused at the connect with an error event', async (model, code, closed) => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime?model=${model}`);
    const events: ServerEvent[] = [];
    socket.on('message', (data) => events.push(JSON.parse(data.toString())));
    const [closeCode] = await once(socket, 'close');
    expect(closeCode).toBe(closed);
    expect(events).toMatchObject([
      { type: 'error', error: { type: 'invalid_request_error', code, param: 'model' } },
    ]);
  });

  it('an unknown model of session.update is an error event, and the session continues', async () => {
    const call = await open();
    call.send({
      type: 'session.update',
      event_id: 'mine',
      session: { type: 'realtime', model: 'unknown', instructions: 'x' },
    });
    expect(await call.next('error')).toMatchObject({
      error: { type: 'invalid_request_error', param: 'session.model', event_id: 'mine' },
    });
    await call.update({ model: 'agent', output_modalities: ['text'] });
    call.send({ type: 'response.create', response: { instructions: 'Say hello.' } });
    expect(responseOf(await call.next('response.done'))).toMatchObject({ status: 'completed' });
  });

  it.each(['gpt-realtime', 'gpt-realtime-mini', 'gpt-4o-realtime-preview'])(
    'the model %s of the examples of clients is the default voice chain',
    async (model) => {
      const call = await open(`?model=${model}`);
      expect(call.events[0]?.session).toMatchObject({ model });
      await call.update({ output_modalities: ['text'] });
      call.type('hello');
      call.send({ type: 'response.create' });
      expect(responseOf(await call.next('response.done'))).toMatchObject({
        status: 'completed',
        output: [{ content: [{ text: REPLY }] }],
      });
    },
  );

  it('an empty conversation is answered', async () => {
    const call = await open();
    await call.update({ output_modalities: ['text'] });
    call.send({ type: 'response.create' });
    expect(responseOf(await call.next('response.done'))).toMatchObject({ status: 'completed' });
  });

  it('invalid and oversized messages are errors', async () => {
    const call = await open();
    call.socket.send('nonsense');
    expect(await call.next('error')).toMatchObject({
      error: { type: 'invalid_request_error', code: 'invalid_json' },
    });
    call.socket.send(Buffer.from([1, 2, 3]));
    await call.next('error');
    call.socket.send('x'.repeat(2 * 1024 * 1024));
    expect(await call.next('error')).toMatchObject({ error: { code: 'invalid_json' } });
    call.socket.send('x'.repeat(22 * 1024 * 1024));
    expect(await call.next('error')).toMatchObject({ error: { code: 'event_too_large' } });
    call.socket.send('x'.repeat(33 * 1024 * 1024));
    expect((await call.waitForClose()).code).toBe(1009);
  });

  it.each([null, { type: 'server_vad' }])(
    '15 MiB of sound in one event are taken (turn detection: %j)',
    async (turn_detection) => {
      const call = await open('?intent=transcription');
      await call.update({ audio: { input: { turn_detection } } }, 'transcription');
      const quiet = Buffer.alloc((15 << 20) - voice.length - SILENCE.length);
      call.send({
        type: 'input_audio_buffer.append',
        audio: Buffer.concat([quiet, voice, SILENCE]).toString('base64'),
      });
      if (turn_detection === null) call.send({ type: 'input_audio_buffer.commit' });
      const transcript = await call.next('conversation.item.input_audio_transcription.completed', 60_000);
      expect(transcript.transcript).toBe(SPOKEN_TEXT);
    },
  );
});

describe('random clients', () => {
  it('never break a session, and always receive ordered events', async () => {
    const run = async (events: readonly object[]) => {
      const call = await open();
      for (const each of events) {
        if ('kind' in each) call.speak(voice);
        else if ('raw' in each) call.socket.send(each.raw as string);
        else call.send(each as Record<string, unknown>);
      }
      if (call.checker.active) call.send({ type: 'response.cancel' });
      call.send({ type: 'conversation.item.retrieve', item_id: 'the-end', event_id: 'the-end' });
      await until(
        () =>
          call.failure !== null ||
          call.closed !== null ||
          call.events.some(
            ({ error }) => (error as { event_id?: string } | undefined)?.event_id === 'the-end',
          ),
        'the last event to be answered',
      );
      call.close();
      expect([call.failure, call.closed]).toEqual([null, null]);
    };
    await fc.assert(fc.asyncProperty(fc.array(anyEvent, { maxLength: 25 }), run), {
      seed: seed('realtime'),
      numRuns: scale(500),
      endOnFailure: true,
    });
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    await until(async () => (await inFlight()) === 0, 'the engines to be free');
  });
});
