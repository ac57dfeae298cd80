/** The audio formats that OpenAI defines for speech. */
export const SOUND_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SoundFormat = (typeof SOUND_FORMATS)[number];

export const isSoundFormat = (text: string): text is SoundFormat =>
  (SOUND_FORMATS as readonly string[]).includes(text);

/** Media type of each format. */
export const SOUND_TYPES: Readonly<Record<SoundFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

export interface Encoding {
  /** The name in `ffmpeg -encoders`. */
  readonly encoder: string;
  /** Arguments after the input. */
  readonly args: readonly string[];
}

/** How ffmpeg encodes what our engines do not produce; other formats need no encoder. */
export const ENCODINGS: Readonly<Partial<Record<SoundFormat, Encoding>>> = {
  mp3: { encoder: 'libmp3lame', args: ['-c:a', 'libmp3lame', '-b:a', '96k', '-f', 'mp3'] },
  opus: {
    encoder: 'libopus',
    args: ['-c:a', 'libopus', '-b:a', '48k', '-page_duration', '20000', '-f', 'ogg'],
  },
  aac: { encoder: 'aac', args: ['-c:a', 'aac', '-b:a', '96k', '-f', 'adts'] },
  flac: { encoder: 'flac', args: ['-c:a', 'flac', '-f', 'flac'] },
};

/** Input of an encoder: raw PCM samples, as the speech workers produce them. */
const INPUT = ['-f', 's16le', '-ar', '24000', '-ac', '1', '-i', 'pipe:0'];

/** Returns the ffmpeg arguments to encode raw samples from stdin to stdout with low latency. */
export const encoderArgs = ({ args }: Encoding): string[] => [
  ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-protocol_whitelist', 'pipe'],
  ...['-probesize', '32', '-analyzeduration', '0', ...INPUT],
  ...['-flush_packets', '1', ...args, 'pipe:1'],
];

/** Returns the formats that an ffmpeg with this list of encoders supports. Pure. */
export function encodableFormats(table: string): Set<SoundFormat> {
  const known = new Set(
    table.split('\n').flatMap((line) => /^\s*A[\w.]{5}\s+(\S+)/.exec(line)?.slice(1, 2) ?? []),
  );
  return new Set(SOUND_FORMATS.filter((format) => known.has(ENCODINGS[format]?.encoder ?? '')));
}
