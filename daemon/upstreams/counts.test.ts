import { afterEach, beforeEach, expect, it } from 'vitest';
import { UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const cannot = expect.objectContaining({ code: 'dispatch.capability_mismatch' });
const FILE = 'base_url = "http://desk.test"\nkey_env = "UPSTREAM_X"\ndaily_requests = 5\n';

it('an upstream that cannot count tokens stays healthy, uses none of its daily requests, and is not tried again', () => {
  bench.environment = { UPSTREAM_X: 'sk-old-123456' };
  bench.file('desk', FILE);
  const upstreams = bench.open();
  upstreams.connect('desk').onEnd({ status: 200 });
  upstreams.connect('desk', { isTokenCount: true }).onEnd({ lacks: 'count' });
  const healthy = { health: 'ok', requests_today: 1 };
  expect(upstreams.detail('desk')).toMatchObject(healthy);
  expect(() => upstreams.connect('desk', { isTokenCount: true })).toThrowError(cannot);
  expect(upstreams.detail('desk')).toMatchObject(healthy);
  upstreams.connect('desk').onEnd(null);
});

it('until its key or file changes, or an hour has passed', () => {
  bench.environment = { UPSTREAM_X: 'sk-old-123456' };
  bench.file('desk', FILE);
  const upstreams = bench.open();
  const lacks = () => upstreams.connect('desk', { isTokenCount: true }).onEnd({ lacks: 'count' });
  lacks();
  bench.environment = { UPSTREAM_X: 'sk-new-123456' };
  lacks();
  expect(lacks).toThrowError(cannot);
  bench.file('desk', `${FILE}priority = 3\n`);
  upstreams.reload();
  lacks();
  bench.wait(3_599_999);
  expect(lacks).toThrowError(cannot);
  bench.wait(1);
  lacks();
});

it.each([
  ['vllm', false],
  ['openai', true],
] as const)('a model list of Ray Serve LLM at kind %s: counts chats: %s', async (kind, counts) => {
  const record = { id: 'ray', object: 'model', metadata: { max_request_context_length: 512 } };
  const ray = await bench.fakeUpstream((_req, res) => void res.end(JSON.stringify({ data: [record] })));
  const upstreams = await bench.desk(ray, `kind = "${kind}"\n`);
  await upstreams.refreshCold(new AbortController().signal);
  const count = () => upstreams.connect('desk', { isTokenCount: true, model: 'ray' }).onEnd(null);
  if (counts) count();
  else expect(count).toThrowError(cannot);
  upstreams.connect('desk', { model: 'ray' }).onEnd(null);
});

it('a response to an old key has no effect on the new one', () => {
  bench.environment = { UPSTREAM_X: 'sk-old-123456' };
  bench.file('desk', FILE);
  const upstreams = bench.open();
  const old = upstreams.connect('desk', { isTokenCount: true });
  bench.environment = { UPSTREAM_X: 'sk-new-123456' };
  old.onEnd({ lacks: 'count' });
  upstreams.connect('desk', { isTokenCount: true }).onEnd({ status: 200 });
});

it.each([
  ['http://desk.test:8000/v1', 'vllm', '/tokenize'],
  ['http://desk.test:8000', 'vllm', '/tokenize'],
  ['http://desk.test/serve/v1', 'vllm', '/serve/tokenize'],
  ['http://desk.test/v1', 'openai', undefined],
  ['http://desk.test/v1', 'llama-server', undefined],
])('%s of kind %s counts tokens under %s', (url, kind, path) => {
  bench.file('desk', `base_url = "${url}"\nkind = "${kind}"\n`);
  expect(bench.open().connect('desk', { isTokenCount: true }).countPath).toBe(path);
});
