import { randomBytes } from 'node:crypto';
import type { AudioFormat } from '../../contract/realtime.ts';
import { toPcm16, wavHeader } from '../../lib/media/pcm.ts';
import { Resampler } from '../../lib/media/resampler.ts';
import { formatRow } from './sound-format.ts';

/** The rate that every transcription engine accepts; some accept no other. */
export const TRANSCRIPTION_RATE = 16_000;

/** Converts a caller's audio to a WAV file at 16,000 samples per second. */
export function asWav(format: AudioFormat, sound: Buffer): Buffer {
  const row = formatRow(format);
  const resampler = new Resampler(row.rate, TRANSCRIPTION_RATE);
  const pcm = [resampler.push(row.decode(sound)), resampler.flush()].map(toPcm16);
  const bytes = pcm.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([wavHeader(TRANSCRIPTION_RATE, bytes), ...pcm]);
}

/** Creates a multipart form with text fields and one WAV file. The boundary occurs in no field. */
export function wavForm(
  fields: Readonly<Record<string, string>>,
  wav: Buffer,
): { type: string; body: Buffer } {
  const boundary = `svc-${randomBytes(18).toString('hex')}`;
  const head = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${head(name)}\r\n${value}\r\n`);
  const file = `${head('file', '; filename="turn.wav"')}content-type: audio/wav\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(texts.join('') + file),
    wav,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}
