import { expect, it } from 'vitest';
import { workerEnv } from './worker-env.ts';

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
    PATH: '/bin',
    GGML_X: '1',
    GATEWAY_WORKER: 'n',
  });
});

it('a slot cannot replace the nonce', () => {
  expect(workerEnv(() => undefined, { GATEWAY_WORKER: 'x', PATH: '/own' }, 'n')).toEqual({
    PATH: '/own',
    GATEWAY_WORKER: 'n',
  });
});
