import { expect, test } from 'vitest';
import { UPSTREAM_KINDS } from '../contract/upstream-kinds.ts';
import { readModelList } from './model-list.ts';
import { rankingSupport } from './provider-kinds.ts';

const [vllm, ray, own] = readModelList({
  data: [
    { id: 'plain', max_model_len: 2048 },
    { id: 'ray', metadata: {} },
    { id: 'own', owned_by: 'svc', _svc: { slot: 'rerank' }, metadata: {} },
  ],
}) as NonNullable<ReturnType<typeof readModelList>>;

test.each([
  ['openai', false, false, 'common', true],
  ['svc', false, false, 'common', true],
  ['vllm', true, false, 'common', true],
  ['llama-server', true, true, 'common', false],
  ['tei', false, false, 'tei', false],
] as const)('kind %s', (kind, nativeRerank, rawRerank, rerankApi, hasScore) => {
  const expected = { nativeRerank, rawRerank, rerankApi, hasScore };
  expect(rankingSupport(kind, undefined)).toEqual(expected);
  expect(rankingSupport(kind, vllm)).toEqual(expected);
});

test('Ray Serve LLM, which has /v1/score only, is found by its model list', () => {
  expect(rankingSupport('vllm', ray)).toMatchObject({ rerankApi: 'score', hasScore: true });
  expect(rankingSupport('vllm', own).rerankApi).toBe('common');
  for (const kind of UPSTREAM_KINDS.filter((each) => each !== 'vllm'))
    expect(rankingSupport(kind, ray)).toEqual(rankingSupport(kind, undefined));
});
