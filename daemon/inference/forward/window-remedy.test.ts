import { expect, test } from 'vitest';
import { judge } from './engine-error.ts';
import { withWindowRemedy } from './window-remedy.ts';

const MESSAGE = 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it';
const embedded = { code: 'context_length_exceeded', message: MESSAGE, n_prompt_tokens: 9_000, n_ctx: 8_192 };
const llamaServer = { ...embedded, code: 400, type: 'exceed_context_size_error' };
const vllm = {
  code: 400,
  message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
};
const answered = (
  error: object,
  more: { isAttached?: boolean; changedTokens?: number; status?: number } = {},
) => {
  const bytes = Buffer.from(JSON.stringify({ error }));
  const failure = { status: more.status ?? 400, bytes, truncated: false };
  const short = {
    slot: 'agent',
    isAttached: more.isAttached ?? false,
    changedTokens: more.changedTokens ?? null,
  };
  const verdict = withWindowRemedy(judge(failure), bytes, short);
  if (!verdict.passes) return verdict.error;
  return (JSON.parse((verdict.bytes ?? bytes).toString()) as { error: { message: string } }).error;
};

const COMMAND =
  '. Slot agent: set context in slots/agent.toml, for example with: svcctl slots set agent context=16384 && svcctl slots restart agent';

test.each([
  ['the embedded engine', embedded],
  ['llama-server', llamaServer],
])('the error of %s names slot, key and command after its own words', (_, error) => {
  expect(answered(error).message).toBe(`${MESSAGE}${COMMAND}`);
});

test('vLLM says the numbers in other words', () => {
  expect(answered(vllm).message).toContain(COMMAND);
});

test('numbers of the embedded engine stay', () => {
  expect(answered(embedded)).toMatchObject({ n_prompt_tokens: 9_000, n_ctx: 8_192 });
});

test.each([
  [31_505, 65_536],
  [12_400, 16_384],
  [100, 128],
])('a prompt of %i tokens needs a window of %i', (tokens, window) => {
  expect(answered({ ...embedded, n_prompt_tokens: tokens }).message).toMatch(`context=${window}`);
});

test('an unknown length has an example', () => {
  expect(answered({ ...embedded, n_prompt_tokens: undefined }).message).toMatch('context=32768');
});

test('the largest window of a model has no command', () => {
  const message = 'request (9 tokens) exceeds …, which is the maximum of this model: send a shorter text';
  expect(answered({ ...embedded, message }).message).toBe(`${message} (slot agent)`);
});

test('a larger window in the file needs a restart only', () => {
  expect(answered(embedded, { changedTokens: 32_768 }).message).toBe(
    `${MESSAGE}. Slot agent: context in slots/agent.toml has changed and applies after: svcctl slots restart agent`,
  );
});

test('a window in the file that is still too small is replaced', () => {
  expect(answered(embedded, { changedTokens: 1024 }).message).toBe(`${MESSAGE}${COMMAND}`);
});

test('an attached server is changed where it is started', () => {
  expect(answered(embedded, { isAttached: true }).message).toMatch(
    /Slot agent: increase the window where its server is started$/,
  );
});

test.each([
  ['another error', { code: 'slot.loading', message: 'loading' }],
  ['an error that repeats the code', { code: 'request.invalid', message: 'context_length_exceeded' }],
  ['a full disk', { code: 500, message: 'no space' }],
])('%s stays unchanged', (_, error) => {
  const bytes = Buffer.from(JSON.stringify({ error }));
  const verdict = judge({ status: 400, bytes, truncated: false });
  expect(withWindowRemedy(verdict, bytes, { slot: 'agent', isAttached: false, changedTokens: null })).toBe(
    verdict,
  );
});
