import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FormFields } from './form-fields.ts';

const TYPE = 'multipart/form-data; boundary=xyz';
const part = (name: string, value: string, more = '') =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--xyz--\r\n`);
const FILE = part('file', 'RIFF\0\r\n\r\nbytes', '; filename="a.wav"\r\nContent-Type: audio/wav');

function read(body: Buffer, type = TYPE, step = body.length): FormFields {
  const fields = new FormFields(type);
  for (let at = 0; at < body.length; at += step) fields.push(body.subarray(at, at + step));
  return fields;
}

test('reads the model before or after the file, for any chunking', () => {
  for (const body of [form(part('model', 'whisper-1'), FILE), form(FILE, part('model', ' whisper-1 '))]) {
    for (const step of [1, 2, 7, 64, 10_000]) expect(read(body, TYPE, step).model).toBe('whisper-1');
  }
  expect(read(form(part('model', 'm')), 'Multipart/Form-Data; charset=utf-8; boundary="xyz"').model).toBe(
    'm',
  );
});

test('ignores text that only looks like the field', () => {
  const trick = 'x\r\nContent-Disposition: form-data; name="model"\r\n\r\nevil';
  expect(read(form(part('prompt', trick))).model).toBeNull();
  expect(read(form(part('file', 'x', '; filename="model"'))).model).toBeNull();
  expect(read(form(part('models', 'x'), part('xmodel', 'y'))).model).toBeNull();
});

test.each([
  ['missing', form(FILE)],
  ['blank', form(part('model', '  '))],
  ['empty', form(part('model', ''))],
  ['a truncated form', Buffer.from('--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhis')],
  ['another boundary', Buffer.from('--abc\r\n')],
  ['empty body', Buffer.alloc(0)],
])('%s is not a model field', (_, body) => expect(read(body).model).toBeNull());

test('requests a stream only with the value true', () => {
  expect(read(form(part('stream', 'true'), FILE)).stream).toBe(true);
  expect(read(form(FILE, part('stream', 'True'))).stream).toBe(true);
  expect(read(form(part('stream', 'false'))).stream).toBe(false);
  expect(read(form(FILE)).stream).toBe(false);
});

test('refuses two different models, accepts the same one twice', () => {
  expect(() => read(form(part('model', 'a'), FILE, part('model', 'b'))).model).toThrowError(
    expect.objectContaining({ code: 'request.invalid' }),
  );
  expect(read(form(part('model', 'a'), part('model', 'a'))).model).toBe('a');
});

test('does not store a huge value', () => {
  expect(read(form(part('model', 'm'.repeat(100_000)))).model).toHaveLength(512);
});

test.each(['application/json', 'multipart/mixed; boundary=a', 'multipart/form-data-x', ''])(
  '%j is the wrong type',
  (type) => {
    expect(() => new FormFields(type)).toThrowError(
      expect.objectContaining({ code: 'request.unsupported_type', status: 415 }),
    );
  },
);

test.each([
  'multipart/form-data',
  'multipart/form-data;',
  'Multipart/Form-Data; charset=utf-8',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=""',
  `multipart/form-data; boundary="${'a'.repeat(71)}"`,
])('a form without a boundary has no model: %j', (type) => {
  expect(() => new FormFields(type)).toThrowError(
    expect.objectContaining({ code: 'request.missing_model', status: 400 }),
  );
});

test('does not crash on any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const body = Buffer.concat([Buffer.from('--xyz\r\n'), bytes, Buffer.from('\r\n--xyz--')]);
      const { model } = read(body);
      expect(model === null || typeof model === 'string').toBe(true);
    }),
  );
});
