import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toPcm16, wavHeader } from '../../../daemon/lib/media/pcm.ts';
import { sherpa } from '../../../daemon/slots/workers/speech/sherpa.ts';
import { cachedFolder, shortHash } from './cache.ts';
import {
  espeakData,
  onnxMetadataBytes,
  PIPER_MODEL,
  PIPER_WHEEL,
  piperAsPublished,
  rulesWheel,
} from './voices.ts';
import { wheelEntryName } from './wheel-files.ts';

/** Part of the cache name. Change it together with the conversion. */
const CONVERSION = '2';

interface PiperConfig {
  readonly audio: { readonly sample_rate: number };
  readonly espeak: { readonly voice: string };
  readonly language: { readonly name_english: string };
  readonly num_speakers: number;
  readonly inference: object;
  readonly phoneme_id_map: Readonly<Record<string, readonly number[]>>;
}

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
  return onnxMetadataBytes(values);
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
  const name = `piper-joe-${shortHash(CONVERSION, ...[PIPER_WHEEL, rulesWheel()].map(wheelEntryName))}`;
  return cachedFolder(name, async (scratch) => {
    const [voice, pronunciation] = await Promise.all([piperAsPublished(), espeakData()]);
    const source = join(voice, PIPER_MODEL);
    const config = JSON.parse(readFileSync(`${source}.json`, 'utf8')) as PiperConfig;
    // The gateway speaks as the settings say: without noise, the same each time.
    const settings = { ...config, inference: { ...config.inference, noise_scale: 0, noise_w: 0 } };
    writeFileSync(join(scratch, `${PIPER_MODEL}.json`), JSON.stringify(settings));
    copyFileSync(source, join(scratch, PIPER_MODEL));
    writeFileSync(join(scratch, PIPER_MODEL), metadataOf(config), { flag: 'a' });
    writeFileSync(join(scratch, 'tokens.txt'), tokensOf(config));
    cpSync(pronunciation, join(scratch, 'espeak-ng-data'), { recursive: true });
  });
}

/** Almost no noise, so that the speech is reproducible. sherpa-onnx interprets 0 as its default. */
const NOISE = 1e-6;

/** Synthesises each text with the voice in `folder`. Returns WAV files. */
export async function speak(folder: string, texts: readonly string[]): Promise<Buffer<ArrayBuffer>[]> {
  const files = {
    model: join(folder, PIPER_MODEL),
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
