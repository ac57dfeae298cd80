import { expect, test } from 'vitest';
import type { GatewayError } from '../../contract/errors.ts';
import type { HubFile } from '../hub/hub.ts';
import { chooseFiles } from './choose-files.ts';

const of = (...paths: string[]): HubFile[] =>
  paths.map((path) => ({ path, size: 10, sha256: 'a'.repeat(64), blob: null }));
const chosen = (files: HubFile[], selector: string | null, projector = false) =>
  chooseFiles('owner/name', files, selector, projector).files.map(({ path }) => path);

const COMMON = of(
  'README.md',
  'm-Q2_K.gguf',
  'm-Q4_K_M.gguf',
  'm-Q8_0.gguf',
  'm-imatrix.gguf',
  'mmproj-F32.gguf',
  'mmproj-F16.gguf',
);
const SPLIT = of(
  'Q8_0/m-Q8_0-00001-of-00002.gguf',
  'Q8_0/m-Q8_0-00002-of-00002.gguf',
  'm-UD-Q4_K_M.gguf',
  'm-Q4_K_M.gguf',
);

const JOE = ['en/en_US/joe/medium/en_US-joe-medium.onnx', 'en/en_US/joe/medium/en_US-joe-medium.onnx.json'];
const PIPER = of(
  'README.md',
  ...JOE,
  'en/en_US/joe/medium/MODEL_CARD',
  'de/x/de_DE-x-low.onnx',
  'de/x/de_DE-x-low.onnx.json',
);

test('a repository with several voices names them', () => {
  expect(() => chosen(PIPER, null)).toThrow('Say which voice of the repository');
  expect(() => chosen(PIPER, 'Q4_K_M')).toThrow();
});

test.each<[string, HubFile[], string | null, string[]]>([
  ['selects a common quantisation by default', COMMON, null, ['m-Q4_K_M.gguf']],
  ['a quantisation, in any case', COMMON, 'q8_0', ['m-Q8_0.gguf']],
  ['a file', COMMON, 'm-Q2_K.gguf', ['m-Q2_K.gguf']],
  [
    'all parts of a split model',
    SPLIT,
    'Q8_0',
    ['Q8_0/m-Q8_0-00001-of-00002.gguf', 'Q8_0/m-Q8_0-00002-of-00002.gguf'],
  ],
  [
    'a part selects its model',
    SPLIT,
    'Q8_0/m-Q8_0-00002-of-00002.gguf',
    ['Q8_0/m-Q8_0-00001-of-00002.gguf', 'Q8_0/m-Q8_0-00002-of-00002.gguf'],
  ],
  ['the shorter name of two', SPLIT, 'Q4_K_M', ['m-Q4_K_M.gguf']],
  ['the only one in any quantisation', of('m-TQ1_0.gguf'), null, ['m-TQ1_0.gguf']],
  ['does not match part of a word', of('m-Q4_K_M.gguf', 'm-IQ4_XS.gguf'), 'Q4_K_M', ['m-Q4_K_M.gguf']],
  ['a voice of Piper by its name', PIPER, 'en_US-joe-medium', JOE],
  ['a voice of Piper by its file', PIPER, 'en_US-joe-medium.onnx', JOE],
  ['a voice of Piper by its path', PIPER, JOE[0] as string, JOE],
  [
    'the only voice of Piper',
    of('README.md', 'a.onnx', 'a.onnx.json', 'sample.mp3'),
    null,
    ['a.onnx', 'a.onnx.json'],
  ],
  [
    'an eight-bit speech model with its rules',
    of(
      'model.onnx',
      'model.int8.onnx',
      'tokens.txt',
      'espeak-ng-data/en_dict',
      'test_wavs/0.wav',
      'README.md',
      'lexicon.txt',
      'export.py',
    ),
    null,
    ['model.int8.onnx', 'tokens.txt', 'espeak-ng-data/en_dict', 'lexicon.txt'],
  ],
  [
    'safetensors with their other files, without pickles and programs',
    of(
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'tokenizer.json',
      'pytorch_model.bin',
      'modeling.py',
      'consolidated.safetensors',
      '1_Pooling/config.json',
    ),
    null,
    [
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'tokenizer.json',
      '1_Pooling/config.json',
    ],
  ],
])('%s', (_, files, selector, expected) => expect(chosen(files, selector)).toEqual(expected));

test('selects a half-precision projector on request', () => {
  expect(chosen(COMMON, null, true)).toEqual(['m-Q4_K_M.gguf', 'mmproj-F16.gguf']);
  expect(chosen(of('m-Q4_K_M.gguf'), null, true)).toEqual(['m-Q4_K_M.gguf']);
});

test.each<[string, HubFile[], string | null, string]>([
  ['a missing quantisation', COMMON, 'Q3_K_S', 'pull.not_found'],
  ['a file that is not a model', COMMON, 'README.md', 'pull.not_found'],
  ['several without a common quantisation', of('a-TQ1_0.gguf', 'b-TQ2_0.gguf'), null, 'pull.bad_name'],
  ['a split model without one of its parts', of('m-00001-of-00002.gguf'), null, 'pull.bad_name'],
  ['no model at all', of('README.md', 'pytorch_model.bin', 'config.json'), null, 'pull.bad_name'],
  ['a name that leaves the folder', of('../m-Q4_K_M.gguf'), null, 'pull.bad_name'],
  [
    'an invalid size',
    [{ path: 'm.gguf', size: Number.NaN, sha256: null, blob: null }],
    null,
    'pull.bad_name',
  ],
  ['a negative size', [{ path: 'm.gguf', size: -1, sha256: null, blob: null }], null, 'pull.bad_name'],
])('refuses %s', (_, files, selector, code) => {
  expect(() => chooseFiles('owner/name', files, selector)).toThrow(
    expect.objectContaining({ code }) as unknown as GatewayError,
  );
});
