import { expect, test } from 'vitest';
import type { FailureOptions } from '../../contract/errors.ts';
import { maskedFailure, maskedMessage } from './mask.ts';

const mask = (status: number, body: string, more: object = {}) =>
  maskedFailure({ status, bytes: Buffer.from(body), truncated: false, ...more });
const errorBody = (message: string) => JSON.stringify({ error: { code: null, message } });
const PAGE = '<html><head><title>503</title></head><body>nginx at 10.0.0.5:8080</body></html>';

/** Returns what the caller receives for a replaced failure; null for a relayed one. */
function answer(status: number, body: string, more: object = {}) {
  const verdict = mask(status, body, more);
  if (verdict.passes) return null;
  const { error } = verdict;
  const options: FailureOptions = error.options;
  return { status: error.status, code: error.code, param: options.param, message: error.message };
}

test.each([
  ['text', 'Error: ffmpeg exited with 1'],
  ['an internal term', errorBody('FFmpeg could not read the stream')],
  ['a subprocess', errorBody('The subprocess failed.')],
  ['an exit code', errorBody('decoder ended with exit code 1')],
  ['an exit status', 'exit status 69'],
  ['a signal', errorBody('killed by signal 9')],
  ['a stack trace of Python', errorBody('Traceback (most recent call last)')],
  ['lines of a stack trace', 'Error: no\n    at decode (audio.js:10:5)'],
  ['C++', errorBody('std::bad_alloc')],
  ['a C++ container', errorBody('map::at')],
  ['a path', errorBody('cannot open /tmp/upload/abc.wav')],
  ['a path below a public word', errorBody('cannot open /audio/upload/abc.wav')],
  ['an address', errorBody('connect to 127.0.0.1 failed')],
  ['a URL of the network', errorBody('POST http://stt.lan/v1/audio/transcriptions failed')],
  ['a URL with a port', errorBody('see https://stt.example.com:9000/x')],
  ['a port', errorBody('connect ECONNREFUSED engine:8081')],
  ['a port of a name with dots', errorBody('connect to stt-1.lan:80 failed')],
  ['a port alone', errorBody('listen tcp :8081: bind failed')],
  [
    'a harmless message next to an internal term',
    '{"error":{"code":null,"message":"The file is empty.","cause":{"stderr":["ffmpeg: invalid data"]}}}',
  ],
  [
    'a harmless message next to a path',
    '{"error":{"code":null,"message":"The file is empty."},"file":"/tmp/upload/abc.wav"}',
  ],
])('%s becomes 415', (_, body) => {
  expect(mask(500, body)).toMatchObject({
    passes: false,
    error: { code: 'audio.unsupported_format', status: 415, options: { details: { upstream_status: 500 } } },
  });
});

test.each([
  ['a failure of FastAPI', 500, 'Internal Server Error', 502, 'HTTP status 500'],
  ['an empty 500', 500, '', 502, 'HTTP status 500'],
  ['an HTML page of a proxy', 503, PAGE, 503, 'not available'],
  ['a bad gateway', 502, PAGE, 502, 'HTTP status 502'],
  ['a gateway timeout', 504, 'upstream request timeout', 502, 'HTTP status 504'],
  ['an HTML page without a route', 404, PAGE, 404, 'no transcription'],
  ['a missing route', 404, '404 page not found', 404, 'no transcription'],
  [
    'a missing route with its path',
    404,
    '{"error":{"message":"no route /v1/audio/transcriptions"}}',
    404,
    'no transcription',
  ],
  ['an upload that a proxy refuses', 413, PAGE, 413, 'too large'],
  ['a limit', 429, 'slow down', 429, 'no more requests'],
  ['a long message', 500, errorBody('x'.repeat(301)), 502, 'HTTP status 500'],
  ['two lines', 500, errorBody('bad\naudio'), 502, 'HTTP status 500'],
  ['a message that is not text', 500, '{"error":{"message":7}}', 502, 'HTTP status 500'],
  ['a body without a message', 503, '{"error":{}}', 503, 'not available'],
  [
    'a body that is nested too deeply',
    500,
    `{"error":{"code":null,"message":"Empty.","more":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
    502,
    'HTTP status 500',
  ],
  [
    'a message in the form of FastAPI',
    404,
    `{"detail":"Model 'x' is not installed locally."}`,
    404,
    "Model 'x' is not installed locally.",
  ],
])('%s keeps its status class', (_, status, body, expected, text) => {
  expect(answer(status, body)).toMatchObject({ status: expected, code: 'upstream.error' });
  expect(answer(status, body)?.message).toContain(text);
});

test.each([
  ['plain text', 400, 'Invalid request', 'file'],
  ['an HTML page', 400, PAGE, 'file'],
  ['a field of FastAPI', 422, '{"detail":[{"loc":["body","language"],"msg":"unknown"}]}', 'language'],
  [
    'a long message with its field',
    422,
    `{"error":{"message":"${'x '.repeat(200)}","param":"prompt"}}`,
    'prompt',
  ],
  ['a short message without a code', 422, '{"error":{"message":"too short"}}', 'file'],
  ['a body that is too long', 400, '{"error":', 'file'],
])('%s about a field becomes 400 with its name', (_, status, body, param) => {
  expect(answer(status, body)).toMatchObject({ status: 400, code: 'upstream.error', param });
});

test('retry headers stay with the error', () => {
  const hints = { 'retry-after': '7' };
  for (const [status, body] of [
    [503, PAGE],
    [429, 'slow'],
    [503, '{"detail":"loading"}'],
  ] as const)
    expect(mask(status, body, { hints })).toMatchObject({ error: { options: { headers: hints } } });
});

test('a short JSON error passes', () => {
  for (const body of [
    errorBody('The file is empty.'),
    errorBody('Audio is longer than 10:00 minutes.'),
    errorBody('You exceeded your quota, see https://platform.openai.com/docs/guides/error-codes.'),
    '{"error":{"code":null,"type":"invalid_request_error","param":"file","message":"Empty."}}',
  ])
    for (const status of [400, 429, 500]) expect(mask(status, body)).toEqual({ passes: true });
  expect(mask(413, errorBody('The file is empty.'), { truncated: true })).toMatchObject({ passes: false });
});

test.each([
  ['with a short message', '{"error":{"code":"x","message":"No flac."}}', 'No flac.'],
  ['without one', 'unsupported', /Supported formats/],
])('415 %s stays 415', (_, body, message) => {
  expect(answer(415, body)).toMatchObject({ status: 415, code: 'audio.unsupported_format' });
  expect(answer(415, body)?.message).toMatch(message);
});

test('an engine that sends the code itself keeps its message and status', () => {
  const body = '{"error":{"code":"audio.unsupported_format","message":"The file is empty."}}';
  expect(mask(415, body)).toMatchObject({
    passes: false,
    error: {
      code: 'audio.unsupported_format',
      status: 415,
      message: 'The file is empty.',
      options: { details: { upstream_status: 415 } },
    },
  });
});

test('our own credential keeps its meaning', () => {
  expect(mask(401, '')).toMatchObject({ error: { code: 'upstream.auth_failed' } });
});

test('a redirect is a failure of the upstream', () => {
  for (const body of ['', errorBody('The file is empty.')])
    expect(mask(302, body)).toMatchObject({ error: { code: 'upstream.error', status: 502 } });
});

test.each([
  ['No cats today.', 'No cats today.'],
  [
    'No cats today.. Received Model Group=x\nAvailable Model Group Fallbacks=None\n',
    'No cats today.. Received Model Group=x Available Model Group Fallbacks=None',
  ],
  ['a\r\n\r\n  b', 'a b'],
  ['x'.repeat(301), null],
  ['No cats.\nTraceback (most recent call last)', null],
  ['No cats.\n  File "/srv/a.py", line 3', null],
  ['No cats.\n    at draw (app.js:3:1)', null],
  [7, null],
])('the message of an image server %j is passed on as %j', (message, expected) => {
  expect(maskedMessage(Buffer.from(JSON.stringify({ error: { message } })))).toBe(expected);
});
