import { alignToSamples, fromPcm16 } from '../../../lib/media/pcm.ts';
import { streamCommand } from '../../../lib/process/stream-command.ts';
import { Refusal } from '../refusal.ts';
import type { Upload } from './upload.ts';
import { readWavFormat, type Sound, wavSound } from './wav.ts';

/** Rate of raw samples when their type does not state it: OpenAI's default. */
const DEFAULT_PCM_RATE = 24_000;
/** Sample rate of recognisers. */
const RECOGNISER_RATE = 16_000;
const FORMATS = 'Supported formats: wav, mp3, flac, ogg, m4a, webm.';
const EMPTY = `The file is empty. ${FORMATS}`;
const WANTED = `The audio format is not supported. ${FORMATS}`;
const NO_DECODER =
  'Only wav can be read: the program that decodes mp3, flac, ogg, m4a and webm is not installed on the gateway.';

/**
 * Formats that the decoder may open: a single file in one of these. Everything else that it supports
 * (playlists, networks, referenced files) stays disabled for untrusted uploads.
 */
const DECODE = [
  ['-nostdin', '-hide_banner', '-loglevel', 'error'],
  ['-protocol_whitelist', 'file'],
  ['-format_whitelist', 'wav,w64,mp3,flac,ogg,mov,matroska,aac,aiff,caf,amr'],
  ['-i', '/proc/self/fd/0'],
  ['-map', '0:a:0', '-vn', '-sn', '-dn'],
  ['-f', 's16le', '-ac', '1', '-ar', String(RECOGNISER_RATE), 'pipe:1'],
].flat();

const unsupported = (message: string) => new Refusal('audio.unsupported_format', message, { status: 415 });

/** Returns the rate of raw 16-bit samples by their type or file name. Null for other formats. */
export function pcmRate(type: string, filename: string): number | null {
  if (!/^audio\/(pcm|l16|x-raw)\b/i.test(type) && !/\.(pcm|raw)$/i.test(filename)) return null;
  const rate = Number(/;\s*rate=(\d{4,6})\b/i.exec(type)?.[1] ?? DEFAULT_PCM_RATE);
  return rate >= 1_000 && rate <= 384_000 ? rate : DEFAULT_PCM_RATE;
}

async function* bareSound({ sound }: Upload, rate: number): AsyncGenerator<Sound> {
  for await (const bytes of alignToSamples(sound.stream())) yield { rate, samples: fromPcm16(bytes) };
}

async function* decodedSound({ sound }: Upload, signal: AbortSignal, program: string): AsyncGenerator<Sound> {
  const run = streamCommand(program, DECODE, { input: sound.descriptor, signal });
  try {
    for await (const bytes of alignToSamples(run.output))
      yield { rate: RECOGNISER_RATE, samples: fromPcm16(bytes) };
    signal.throwIfAborted();
    const { code, missing } = await run.ended;
    if (missing) throw unsupported(NO_DECODER);
    if (code !== 0) throw unsupported(WANTED);
  } finally {
    run.kill();
  }
}

/**
 * Yields the audio of an upload in chunks: WAV and raw samples are parsed here, everything else is decoded by
 * the external decoder. Throws 415 for unsupported data.
 */
export async function* soundOf(
  upload: Upload,
  signal: AbortSignal,
  program = 'ffmpeg',
): AsyncGenerator<Sound> {
  if (upload.sound.length === 0) throw unsupported(EMPTY);
  const wav = await readWavFormat(upload.sound);
  const bare = wav === null ? pcmRate(upload.type, upload.filename) : null;
  if (wav !== null) yield* wavSound(upload.sound, wav);
  else if (bare !== null) yield* bareSound(upload, bare);
  else yield* decodedSound(upload, signal, program);
}
