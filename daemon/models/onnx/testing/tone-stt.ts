import { TONE_ALPHABET, TONE_RATE, toneHertz } from './tones.ts';
import { type OnnxModel, whole } from './writer.ts';

/** Samples per decision, and between two decisions: 20 ms and 10 ms. */
const WINDOW = 320;
const HOP = 160;
/** Score of "no character". A tone must be louder. */
const BLANK = 1;

function hann(): { window: Float32Array; sum: number } {
  const window = Float32Array.from(
    { length: WINDOW },
    (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW),
  );
  return { window, sum: window.reduce((sum, value) => sum + value, 0) };
}

/** Two filters per tone, a quarter wave apart, so that the phase does not matter. */
function filters(): Float32Array {
  const { window, sum } = hann();
  const all = new Float32Array(2 * TONE_ALPHABET.length * WINDOW);
  for (let tone = 0; tone < TONE_ALPHABET.length; tone++) {
    for (let n = 0; n < WINDOW; n++) {
      const angle = (2 * Math.PI * toneHertz(tone) * n) / TONE_RATE;
      const scale = (2 / sum) * (window[n] as number);
      all[2 * tone * WINDOW + n] = scale * Math.cos(angle);
      all[(2 * tone + 1) * WINDOW + n] = scale * Math.sin(angle);
    }
  }
  return all;
}

/** The energy of a tone is the sum of its two squared filters. Token 0 is "no character". */
function energies(): { mix: Float32Array; bias: Float32Array } {
  const tokens = TONE_ALPHABET.length + 1;
  const inputs = 2 * TONE_ALPHABET.length;
  const mix = new Float32Array(tokens * inputs);
  for (let tone = 0; tone < TONE_ALPHABET.length; tone++) {
    mix[(tone + 1) * inputs + 2 * tone] = 1;
    mix[(tone + 1) * inputs + 2 * tone + 1] = 1;
  }
  const bias = new Float32Array(tokens);
  bias[0] = BLANK;
  return { mix, bias };
}

/**
 * Builds a recogniser for raw audio with CTC decoding that transcribes the output of {@link toneTts} exactly.
 * It does not recognise speech: a human voice gives nothing or random letters.
 */
export function toneStt(): OnnxModel {
  const tones = TONE_ALPHABET.length;
  const { mix, bias } = energies();
  return {
    nodes: [
      { op: 'Unsqueeze', inputs: ['x', 'middle'], outputs: ['x3'] },
      {
        op: 'Conv',
        inputs: ['x3', 'filters'],
        outputs: ['waves'],
        attributes: { strides: [HOP], pads: [HOP, HOP] },
      },
      { op: 'Mul', inputs: ['waves', 'waves'], outputs: ['squares'] },
      { op: 'Conv', inputs: ['squares', 'mix', 'bias'], outputs: ['energy'] },
      { op: 'Transpose', inputs: ['energy'], outputs: ['logits'], attributes: { perm: [0, 2, 1] } },
    ],
    constants: [
      { name: 'middle', shape: [1], data: whole(1) },
      { name: 'filters', shape: [2 * tones, 1, WINDOW], data: filters() },
      { name: 'mix', shape: [tones + 1, 2 * tones, 1], data: mix },
      { name: 'bias', shape: [tones + 1], data: bias },
    ],
    inputs: [{ name: 'x', type: 'f32', shape: ['B', 'N'] }],
    outputs: [{ name: 'logits', type: 'f32', shape: ['B', 'T', tones + 1] }],
    metadata: { model_type: 'omnilingual-asr', comment: 'tone bank' },
  };
}

/** The token file of {@link toneStt}. U+2581 represents a space. */
export const toneSttTokens = (): string =>
  [
    '<blk> 0',
    ...[...TONE_ALPHABET].map((letter, index) => `${letter === ' ' ? '\u2581' : letter} ${index + 1}`),
    '',
  ].join('\n');
