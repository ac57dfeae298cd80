import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventReader } from './event-reader.ts';

const STREAM =
  ': loading\n\ndata: {"a":"é€😀"}\r\n\r\nevent: x\ndata:{"b":1}\ndata: more\n\n: ping\n\ndata: [DONE]\n\n';
const BLOCKS = [
  { comment: true },
  { data: '{"a":"é€😀"}' },
  { data: '{"b":1}\nmore' },
  { comment: true },
  { data: '[DONE]' },
];

test('a stream has the same events for any chunking', () => {
  const bytes = Buffer.from(STREAM);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
      const reader = new EventReader();
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const read = at.slice(1).flatMap((end, i) => reader.push(bytes.subarray(at[i], end)));
      expect([...read, ...reader.end()]).toEqual(BLOCKS);
    }),
  );
});

test('a last event without a line end counts; a partial line waits', () => {
  const reader = new EventReader();
  expect(reader.push(Buffer.from('data: [DO'))).toEqual([]);
  expect(reader.push(Buffer.from('NE]'))).toEqual([]);
  expect(reader.end()).toEqual([{ data: '[DONE]' }]);
});

test('an endless event is not buffered without bound', () => {
  const reader = new EventReader();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const feed = () => {
    for (let i = 0; i < 6; i++) reader.push(piece);
  };
  expect(feed).toThrow('too long');
  const lines = new EventReader();
  const line = Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`);
  expect(() => {
    for (let i = 0; i < 6; i++) lines.push(line);
  }).toThrow('too long');
});

test.each(['data\n', 'data:\n', 'data: \n'])(
  'an event of very many lines %j is not buffered without bound',
  (line) => {
    const reader = new EventReader();
    const piece = Buffer.from(line.repeat(1024 * 1024));
    expect(() => {
      for (let i = 0; i < 6; i++) reader.push(piece);
    }).toThrow('too long');
  },
);

test('any number of events below the limit pass', () => {
  const reader = new EventReader();
  const piece = Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n\n`);
  for (let i = 0; i < 6; i++) expect(reader.push(piece)).toHaveLength(1);
});
