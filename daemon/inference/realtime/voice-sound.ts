import { GatewayError } from '../../contract/errors.ts';
import type { AudioFormat } from '../../contract/realtime.ts';
import { alignToSamples, fromPcm16 } from '../../lib/media/pcm.ts';
import { Resampler } from '../../lib/media/resampler.ts';
import type { InternalReply } from '../internal.ts';
import { formatRow } from './sound-format.ts';

/** OpenAI's `pcm`: 16-bit little-endian mono at this rate. */
const PCM_RATE = 24_000;
/** Audio per event: 200 ms, a balance of latency and number of events. */
const EVENT_MS = 200;

export interface PcmSource {
  readonly rate: number;
  readonly bytes: AsyncIterable<Buffer>;
}

/** Returns the samples of a speech reply that was requested as `pcm`. Throws for any other type. */
export function pcmOf({ headers, body }: Pick<InternalReply, 'headers' | 'body'>): PcmSource {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (['audio/pcm', 'audio/l16', 'application/octet-stream', ''].includes(type))
    return { rate: PCM_RATE, bytes: alignToSamples(body) };
  throw new GatewayError('upstream.error', {
    message: `The voice sent ${type.slice(0, 40)} instead of bare samples.`,
  });
}

/** Converts audio to the caller's format, in pieces for events. */
export async function* inFormat(source: PcmSource, format: AudioFormat): AsyncGenerator<Buffer> {
  const row = formatRow(format);
  const piece = Math.round((row.rate * EVENT_MS) / 1000) * row.bytesPerSample;
  const same = source.rate === row.rate && format.type === 'audio/pcm';
  const resampler = new Resampler(source.rate, row.rate);
  let held: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer): void => {
    held.push(bytes);
    length += bytes.length;
  };
  for await (const bytes of source.bytes) {
    add(same ? bytes : row.encode(resampler.push(fromPcm16(bytes))));
    while (length >= piece) {
      const all = Buffer.concat(held);
      yield all.subarray(0, piece);
      held = [all.subarray(piece)];
      length -= piece;
    }
  }
  if (!same) add(row.encode(resampler.flush()));
  if (length > 0) yield Buffer.concat(held);
}
