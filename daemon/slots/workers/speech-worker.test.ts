import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fromPcm16 } from '../../lib/media/pcm.ts';
import { TONE_CELL } from '../../models/onnx/testing/tones.ts';
import { KEY } from './testing/forked-worker.ts';
import { SPEECH, startToneWorkers, TEXT, type ToneWorkers } from './testing/tone-workers.ts';

let tones: ToneWorkers;
beforeAll(async () => {
  tones = await startToneWorkers();
}, 30_000);
afterAll(() => tones.stop());

describe('tone voice and tone recogniser', () => {
  test('a sentence is transcribed exactly', async () => {
    const transcription = await tones.transcribe(await tones.speak(TEXT), { model: 'x' });
    expect(transcription.status).toBe(200);
    expect(JSON.parse(transcription.text)).toEqual({ text: TEXT, usage: { type: 'duration', seconds: 3 } });
  });

  test('a sentence is transcribed from raw samples at 24,000 Hz', async () => {
    const sound = await tones.speak(TEXT, { response_format: 'pcm' });
    expect(sound.length).toBeGreaterThan(24_000 * 2 * 2);
    expect(JSON.parse((await tones.transcribe(sound, {}, ['a.pcm', 'audio/pcm'])).text).text).toBe(TEXT);
  });

  test('a sentence is transcribed at other speeds', async () => {
    const lengths: number[] = [];
    for (const speed of [0.5, 2]) {
      const sound = await tones.speak(TEXT, { speed });
      lengths.push(sound.length);
      expect(JSON.parse((await tones.transcribe(sound)).text).text).toBe(TEXT);
    }
    const [slow = 0, fast = 1] = lengths;
    expect(slow / fast).toBeGreaterThan(3);
  });

  test('a text of several sentences is spoken in pieces and transcribed as a whole', async () => {
    const long = 'The first sentence is here. The second one follows it. And a third.';
    const sound = await tones.speak(long);
    expect(sound.readUInt32LE(40)).toBe(0xffff_ffff);
    expect(sound.length - 44).toBeGreaterThan(long.length * TONE_CELL * 2);
    expect(JSON.parse((await tones.transcribe(sound)).text).text).toBe(long.toLowerCase());
  });

  test('a single sentence states its length', async () => {
    const sound = await tones.speak(TEXT);
    expect(sound.readUInt32LE(40)).toBe(sound.length - 44);
  });

  test('another voice sounds different', async () => {
    const peak = (sound: Buffer) => Math.max(...fromPcm16(sound.subarray(44)));
    const [quiet, loud] = [
      await tones.speak(TEXT, { voice: '0' }),
      await tones.speak(TEXT, { voice: { id: '1' } }),
    ];
    expect(peak(loud) / peak(quiet)).toBeCloseTo(2, 1);
  });
});

describe('speaking', () => {
  test('the first audio arrives before the last piece is generated, and a disconnect stops the rest', async () => {
    const leaving = new AbortController();
    const input = 'This is one sentence of many that follow. '.repeat(1_500);
    const answer = await tones.voice.post(SPEECH, { input }, { signal: leaving.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    expect(await tones.voice.health()).toMatchObject({ active: 1 });
    leaving.abort();
    await vi.waitFor(
      async () => expect(await tones.voice.health()).toMatchObject({ active: 0, queued: 0 }),
      2_000,
    );
  });

  test('two callers alternate', async () => {
    const texts = ['One two three. Four five six. Seven.', 'Other words here. And more of them.'];
    const sounds = await Promise.all(texts.map((text) => tones.speak(text)));
    for (const [index, sound] of sounds.entries())
      expect(JSON.parse((await tones.transcribe(sound)).text).text).toBe(texts[index]?.toLowerCase());
  });

  test("the voice names of OpenAI's clients select the default voice", async () => {
    expect((await tones.speak(TEXT, { voice: 'alloy' })).equals(await tones.speak(TEXT))).toBe(true);
  });

  test.each([
    [{ input: TEXT, voice: 'unknown' }, 'voice', 'there is no voice "unknown"; available: 0, 1'],
    [{ input: TEXT, response_format: 'mp3' }, 'response_format', 'must be wav or pcm'],
    [{ input: TEXT, speed: 9 }, 'speed', 'must be 0.25 to 4'],
    [{ input: TEXT, speed: 'fast' }, 'speed', 'must be a number'],
    [{ input: '' }, 'input', 'nothing that can be spoken'],
    [{ input: ' ... ' }, 'input', 'nothing that can be spoken'],
    [{ input: 'äöü' }, 'input', 'nothing that this voice can speak'],
    [{ input: 'a'.repeat(65_537) }, 'input', 'at most 65536 characters'],
    [{ input: 7 }, 'input', 'must be a string'],
    [{}, 'input', 'must be a string'],
  ])('case %#', async (body, param, reason) => {
    const answer = await tones.voice.post(SPEECH, body);
    const { error } = (await answer.json()) as { error: { param: string; message: string; code: string } };
    expect([answer.status, error.code, error.param]).toEqual([422, 'request.invalid', param]);
    expect(error.message).toContain(reason);
  });

  test('lists its voices', async () => {
    const answer = await fetch(`${tones.voice.origin}/v1/audio/voices`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(await answer.json()).toEqual({
      voices: [
        { id: '0', name: '0' },
        { id: '1', name: '1' },
      ],
    });
  });
});
