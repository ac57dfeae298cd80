import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { textOfFile } from './text-file.ts';

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64');

test.each([
  ['a data URL', `data:text/plain;base64,${encoded('hi')}`, 'hi'],
  ['a data URL with a character set', `data:text/csv;charset=utf-8;base64,${encoded('a;b')}`, 'a;b'],
  [
    'another type, as browsers guess it',
    `data:application/octet-stream;base64,${encoded('# Title')}`,
    '# Title',
  ],
  ['JSON', `data:application/json;base64,${encoded('{"a":1}')}`, '{"a":1}'],
  ['bare base64', encoded('日本'), '日本'],
  ['base64 for URLs', Buffer.from('~~~???').toString('base64url'), '~~~???'],
  ['lines of 76 characters', encoded('a'.repeat(99)).replace(/.{76}/, '$&\r\n'), 'a'.repeat(99)],
  ['a line break at the end', `data:text/plain;base64,${encoded('hi')}\n`, 'hi'],
  ['a byte order mark', encoded('\ufeffhi'), 'hi'],
])('reads %s', (_, data, text) => expect(textOfFile(data)).toBe(text));

test.each<[string, unknown]>([
  ['a PDF', `data:application/pdf;base64,${encoded('%PDF-1.7 words')}`],
  ['what is called a PDF', `data:application/pdf;base64,${encoded('words')}`],
  ['a compressed file', encoded(gzipSync('hi'))],
  ['UTF-16', encoded(Buffer.from('hi', 'utf16le'))],
  ['Latin-1', encoded(Buffer.from('é', 'latin1'))],
  ['no base64', 'data:text/plain,hi there'],
  ['nothing', ''],
  ['an address', 'https://x.test/a.txt'],
  ['no text', { id: 1 }],
])('does not read %s', (_, data) => expect(textOfFile(data)).toBeNull());

test.each([['a.pdf'], ['application/pdf']])('does not read what %s says is a PDF', (hint) => {
  expect(textOfFile(encoded('words'), hint)).toBeNull();
});
