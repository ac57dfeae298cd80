import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toneTts } from './tone-tts.ts';
import { TONE_ALPHABET } from './tones.ts';
import { encodeOnnx } from './writer.ts';

/** Phonemes of espeak-ng for English. */
const PHONEMES = [..."_^$ abcdefhijklmnopqrstuvwxyzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒˈˌːθᵻ.,!?;:'"];

/** Returns the settings of a voice as Piper publishes them. */
export const piperSettings = (more: object = {}): object => ({
  audio: { sample_rate: 16_000, quality: 'medium' },
  espeak: { voice: 'en-us' },
  language: { code: 'en_US', name_english: 'English' },
  phoneme_type: 'espeak',
  num_speakers: 1,
  speaker_id_map: {},
  phoneme_id_map: Object.fromEntries(
    PHONEMES.map((phoneme, at) => [phoneme, [at % (TONE_ALPHABET.length + 1)]]),
  ),
  ...more,
});

/** Writes a voice as Piper publishes it, in which every phoneme is a tone. Returns the path of the voice. */
export function writeTonePiper(
  folder: string,
  name = 'en_US-tone-medium',
  settings = piperSettings(),
): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.onnx`);
  const speakers = (settings as { num_speakers?: number }).num_speakers ?? 1;
  writeFileSync(path, encodeOnnx({ ...toneTts({ speakers }), metadata: {} }));
  writeFileSync(`${path}.json`, JSON.stringify(settings));
  return path;
}

/** Writes a folder that looks like the rules of espeak-ng, without any rule. */
export function writeEspeakData(folder: string): string {
  const data = join(folder, 'espeak-ng-data');
  mkdirSync(data, { recursive: true });
  for (const name of ['phontab', 'phonindex', 'phondata', 'intonations'])
    writeFileSync(join(data, name), 'x');
  return data;
}
