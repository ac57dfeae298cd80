import { expect, test } from 'vitest';
import { ENCODINGS, encodableFormats, encoderArgs, SOUND_FORMATS, SOUND_TYPES } from './formats.ts';

/** Output lines of ffmpeg 5.1. */
const TABLE = `Encoders:
 V..... = Video
 A..... = Audio
 ------
 V....D libx264              libx264 H.264 / AVC (codec h264)
 A..... aac                  AAC (Advanced Audio Coding)
 A....D flac                 FLAC (Free Lossless Audio Codec)
 A....D libmp3lame           libmp3lame MP3 (MPEG audio layer 3) (codec mp3)
 A..X.. opus                 Opus
`;

test('a format is available when its encoder is', () => {
  expect([...encodableFormats(TABLE)]).toEqual(['mp3', 'aac', 'flac']);
  expect([...encodableFormats(`${TABLE} A..... libopus              libopus Opus (codec opus)\n`)]).toContain(
    'opus',
  );
  expect([...encodableFormats('')]).toEqual([]);
});

test('every format has a type, and an encoder unless it is raw PCM', () => {
  for (const format of SOUND_FORMATS) expect(SOUND_TYPES[format]).toMatch(/^audio\//);
  expect(SOUND_FORMATS.filter((format) => ENCODINGS[format] === undefined)).toEqual(['wav', 'pcm']);
});

test('an encoder reads and writes pipes only', () => {
  for (const encoding of Object.values(ENCODINGS)) {
    const args = encoderArgs(encoding);
    expect(args.at(-1)).toBe('pipe:1');
    expect(args[args.indexOf('-i') + 1]).toBe('pipe:0');
    expect(args[args.indexOf('-protocol_whitelist') + 1]).toBe('pipe');
  }
});
