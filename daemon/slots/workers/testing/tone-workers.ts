import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_PATH } from '../../../lib/process/run-command.ts';
import { writeToneRecogniser, writeToneVoice } from '../../../models/onnx/testing/tone-folders.ts';
import { type ForkedWorker, forkSpeechWorker } from './forked-worker.ts';

export const SPEECH = '/v1/audio/speech';
export const TRANSCRIPTIONS = '/v1/audio/transcriptions';
/** What the tone voice speaks and the tone recogniser transcribes exactly. */
export const TEXT = 'good morning, llama 42.';

/** A real voice and a real recogniser in worker processes, and the requests of a test to them. */
export interface ToneWorkers {
  readonly home: string;
  readonly voice: ForkedWorker;
  readonly recogniser: ForkedWorker;
  /** Starts another worker, which ends with the others. */
  fork: typeof forkSpeechWorker;
  speak(input: string, more?: object): Promise<Buffer>;
  transcribe(sound: Buffer, fields?: Record<string, string>, file?: [string, string]): Promise<Transcription>;
  stop(): Promise<void>;
}

export interface Transcription {
  status: number;
  type: string | null;
  text: string;
}

/** Builds a form as clients send it. */
export function formOf(
  sound: Buffer,
  fields: Record<string, string> = {},
  file: [string, string] = ['a.wav', 'audio/wav'],
): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new Blob([new Uint8Array(sound)], { type: file[1] }), file[0]);
  return body;
}

export async function startToneWorkers(): Promise<ToneWorkers> {
  const home = mkdtempSync(join(tmpdir(), 'svc-speech-worker-'));
  const workers: ForkedWorker[] = [];
  const fork: typeof forkSpeechWorker = async (...args) => {
    const worker = await forkSpeechWorker(...args);
    workers.push(worker);
    return worker;
  };
  const voice = await fork(writeToneVoice(join(home, 'voice'), { speakers: 2 }), 'speech', home);
  const recogniser = await fork(writeToneRecogniser(join(home, 'ear')), 'transcription', home);
  await Promise.all([voice.ready, recogniser.ready]);
  return {
    home,
    voice,
    recogniser,
    fork,
    async speak(input, more = {}) {
      const answer = await voice.post(SPEECH, { model: 'x', input, ...more });
      if (answer.status !== 200) throw new Error(await answer.text());
      return Buffer.from(await answer.arrayBuffer());
    },
    async transcribe(sound, fields, file) {
      const answer = await recogniser.post(TRANSCRIPTIONS, formOf(sound, fields, file));
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Returns the decoder on this machine. Null when there is none. */
export const findFfmpeg = (): string | null =>
  DEFAULT_PATH.split(':')
    .map((folder) => join(folder, 'ffmpeg'))
    .find((path) => existsSync(path)) ?? null;
