import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEspeakData } from '../../models/espeak-data.ts';
import { piperSettings, writeEspeakData, writeTonePiper } from '../../models/onnx/testing/tone-piper.ts';
import { type ForkedWorker, forkSpeechWorker } from './testing/forked-worker.ts';
import { SPEECH } from './testing/tone-workers.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-piper-worker-'));
const workers: ForkedWorker[] = [];
const start = async (path: string) => {
  const worker = await forkSpeechWorker(path, 'speech', home);
  workers.push(worker);
  return worker;
};
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  rmSync(home, { recursive: true, force: true });
});

const data = await findEspeakData('/');

describe.skipIf(data === null)(
  'a voice as Piper publishes it, with the rules of espeak-ng on this machine',
  () => {
    let voice: ForkedWorker;
    beforeAll(async () => {
      const settings = piperSettings({ num_speakers: 2, speaker_id_map: { anna: 0, ben: 1 } });
      voice = await start(writeTonePiper(join(home, 'piper'), 'en_US-two-medium', settings));
      await voice.ready;
    }, 30_000);
    const speak = (more: object = {}) =>
      voice.post(SPEECH, { model: 'x', input: 'Hello, this is a test.', response_format: 'wav', ...more });

    test('speaks, with all its speakers', async () => {
      const length = async (name: string) => {
        const answer = await speak({ voice: name });
        expect(answer.status).toBe(200);
        return (await answer.arrayBuffer()).byteLength;
      };
      for (const name of ['anna', 'ben']) expect(await length(name)).toBeGreaterThan(16_000);
      expect((await speak({ voice: 'carl' })).status).toBe(422);
    });

    test('a voice speaks at the speed of its settings, and a request changes it', async () => {
      const settings = piperSettings({ inference: { length_scale: 0.5 } });
      const fast = await start(writeTonePiper(join(home, 'fast'), 'en_US-fast-medium', settings));
      await fast.ready;
      const soundBytes = async (of: ForkedWorker, speed: number) => {
        const order = { model: 'x', input: 'Hello, this is a test.', response_format: 'pcm', speed };
        const answer = await of.post(SPEECH, order);
        expect(answer.status).toBe(200);
        return (await answer.arrayBuffer()).byteLength;
      };
      const normal = await soundBytes(voice, 1);
      expect(await soundBytes(fast, 1)).toBe(normal / 2);
      expect(await soundBytes(fast, 0.5)).toBe(normal);
    });

    test('leaves no file in the state folder', () => {
      expect(readdirSync(join(home, 'spool'))).toEqual([]);
      expect(readdirSync(join(home, 'piper')).sort()).toEqual([
        'en_US-two-medium.onnx',
        'en_US-two-medium.onnx.json',
      ]);
    });
  },
);

test('rules that are not those of espeak-ng end the load with a reason, not the library with C++ text', async () => {
  const folder = join(home, 'bad');
  writeEspeakData(folder);
  const worker = await start(writeTonePiper(folder));
  await expect(worker.ready).rejects.toThrow(/could not be loaded|ended/);
}, 30_000);
