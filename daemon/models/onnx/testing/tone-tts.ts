import { TONE_ALPHABET, TONE_CELL, TONE_RATE, TONE_SOUND, toneHertz } from './tones.ts';
import { type OnnxModel, whole } from './writer.ts';

/** Length of a cell in the table, enough for speed 0.25. */
const TABLE_CELL = TONE_CELL * 4;

/** Returns one row of audio per token. Token 0 is silence. */
function soundTable(speakers: number): Float32Array {
  const tokens = TONE_ALPHABET.length + 1;
  const table = new Float32Array(tokens * TABLE_CELL);
  for (let token = 1; token < tokens; token++) {
    for (let n = 0; n < TONE_SOUND; n++) {
      const swell = Math.sin((Math.PI * n) / TONE_SOUND) ** 0.5;
      const wave = Math.sin((2 * Math.PI * toneHertz(token - 1) * n) / TONE_RATE);
      table[token * TABLE_CELL + n] = (0.5 / speakers) * swell * wave;
    }
  }
  return table;
}

/**
 * Builds a voice of the VITS family in which every character is one pure tone. {@link toneStt} transcribes
 * its output exactly. Several speakers differ in loudness: speaker N is N+1 times as loud as speaker 0.
 */
export function toneTts({ speakers = 1 }: { speakers?: number } = {}): OnnxModel {
  const many = speakers > 1;
  const voices = Float32Array.from({ length: speakers }, (_, speaker) => speaker + 1);
  return {
    nodes: [
      { op: 'Slice', inputs: ['scales', 'one', 'two', 'zero'], outputs: ['length_scale'] },
      { op: 'Mul', inputs: ['length_scale', 'cell'], outputs: ['length_float'] },
      { op: 'Cast', inputs: ['length_float'], outputs: ['length'], attributes: { to: 7 } },
      { op: 'Slice', inputs: ['table', 'zero', 'length', 'one'], outputs: ['cells'] },
      { op: 'Gather', inputs: ['cells', 'input'], outputs: ['picked'], attributes: { axis: 0 } },
      { op: 'Reshape', inputs: ['picked', 'flat'], outputs: [many ? 'plain' : 'output'] },
      ...(many
        ? [
            {
              op: 'Gather',
              inputs: ['voices', 'sid'],
              outputs: ['loudness'],
              attributes: { axis: 0 },
            },
            { op: 'Mul', inputs: ['plain', 'loudness'], outputs: ['output'] },
          ]
        : []),
    ],
    constants: [
      { name: 'table', shape: [TONE_ALPHABET.length + 1, TABLE_CELL], data: soundTable(speakers) },
      { name: 'cell', shape: [1], data: Float32Array.of(TONE_CELL) },
      { name: 'zero', shape: [1], data: whole(0) },
      { name: 'one', shape: [1], data: whole(1) },
      { name: 'two', shape: [1], data: whole(2) },
      { name: 'flat', shape: [3], data: whole(1, 1, -1) },
      ...(many ? [{ name: 'voices', shape: [speakers], data: voices }] : []),
    ],
    inputs: [
      { name: 'input', type: 'i64', shape: [1, 'L'] },
      { name: 'input_lengths', type: 'i64', shape: [1] },
      { name: 'scales', type: 'f32', shape: [3] },
      ...(many ? [{ name: 'sid', type: 'i64' as const, shape: [1] }] : []),
    ],
    outputs: [{ name: 'output', type: 'f32', shape: [1, 1, 'N'] }],
    metadata: {
      model_type: 'vits',
      sample_rate: String(TONE_RATE),
      add_blank: '0',
      n_speakers: String(speakers),
      language: 'English',
      frontend: 'characters',
      comment: 'coqui',
      use_eos_bos: '1',
      bos_id: '0',
      eos_id: '0',
      pad_id: '0',
      blank_id: '0',
    },
  };
}

/** The token file of {@link toneTts}. */
export const toneTtsTokens = (): string =>
  ['<PAD> 0', ...[...TONE_ALPHABET].map((letter, index) => `${letter} ${index + 1}`), ''].join('\n');
