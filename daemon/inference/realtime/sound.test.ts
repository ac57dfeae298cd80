import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import type { AudioFormat } from '../../contract/realtime.ts';
import { fromPcm16 } from '../../lib/media/pcm.ts';
import { ALAW, fromG711, toG711, ULAW } from './g711.ts';
import { addSound, bytesOf, dropSound, emptySound, endMs, keepLast, soundMs } from './sound-buffer.ts';
import { formatRow } from './sound-format.ts';
import { quiet, tone } from './testing/sounds.ts';
import { FRAME_MS, levelOf, loudness, nextFrame, SILENT } from './vad.ts';
import { inFormat, pcmOf } from './voice-sound.ts';
import { asWav, wavForm } from './wav-body.ts';

const PCM: AudioFormat = { type: 'audio/pcm', rate: 24_000 };
const ULAW_FORMAT: AudioFormat = { type: 'audio/pcmu' };

describe('G.711', () => {
  test.each([
    [ULAW, 0, 0xff],
    [ULAW, 32_767, 0x80],
    [ULAW, -32_768, 0x00],
    [ULAW, 1_000, 0xce],
    [ULAW, -1_000, 0x4e],
    [ALAW, 0, 0xd5],
    [ALAW, 32_767, 0xaa],
    [ALAW, -32_768, 0x2a],
    [ALAW, 1_000, 0xfa],
    [ALAW, -1_000, 0x7a],
  ])('%# encodes %i as in the standard', (law, sample, byte) => {
    expect(law.byteOf(sample)).toBe(byte);
  });

  test.each([
    ['µ', ULAW],
    ['A', ALAW],
  ] as const)('%s-law: every byte round-trips', (_, law) => {
    const all = Buffer.from(Array.from({ length: 256 }, (__, byte) => byte));
    const back = toG711(law, fromG711(law, all));
    const zeros = law === ULAW ? [0x7f] : [];
    for (const [byte, encoded] of back.entries()) if (!zeros.includes(byte)) expect(encoded).toBe(byte);
  });

  test('a sample round-trips within the step of its level', () => {
    fc.assert(
      fc.property(fc.integer({ min: -32_768, max: 32_767 }), (sample) => {
        for (const law of [ULAW, ALAW]) {
          const back = law.samples[law.byteOf(sample)] as number;
          expect(Math.abs(back - Math.max(-32_635, Math.min(32_635, sample)))).toBeLessThanOrEqual(
            Math.max(16, Math.abs(sample) / 16),
          );
        }
      }),
    );
  });
});

describe('the buffer', () => {
  test('stores any chunks and drops from the front', () => {
    const pieces = fc.array(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes.subarray(0, bytes.length & ~1))),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, fc.nat(2_000), fc.nat(2_000), (parts, from, drop) => {
        const all = Buffer.concat(parts);
        const sound = parts.reduce(addSound, emptySound(PCM, 7));
        expect(bytesOf(sound, from)).toEqual(all.subarray(from));
        const even = Math.min(drop & ~1, all.length);
        const rest = dropSound(sound, even);
        expect([bytesOf(rest), rest.bytes]).toEqual([all.subarray(even), all.length - even]);
        expect(endMs(rest)).toBeCloseTo(7 + all.length / 48, 6);
      }),
    );
  });

  test('keeps the last milliseconds', () => {
    const sound = keepLast(addSound(emptySound(PCM), tone(500)), 120);
    expect([soundMs(sound), sound.startMs]).toEqual([120, 380]);
  });
});

describe('the VAD', () => {
  const run = (levels: readonly number[], settings = { threshold: 0.5, silenceMs: 100 }) => {
    let state = SILENT;
    return levels.map((level) => {
      const [next, sign] = nextFrame(state, level, settings);
      state = next;
      return sign;
    });
  };
  const LOUD = 0.2;

  test('two loud frames start speech, the configured silence ends it', () => {
    expect(run([0, LOUD, LOUD, LOUD, 0, 0, 0, 0, 0, 0])).toEqual([
      null,
      null,
      'started',
      null,
      null,
      null,
      null,
      null,
      'stopped',
      null,
    ]);
  });

  test('a click is not speech, and a short pause is not its end', () => {
    expect(run([LOUD, 0, LOUD, 0]).every((sign) => sign === null)).toBe(true);
    expect(run([LOUD, LOUD, 0, 0, LOUD, 0, 0, 0, 0]).filter((sign) => sign === 'stopped')).toEqual([]);
  });

  test('a higher threshold needs louder speech', () => {
    const quietVoice = levelOf(0.4);
    expect(run([quietVoice, quietVoice])).not.toContain('started');
    expect(run([quietVoice, quietVoice], { threshold: 0.3, silenceMs: 100 })).toContain('started');
  });

  test('steady noise above the threshold stops counting as speech after a while', () => {
    const noiseLevel = levelOf(0.5) * 1.5;
    const signs = run(Array.from({ length: 3_000 }, () => noiseLevel));
    expect(signs.filter(Boolean)).toEqual(['started', 'stopped']);
    expect(run([...Array.from({ length: 3_000 }, () => noiseLevel), LOUD, LOUD]).at(-1)).toBe('started');
  });

  test('loudness is the root of the mean square', () => {
    expect(loudness(fromPcm16(tone(FRAME_MS * 5, 0.5)))).toBeCloseTo(0.5 / Math.SQRT2, 2);
    expect(loudness(fromPcm16(quiet(FRAME_MS)))).toBe(0);
    expect(loudness(new Float32Array(0))).toBe(0);
  });
});

/** Returns the share of a sound at one frequency, 0 to 1. */
function share(samples: Float32Array, hertz: number, rate: number): number {
  let re = 0;
  let im = 0;
  for (const [at, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hertz * at) / rate);
    im += sample * Math.sin((2 * Math.PI * hertz * at) / rate);
  }
  return (2 * Math.hypot(re, im)) / samples.length;
}

async function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const collect = async (source: AsyncIterable<Buffer>) => {
  const all: Buffer[] = [];
  for await (const part of source) all.push(part);
  return all;
};

describe('audio conversion', () => {
  test.each([
    [PCM, tone(1000, 0.4, 1_000)],
    [ULAW_FORMAT, toG711(ULAW, fromPcm16(tone(1000, 0.4, 1_000, 8_000)))],
  ])('in: %j becomes a WAV at 16,000 with the same tone', (format, sound) => {
    const wav = asWav(format, sound);
    expect([
      wav.toString('latin1', 0, 4),
      wav.readUInt32LE(24),
      wav.readUInt32LE(40),
      wav.readUInt16LE(22),
    ]).toEqual(['RIFF', 16_000, wav.length - 44, 1]);
    const samples = fromPcm16(wav.subarray(44));
    expect(samples.length).toBe(16_000);
    expect(share(samples, 1_000, 16_000)).toBeCloseTo(0.4, 1);
  });

  test.each(['audio/pcm', 'audio/pcmu', 'audio/pcma'] as const)(
    'out: %s keeps the tone for any chunks',
    async (type) => {
      const format = (type === 'audio/pcm' ? PCM : { type }) as AudioFormat;
      for (const size of [1, 333, 100_000]) {
        const body = pieces(tone(450, 0.4, 1_000), size);
        const parts = await collect(
          inFormat(pcmOf({ headers: { 'content-type': 'audio/pcm' }, body }), format),
        );
        const { rate, decode, bytesPerSample } = formatRow(format);
        expect(parts.map(({ length }) => Math.round((length / bytesPerSample / rate) * 1000))).toEqual([
          200, 200, 50,
        ]);
        expect(share(decode(Buffer.concat(parts)), 1_000, rate)).toBeCloseTo(0.4, 1);
      }
    },
  );

  test('refuses anything but raw PCM', () => {
    const answer = {
      status: 200,
      headers: { 'content-type': 'audio/mpeg' },
      body: pieces(Buffer.alloc(2), 1),
    };
    expect(() => pcmOf(answer)).toThrow(GatewayError);
  });

  test('the form contains the fields and the file', () => {
    const { type, body } = wavForm({ model: 'stt', language: 'de' }, Buffer.from('RIFF'));
    const boundary = type.split('boundary=')[1] as string;
    expect(
      body
        .toString('latin1')
        .split(`--${boundary}`)
        .map((part) => part.trim().split('\r\n').at(-1)),
    ).toEqual(['', 'stt', 'de', 'RIFF', '--']);
  });
});
