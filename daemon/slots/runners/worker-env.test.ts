import { expect, it } from 'vitest';
import { NO_TELEMETRY, workerEnv } from './worker-env.ts';

it('passes the fixed list only; no secret of the gateway or of another tool reaches an engine', () => {
  const inherited: Record<string, string | undefined> = {
    PATH: '/bin',
    TZ: undefined,
    SVC_ADMIN_KEY: 'canary-1',
    SVC_CLIENT_KEY: 'canary-2',
    HF_TOKEN: 'canary-3',
    OPENAI_API_KEY: 'canary-4',
    UPSTREAM_X: 'canary-5',
    NODE_OPTIONS: '--inspect',
    NODE_LLAMA_CPP_GPU: 'cuda',
  };
  expect(workerEnv((name) => inherited[name], { GGML_X: '1' }, 'n')).toEqual({
    ...NO_TELEMETRY,
    PATH: '/bin',
    GGML_X: '1',
    GATEWAY_WORKER: 'n',
  });
});

it('a slot cannot replace the nonce', () => {
  expect(workerEnv(() => undefined, { GATEWAY_WORKER: 'x', PATH: '/own' }, 'n')).toEqual({
    ...NO_TELEMETRY,
    PATH: '/own',
    GATEWAY_WORKER: 'n',
  });
});

it.each([
  ['nothing', {}, {}, { DO_NOT_TRACK: '1', VLLM_NO_USAGE_STATS: '1', HF_HUB_DISABLE_TELEMETRY: '1' }],
  ['one of them', {}, { DO_NOT_TRACK: '0' }, { DO_NOT_TRACK: '0', VLLM_NO_USAGE_STATS: '1' }],
  ['an empty value', {}, { VLLM_NO_USAGE_STATS: '' }, { VLLM_NO_USAGE_STATS: '', DO_NOT_TRACK: '1' }],
  ['nothing, and the gateway has another value', { DO_NOT_TRACK: '0' }, {}, { DO_NOT_TRACK: '1' }],
])('keeps engines from sending usage data when the slot sets %s', (_, inherited, own, expected) => {
  expect(workerEnv((name) => (inherited as Record<string, string>)[name], own, 'n')).toMatchObject(expected);
});
