import { expect, test } from 'vitest';
import { Capture, Captures } from './captures.ts';

function captured(request: string | Buffer, ...answer: (string | Buffer)[]) {
  const capture = new Capture(Buffer.from(request));
  for (const part of answer) capture.pushResponse(Buffer.from(part));
  return capture.view();
}

test('captures request and response as text', () => {
  expect(captured('{"a":1}', 'data: x\n\n', 'data: [DONE]\n\n')).toEqual({
    request: '{"a":1}',
    answer: 'data: x\n\ndata: [DONE]\n\n',
  });
  expect(captured('')).toEqual({ request: null, answer: null });
});

test('stores only the beginning with a note; leaves out a truncated character', () => {
  const { request, answer } = captured('ü'.repeat(10_000), 'a', 'ü'.repeat(50_000), 'b'.repeat(1_000_000));
  expect(request).toBe(`${'ü'.repeat(8_192)}… (20000 bytes in total)`);
  expect(answer).toBe(`a${'ü'.repeat(8_191)}… (1100001 bytes in total)`);
});

test('only counts binary data', () => {
  expect(captured('{}', Buffer.from([0x52, 0x49, 0, 1])).answer).toBe('(4 bytes that are no text)');
  expect(captured('{}', Buffer.from([0xff, 0xfb, 0x90])).answer).toBe('(3 bytes that are no text)');
});

test('stores the latest hundred requests', () => {
  const captures = new Captures();
  for (let i = 0; i < 250; i++) captures.add(`r${i}`, new Capture(Buffer.from(String(i))));
  expect(captures.find('r149')).toBeNull();
  expect(captures.find('r150')).toEqual({ request: '150', answer: null });
  expect(captures.find('r249')?.request).toBe('249');
});
