import { expect, test } from 'vitest';
import type { GatewayError } from '../../contract/errors.ts';
import type { HubFile } from '../hub/hub.ts';
import { chooseFiles } from './choose-files.ts';

const of = (...paths: string[]): HubFile[] =>
  paths.map((path) => ({ path, size: 10, sha256: 'a'.repeat(64), blob: null }));
const chosen = (files: HubFile[], asked: string | null, projector = false) =>
  chooseFiles('owner/name', files, asked, projector).files.map(({ path }) => path);

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

test.each<[string, HubFile[], string | null, string[]]>([
  ['nothing named takes the usual one', COMMON, null, ['m-Q4_K_M.gguf']],
  ['a quantisation, in any case', COMMON, 'q8_0', ['m-Q8_0.gguf']],
  ['a file', COMMON, 'm-Q2_K.gguf', ['m-Q2_K.gguf']],
  [
    'all parts of a split model',
    SPLIT,
    'Q8_0',
    ['Q8_0/m-Q8_0-00001-of-00002.gguf', 'Q8_0/m-Q8_0-00002-of-00002.gguf'],
  ],
  [
    'a part stands for its model',
    SPLIT,
    'Q8_0/m-Q8_0-00002-of-00002.gguf',
    ['Q8_0/m-Q8_0-00001-of-00002.gguf', 'Q8_0/m-Q8_0-00002-of-00002.gguf'],
  ],
  ['the plain one of two', SPLIT, 'Q4_K_M', ['m-Q4_K_M.gguf']],
  ['the only one, whatever it is', of('m-TQ1_0.gguf'), null, ['m-TQ1_0.gguf']],
  ['no part of a word', of('m-Q4_K_M.gguf', 'm-IQ4_XS.gguf'), 'Q4_K_M', ['m-Q4_K_M.gguf']],
  [
    'a speech model with its rules, in eight bits',
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
    'safetensors with what belongs to them, and neither pickles nor programs',
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
])('%s', (_, files, asked, expected) => expect(chosen(files, asked)).toEqual(expected));

test('a projector in half precision when it is asked for', () => {
  expect(chosen(COMMON, null, true)).toEqual(['m-Q4_K_M.gguf', 'mmproj-F16.gguf']);
  expect(chosen(of('m-Q4_K_M.gguf'), null, true)).toEqual(['m-Q4_K_M.gguf']);
});

test.each<[string, HubFile[], string | null, string]>([
  ['a quantisation that is not there', COMMON, 'Q3_K_S', 'pull.not_found'],
  ['a file that is no model', COMMON, 'README.md', 'pull.not_found'],
  ['several of which none is usual', of('a-TQ1_0.gguf', 'b-TQ2_0.gguf'), null, 'pull.bad_name'],
  ['a split model that lacks a part', of('m-00001-of-00002.gguf'), null, 'pull.bad_name'],
  ['no model at all', of('README.md', 'pytorch_model.bin', 'config.json'), null, 'pull.bad_name'],
  ['a name that leads elsewhere', of('../m-Q4_K_M.gguf'), null, 'pull.bad_name'],
  [
    'a size that is none',
    [{ path: 'm.gguf', size: Number.NaN, sha256: null, blob: null }],
    null,
    'pull.bad_name',
  ],
  ['a negative size', [{ path: 'm.gguf', size: -1, sha256: null, blob: null }], null, 'pull.bad_name'],
])('%s is refused', (_, files, asked, code) => {
  expect(() => chooseFiles('owner/name', files, asked)).toThrow(
    expect.objectContaining({ code }) as unknown as GatewayError,
  );
});
