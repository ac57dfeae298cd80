import { expect, test } from 'vitest';
import { maskedFailure } from './mask.ts';

const mask = (status: number, body: string, truncated = false) =>
  maskedFailure({ status, bytes: Buffer.from(body), truncated });
const errorBody = (message: string) => JSON.stringify({ error: { code: null, message } });

test.each([
  ['text', 'Error: ffmpeg exited with 1'],
  ['HTML', '<html>500</html>'],
  ['nothing', ''],
  ['an internal term', errorBody('FFmpeg could not read the stream')],
  ['a stack trace', errorBody('Traceback (most recent call last)')],
  ['C++', errorBody('std::bad_alloc')],
  ['a path', errorBody('cannot open /tmp/upload/abc.wav')],
  ['an address', errorBody('connect to 127.0.0.1 failed')],
  ['a port', errorBody('connect ECONNREFUSED engine:8081')],
  ['a port of a name with dots', errorBody('connect to stt-1.lan:80 failed')],
  ['two lines', errorBody('bad\naudio')],
  ['a long message', errorBody('x'.repeat(301))],
  [
    'a harmless message next to an internal term',
    '{"error":{"code":null,"message":"The file is empty.","cause":{"stderr":["ffmpeg: invalid data"]}}}',
  ],
  [
    'a harmless message next to a path',
    '{"error":{"code":null,"message":"The file is empty."},"file":"/tmp/upload/abc.wav"}',
  ],
  [
    'a body that is nested too deeply',
    `{"error":{"code":null,"message":"Empty.","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
  ],
  ['no message', '{"error":{}}'],
  ['a message that is not text', '{"error":{"message":7}}'],
])('%s becomes 415', (_, body) => {
  const verdict = mask(500, body);
  expect(verdict).toMatchObject({
    passes: false,
    error: { code: 'audio.unsupported_format', status: 415, options: { details: { upstream_status: 500 } } },
  });
});

test.each(['listen tcp :8081: bind failed', 'dial *:9000', 'no answer of engine:8080'])(
  '%j shows a port',
  (text) => {
    expect(mask(400, errorBody(text)).passes).toBe(false);
  },
);

test('a harmless JSON error passes', () => {
  expect(mask(400, errorBody('The file is empty.'))).toEqual({ passes: true });
  expect(mask(400, errorBody('Audio is longer than 10:00 minutes.'))).toEqual({ passes: true });
  expect(
    mask(400, '{"error":{"code":null,"type":"invalid_request_error","param":"file","message":"Empty."}}'),
  ).toEqual({ passes: true });
  expect(mask(413, errorBody('The file is empty.'), true)).toMatchObject({ passes: false });
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

test('a redirect is a failure like any other', () => {
  for (const body of ['', errorBody('The file is empty.')])
    expect(mask(302, body)).toMatchObject({
      error: {
        code: 'audio.unsupported_format',
        status: 415,
        options: { details: { upstream_status: 302 } },
      },
    });
});
