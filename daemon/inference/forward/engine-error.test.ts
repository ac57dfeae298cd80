import { describe, expect, test } from 'vitest';
import { errorInside200, judge, startsLikeError } from './engine-error.ts';

const verdict = (status: number, body: unknown, more = {}) =>
  judge({
    status,
    bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    truncated: false,
    ...more,
  });
const error = (status: number, body: unknown, more = {}) => {
  const found = verdict(status, body, more);
  if (found.passes) throw new Error('it passes');
  return found.error;
};

test.each([
  [400, { error: { code: 'context_length_exceeded', message: 'x' } }],
  [404, { error: { code: null, message: '/home/me/model.gguf' } }],
  [500, { error: { code: 'boom' } }],
])('%d %j passes byte for byte', (status, body) => {
  expect(verdict(status, body)).toEqual({ passes: true });
});

describe('anything else is wrapped', () => {
  test.each([
    [{ error: { message: 'x', param: 'temperature' } }, 'temperature'],
    [{ error: { message: 'x', code: 400, param: 'messages.0.content' } }, 'messages.0.content'],
    [{ error: 'x', param: 'stop' }, 'stop'],
    [[{ error: { message: 'x', param: 'top_p' } }], 'top_p'],
    [{ detail: [{ loc: ['body', 'messages', 0, 'role'], msg: 'Field required' }] }, 'messages.0.role'],
    [{ object: 'error', message: { detail: [{ loc: ['body', 'seed'], msg: 'x' }] }, code: null }, 'seed'],
    [{ error: { message: 'x', param: null } }, undefined],
    [{ error: { message: 'x', param: 5 } }, undefined],
    [{ error: { message: 'x', param: '' } }, undefined],
    ['x', undefined],
  ])('%j names %j', (body, param) => expect(error(400, body).options.param).toBe(param));
  test('a numeric code: keeps status and message, with the original in details', () => {
    const body = { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } };
    expect(error(404, body)).toMatchObject({
      code: 'upstream.error',
      status: 404,
      message: 'File Not Found',
      options: { details: { upstream_status: 404, upstream: body } },
    });
  });
  test('text, with its retry hints', () => {
    const hints = { 'retry-after': '3', 'x-should-retry': 'true' };
    const found = error(503, 'loading', { hints });
    expect(found).toMatchObject({
      status: 503,
      message: 'loading',
      options: { details: { upstream_status: 503, upstream: 'loading' } },
    });
    expect(found.headers()).toEqual(hints);
  });
  test.each([
    [[{ error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }]],
    [[{ error: { code: null, message: 'Quota exceeded' } }]],
    [{ detail: [{ loc: ['body'], msg: 'Quota exceeded' }, { msg: 'more' }] }],
  ])('%j keeps its message', (body) => {
    expect(error(429, body)).toMatchObject({ status: 429, message: 'Quota exceeded' });
  });
  test.each<[unknown, string]>([
    [
      { detail: [{ loc: ['body', 'messages', 0, 'role'], msg: 'Field required' }] },
      'messages.0.role: Field required',
    ],
    [
      { object: 'error', message: { detail: [{ loc: ['body', 'seed'], msg: 'Extra inputs' }] }, code: null },
      'seed: Extra inputs',
    ],
    [{ message: { detail: [{ msg: 'Extra inputs' }] } }, 'Extra inputs'],
    [{ detail: [{ msg: 'Extra inputs', loc: ['body', { toString: 1 }, 'seed'] }] }, 'seed: Extra inputs'],
    [{ message: { detail: [{ loc: 'seed', msg: 7 }] } }, 'The engine or upstream responded with an error.'],
  ])('%j names the invalid field', (body, message) => {
    expect(error(422, body)).toMatchObject({ status: 422, code: 'upstream.error', message });
  });
  test.each([
    ['open /usr/lib/model.gguf failed'],
    [{ error: { code: 1, message: 'failed to load ~/models/a.gguf' } }],
    [{ detail: 'C:\\models\\a' }],
  ])('%j contains a path and is not repeated', (body) => {
    const found = error(500, body);
    expect(found.options.details).toEqual({ upstream_status: 500 });
    expect(JSON.stringify(found.envelope('openai'))).not.toMatch(/models?\b[/\\.]|usr/);
  });
  test('HTML is not used as a message', () => {
    expect(error(502, '<html>Bad gateway</html>').message).toBe(
      'The engine or upstream responded with an error.',
    );
  });
  test('a truncated body is not repeated', () => {
    expect(error(500, 'x'.repeat(70_000), { truncated: true }).options.details).toEqual({
      upstream_status: 500,
    });
  });
  test.each(['', 'null', '[]', '5', '{"error":null}', '{"error":[]}'])(
    '%j is handled without a failure',
    (body) => {
      expect(error(500, body)).toMatchObject({ code: 'upstream.error', status: 500 });
    },
  );
});

test.each([401, 403])('%d from an engine is about our credential, not the caller', (status) => {
  expect(error(status, { error: { code: 'invalid_key' } })).toMatchObject({
    code: 'upstream.auth_failed',
    status: 502,
  });
});

test.each([301, 302, 303, 307, 308, 304])('%d is not followed', (status) => {
  expect(error(status, '')).toMatchObject({ code: 'upstream.error', status: 502 });
});

test("a prompt beyond the context window keeps llama-server's message and numbers", () => {
  const message = 'the request exceeds the available context size';
  const body = {
    error: { code: 400, message, type: 'exceed_context_size_error', n_prompt_tokens: 9, n_ctx: 8 },
  };
  expect(error(400, body)).toMatchObject({
    code: 'context_length_exceeded',
    status: 400,
    message,
    options: { details: { n_prompt_tokens: 9, n_ctx: 8 } },
  });
});

describe('an error object inside a 200', () => {
  test.each([
    ['{"error":{"code":400,"message":"bad"}}', 400],
    ['{"error":{"type":"invalid_request_error","message":"bad"}}', 400],
    ['{"error":{"code":500,"message":"bad"}}', 502],
    ['{"error":"bad"}', 502],
    ['[{"error":{"code":400,"message":"bad"}}]', 400],
  ])('%s is %d', (text, status) => {
    expect(errorInside200(Buffer.from(text), false)).toMatchObject({
      code: 'upstream.error',
      status,
      message: 'bad',
    });
  });

  test.each([
    ['{"error":{"message":"x"}}', true],
    [' { "error" : "x"}', true],
    ['{"error":null,"choices":[]}', false],
    ['{"errors":[]}', false],
    ['{"id":"x","error":{}}', false],
    ['[1]', false],
    ['', undefined],
    [' {', undefined],
    ['{"err', undefined],
    ['{"error" ', undefined],
    ['{"error": nul', undefined],
  ])('%j starts like an error object: %s', (text, expected) => {
    expect(startsLikeError(Buffer.from(text))).toBe(expected);
  });
});

describe('a route that the engine does not have is named', () => {
  test.each([
    [404, '{"detail":"Not Found"}'],
    [405, '{"detail":"Method Not Allowed"}'],
    [404, '404 page not found\n'],
    [404, 'Not Found'],
    [404, '{"error":"Not Found"}'],
    [404, 'Cannot POST /v1/embeddings'],
  ])('%d %s', (status, body) => {
    expect(error(status, body, { path: '/v1/embeddings' })).toMatchObject({
      status: 404,
      message: 'The engine or upstream has no /v1/embeddings, so it cannot serve this kind of request.',
      options: { details: { upstream_status: status } },
    });
  });
  test.each([
    [404, '{"detail":"The model `x` does not exist."}'],
    [404, 'model not found'],
    [500, '{"detail":"Not Found"}'],
  ])('%d %s is about something else', (status, body) => {
    expect(error(status, body, { path: '/v1/x' }).message).not.toContain('/v1/x');
  });
});
