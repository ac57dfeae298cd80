import { type ImageFormat, imageFormat } from '../../lib/media/image-format.ts';
import { streamCommand } from '../../lib/process/stream-command.ts';
import { MAX_IMAGE_BYTES } from './limits.ts';

const LIMIT_MS = 30_000;
/** OpenAI's default. */
const DEFAULT_QUALITY = 100;

export interface ConvertOptions {
  readonly format: Exclude<ImageFormat, 'png'>;
  /** Quality from 0 to 100; null for the default. */
  readonly quality: number | null;
  readonly signal: AbortSignal;
  /** Default: `ffmpeg`. */
  readonly program?: string;
}

/** The scale of ffmpeg's JPEG encoder is 2 (best) to 31. */
const jpegScale = (quality: number): string => String(Math.round(31 - (quality / 100) * 29));

/** Returns the arguments for one format. Pure. */
export function convertArgs({ format, quality }: Pick<ConvertOptions, 'format' | 'quality'>): string[] {
  const level = quality ?? DEFAULT_QUALITY;
  const input = ['-hide_banner', '-loglevel', 'error', '-nostdin', '-f', 'png_pipe', '-i', 'pipe:0'];
  const output =
    format === 'jpeg'
      ? ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj444p', '-q:v', jpegScale(level), '-f', 'mjpeg']
      : ['-c:v', 'libwebp', '-quality', String(level), '-f', 'webp'];
  return [...input, '-frames:v', '1', '-map_metadata', '-1', '-threads', '1', ...output, 'pipe:1'];
}

/**
 * Converts a PNG with ffmpeg, the encoder program of this machine. Returns null without one, and when it fails. Rejects
 * with the reason of the signal.
 */
export async function convertPng(png: Buffer, options: ConvertOptions): Promise<Buffer | null> {
  const { format, signal, program = 'ffmpeg' } = options;
  const command = streamCommand(program, convertArgs(options), {
    input: 'pipe',
    signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
  });
  command.input?.end(png);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of command.output) {
      bytes += (part as Buffer).length;
      if (bytes > MAX_IMAGE_BYTES) break;
      parts.push(part as Buffer);
    }
  } catch {
    signal.throwIfAborted();
  }
  if (bytes > MAX_IMAGE_BYTES) command.kill();
  const { code } = await command.ended;
  signal.throwIfAborted();
  const image = Buffer.concat(parts);
  return code === 0 && imageFormat(image) === format ? image : null;
}
