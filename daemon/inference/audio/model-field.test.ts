import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelField } from './model-field.ts';

const TYPE = 'multipart/form-data; boundary=xyz';
const part = (name: string, value: string, more = '') =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--xyz--\r\n`);

test('the model, before or after the file', () => {
  const file = part('file', 'RIFF\0\r\n\r\nbytes', '; filename="a.wav"\r\nContent-Type: audio/wav');
  expect(modelField(form(part('model', 'whisper-1'), file), TYPE)).toBe('whisper-1');
  expect(modelField(form(file, part('model', ' whisper-1 ')), TYPE)).toBe('whisper-1');
  expect(
    modelField(form(file, part('model', 'm')), 'Multipart/Form-Data; charset=utf-8; boundary="xyz"'),
  ).toBe('m');
});

test('a text that only looks like the field is none', () => {
  const trick = 'x\r\nContent-Disposition: form-data; name="model"\r\n\r\nevil';
  expect(modelField(form(part('prompt', trick)), TYPE)).toBeNull();
  expect(modelField(form(part('file', 'x', '; filename="model"')), TYPE)).toBeNull();
  expect(modelField(form(part('models', 'x'), part('xmodel', 'y')), TYPE)).toBeNull();
});

test.each([
  ['missing', form(part('file', 'x'))],
  ['blank', form(part('model', '  '))],
  ['empty', form(part('model', ''))],
  ['cut off', Buffer.from('--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhis')],
  ['another boundary', Buffer.from('--abc\r\n')],
  ['empty body', Buffer.alloc(0)],
])('%s is no model', (_, body) => {
  expect(modelField(body, TYPE)).toBeNull();
});

test('two different models are refused', () => {
  const body = form(part('model', 'a'), part('model', 'b'));
  expect(() => modelField(body, TYPE)).toThrowError(expect.objectContaining({ code: 'request.invalid' }));
});

test.each(['application/json', 'multipart/form-data', ''])('%j is the wrong type', (type) => {
  expect(() => modelField(form(), type)).toThrowError(
    expect.objectContaining({ code: 'request.unsupported_type' }),
  );
});

test('no bytes crash it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const body = Buffer.concat([Buffer.from('--xyz\r\n'), bytes, Buffer.from('\r\n--xyz--')]);
      expect([null, 'string']).toContain(modelField(body, TYPE) === null ? null : 'string');
    }),
  );
});
