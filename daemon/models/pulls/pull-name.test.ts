import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { readCatalog, SHIPPED_CATALOG } from '../catalog.ts';
import { isRepoName } from './hub-names.ts';
import { parseModel, searchWords } from './pull-name.ts';

const { entries } = readCatalog(SHIPPED_CATALOG);
const MIRROR = 'http://nas.lan:8090/hf';

describe('names', () => {
  test.each([
    ['maker/m', 'maker/m', null],
    ['  maker/m  ', 'maker/m', null],
    ['"maker/m"', 'maker/m', null],
    ['maker/m/', 'maker/m', null],
    ['maker/m:Q4_K_M', 'maker/m', 'Q4_K_M'],
    ['maker/m:a/b:c.gguf', 'maker/m', 'a/b:c.gguf'],
    ['maker/m/sub/m-Q8_0.gguf', 'maker/m', 'sub/m-Q8_0.gguf'],
  ])('%j', (name, repo, selector) => expect(parseModel(name)).toEqual({ repo, selector, revision: null }));
});

describe('pasted addresses', () => {
  test.each([
    ['https://huggingface.co/o/n', 'o/n', null, null],
    ['http://huggingface.co/o/n/', 'o/n', null, null],
    ['https://www.huggingface.co/o/n#files', 'o/n', null, null],
    ['huggingface.co/o/n', 'o/n', null, null],
    ['hf.co/o/n:Q4_K_M', 'o/n', 'Q4_K_M', null],
    ['HF.co/o/n', 'o/n', null, null],
    ['https://hf.co/o/n:Q4_K_M', 'o/n', 'Q4_K_M', null],
    ['ollama run hf.co/o/n:Q4_K_M', 'o/n', 'Q4_K_M', null],
    ['ollama pull huggingface.co/o/n', 'o/n', null, null],
    ['llama-server -hf o/n:Q8_0', 'o/n', 'Q8_0', null],
    ['https://huggingface.co/o/n/tree/main', 'o/n', null, 'main'],
    ['https://huggingface.co/o/n/tree/main/UD-Q4_K_XL', 'o/n', 'UD-Q4_K_XL', 'main'],
    ['https://huggingface.co/o/n/blob/main/n-Q4_K_M.gguf', 'o/n', 'n-Q4_K_M.gguf', 'main'],
    ['https://huggingface.co/o/n/resolve/v1.0/a/n.gguf?download=true', 'o/n', 'a/n.gguf', 'v1.0'],
    ['https://huggingface.co/o/n/resolve/refs%2Fpr%2F3/n%20x.gguf', 'o/n', 'n x.gguf', 'refs/pr/3'],
    ['https://huggingface.co/o/n?show_file_info=n-Q8_0.gguf', 'o/n', 'n-Q8_0.gguf', null],
    ['https://huggingface.co/o/n?local-app=llama.cpp', 'o/n', null, null],
    ['https://huggingface.co/o/n/discussions/3', 'o/n', null, null],
    ['https://huggingface.co/api/models/o/n', 'o/n', null, null],
    ['hf://o/n', 'o/n', null, null],
    ['hf://o/n@v2/sub/n.gguf', 'o/n', 'sub/n.gguf', 'v2'],
    ['http://nas.lan:8090/hf/o/n/tree/main', 'o/n', null, 'main'],
    ['nas.lan:8090/hf/o/n', 'o/n', null, null],
  ])('%s', (text, repo, selector, revision) =>
    expect(parseModel(text, { hubUrl: MIRROR })).toEqual({ repo, selector, revision }),
  );
});

describe('tags of Ollama', () => {
  test.each([
    ['qwen3.5:9b', 'unsloth/Qwen3.5-9B-GGUF', 'Qwen3.5-9B-UD-Q4_K_XL.gguf'],
    ['library/gpt-oss:20b', 'ggml-org/gpt-oss-20b-GGUF', 'gpt-oss-20b-mxfp4.gguf'],
    ['ollama run gemma4:e4b', 'unsloth/gemma-4-E4B-it-GGUF', 'gemma-4-E4B-it-Q4_K_M.gguf'],
    ['smollm2:360m-instruct-q8_0', 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF', 'Q8_0'],
    ['embeddinggemma:latest', 'ggml-org/embeddinggemma-300M-GGUF', 'embeddinggemma-300M-Q8_0.gguf'],
    ['https://ollama.com/library/qwen3-coder:30b', 'unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF', null],
    ['qwen3.5:9b-fp16', 'unsloth/Qwen3.5-9B-GGUF', 'F16'],
    ['smollm2', 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF', null],
    ['granite4.1', 'unsloth/granite-4.1-3b-GGUF', null],
    ['gemma4:12b', 'google/gemma-4-12B-it-qat-q4_0-gguf', null],
    ['nomic-embed-text', 'nomic-ai/nomic-embed-text-v1.5-GGUF', null],
    ['qwen3-vl:8b', 'unsloth/Qwen3-VL-8B-Instruct-GGUF', null],
    ['qwen3-embedding', 'Qwen/Qwen3-Embedding-0.6B-GGUF', null],
  ])('%s', (tag, repo, selector) => {
    const found = parseModel(tag, { entries });
    expect(found).toMatchObject({ repo, revision: null, ...(selector === null ? {} : { selector }) });
  });

  test.each([
    ['qwen3.5', 'unsloth/Qwen3.5-2B-GGUF:Qwen3.5-2B-UD-Q4_K_XL.gguf'],
    ['qwen2.5', 'Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q8_0'],
    ['glm', 'unsloth/GLM-4.7-Flash-GGUF:GLM-4.7-Flash-UD-Q4_K_XL.gguf'],
    ['smollm', 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF:smollm2-360m-instruct-q8_0.gguf'],
    ['qwen3.5:2', 'unsloth/Qwen3.5-2B-GGUF:Qwen3.5-2B-UD-Q4_K_XL.gguf'],
    ['qwen3.5:70b', 'unsloth/Qwen3.5-2B-GGUF:Qwen3.5-2B-UD-Q4_K_XL.gguf'],
  ])('%s names the models of its family', (tag, similar) => {
    expect(() => parseModel(tag, { entries })).toThrow(
      expect.objectContaining({
        code: 'pull.bad_name',
        options: expect.objectContaining({
          details: { suggestions: expect.arrayContaining([similar]) as unknown },
        }) as unknown,
      }) as unknown as Error,
    );
  });
});

test.each(['glm4', 'granite4', 'gemma3:1b', 'qwen', 'devstral', 'mistral'])(
  '%s is another model than any of the catalogue',
  (tag) => {
    expect(() => parseModel(tag, { entries })).toThrow(
      expect.objectContaining({ code: 'pull.bad_name' }) as unknown as Error,
    );
  },
);

describe('refusals say what to do', () => {
  test.each([
    ['m', /svcctl models search/],
    ['m:Q4_K_M', /svcctl models search/],
    ['', /names no repository/],
    ['maker/m:', /must follow the colon/],
    ['../m', /Use owner\/name/],
    ['maker/m/n', /Use owner\/name/],
    ['https://huggingface.co/datasets/o/n', /a dataset, not of a model/],
    ['https://huggingface.co/spaces/o/n', /a space, not of a model/],
    ['https://huggingface.co/models', /a list of models/],
    ['https://huggingface.co/o', /names no repository/],
    ['https://huggingface.co/', /names no repository/],
    ['https://huggingface.co/o/n%ff', /not encoded/],
    ['https://huggingface.co/o/..%2f..%2fn', /Use owner\/name/],
    ['https://example.com/o/n.gguf', /svcctl models register/],
    ['https://user:pw@evil.example/o/n', /svcctl models register/],
    ['https://modelscope.cn/models/o/n', /HF_ENDPOINT/],
    ['https://ollama.com/someone/model', /Ollama accounts/],
  ])('%j', (name, reason) => {
    expect(() => parseModel(name)).toThrow(
      expect.objectContaining({
        code: 'pull.bad_name',
        message: expect.stringMatching(reason) as unknown,
      }) as unknown as Error,
    );
  });
});

test('any text gives a valid repository or pull.bad_name', () => {
  const piece = fc.constantFrom(
    'https://',
    'hf.co/',
    'hf://',
    'huggingface.co',
    '/',
    ':',
    '@',
    '..',
    '%2f',
    '%',
    'a',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 4 }))).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (name) => {
      try {
        expect(isRepoName(parseModel(name, { entries }).repo)).toBe(true);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        expect(error.code).toBe('pull.bad_name');
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['qwen3 coder', 'qwen3 coder'],
  ['https://huggingface.co/o/n/tree/main', 'o/n'],
  ['hf.co/o/n:Q4_K_M', 'o/n'],
  ['o/n', 'o/n'],
  ['text/with blanks in it', 'text/with blanks in it'],
  ['https://example.com/o/n', 'https://example.com/o/n'],
])('a search for %j', (text, words) => expect(searchWords(text)).toBe(words));
