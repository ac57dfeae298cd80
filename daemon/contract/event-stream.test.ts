import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { EventStreamParser, type StreamBlock } from './event-stream.ts';

const parser = (maxEventLength = 1000): EventStreamParser =>
  new EventStreamParser({ maxEventLength, tooLong: () => new Error('too long') });

const message = (data: string, id: string | null = null): StreamBlock => ({ event: 'message', data, id });
const comment: StreamBlock = { comment: true };

/** Rows: what the row shows, the stream, its events and comments. The examples of the standard come first. */
const CASES: [string, string, StreamBlock[]][] = [
  ['several lines of data', 'data: YHOO\ndata: +2\ndata: 10\n\n', [message('YHOO\n+2\n10')]],
  [
    'a comment, ids, an empty id and a space that belongs to the data',
    ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    [comment, message('first event', '1'), message('second event', ''), message(' third event', '')],
  ],
  ['empty data, and an unfinished event', 'data\n\ndata\ndata\n\ndata:', [message(''), message('\n')]],
  ['a space after the colon', 'data:test\n\ndata: test\n\n', [message('test'), message('test')]],
  ['CRLF', 'data: a\r\ndata: b\r\n\r\n', [message('a\nb')]],
  ['a lone CR', 'data: a\rdata: b\r\rdata: c\r\r', [message('a\nb'), message('c')]],
  ['mixed line ends', 'data: a\r\n\rdata: b\n\r\n', [message('a'), message('b')]],
  ['a byte order mark', '\uFEFFdata: a\n\n', [message('a')]],
  ['only the first byte order mark', '\uFEFF\uFEFFdata: a\n\ndata: b\n\n', [message('b')]],
  ['the characters of an undecoded byte order mark', 'ï»¿data: a\n\ndata: b\n\n', [message('b')]],
  [
    'the name of an event, for one event',
    'event: x\ndata: a\n\ndata: b\n\n',
    [{ event: 'x', data: 'a', id: null }, message('b')],
  ],
  ['a name after the data', 'data: a\nevent: x\n\n', [{ event: 'x', data: 'a', id: null }]],
  ['an empty name', 'event: x\nevent:\ndata: a\n\n', [message('a')]],
  ['a name without data', 'event: x\n\ndata: a\n\n', [message('a')]],
  ['an id that stays', 'id: 7\ndata: a\n\ndata: b\n\n', [message('a', '7'), message('b', '7')]],
  ['an id without data', 'id: 7\n\ndata: b\n\n', [message('b', '7')]],
  ['an id with a NUL is ignored', 'id: 7\n\nid: 8\0\ndata: a\n\n', [message('a', '7')]],
  ['a word that starts like id', 'idea: 7\nid7\ndata: a\n\n', [message('a')]],
  ['an id after a blank line at the start', '\n\nid: 7\n\ndata: a\n\n', [message('a', '7')]],
  [
    'unknown and invalid fields are ignored',
    'retry: x\nretry: 5\nfoo: bar\nDATA: a\n data: b\ndata: c\n\n',
    [message('c')],
  ],
  ['a comment inside an event', 'data: a\n:\ndata: b\n\n', [comment, message('a\nb')]],
  ['a colon in the data', 'data: a: b\n\n', [message('a: b')]],
  ['characters of several bytes', 'data: é€😀\n\n', [message('é€😀')]],
  ['an unfinished event is discarded', 'data: a\n\ndata: b\n', [message('a')]],
];

describe('EventStreamParser', () => {
  it.each(CASES)('reads %s', (_, text, blocks) => {
    expect(parser().push(Buffer.from(text))).toEqual(blocks);
  });

  it.each(CASES)('reads %s byte by byte', (_, text, blocks) => {
    const one = parser();
    expect([...Buffer.from(text)].flatMap((byte) => one.push(Uint8Array.of(byte)))).toEqual(blocks);
  });

  it.each(CASES)('reads %s for any chunking', (_, text, blocks) => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const one = parser();
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(at.slice(1).flatMap((end, i) => one.push(bytes.subarray(at[i], end)))).toEqual(blocks);
      }),
      { numRuns: 50 },
    );
  });

  it('dispatches an event at the CR of its blank line, before the next chunk', () => {
    expect(parser().push(Buffer.from('data: a\r\r'))).toEqual([message('a')]);
  });

  it('reports the last id of the complete blocks', () => {
    const one = parser();
    const idAfter = (text: string) => {
      one.push(Buffer.from(text));
      return one.lastId;
    };
    expect(
      ['', 'id: 41\n', '\n', 'id: 42\ndata: {}\n\nid: 43\n', 'id: 44\n\nid', '\n\n'].map(idAfter),
    ).toEqual([null, null, '41', '42', '44', '']);
  });

  it('returns a last event without a blank line at the end of the stream', () => {
    const one = parser();
    expect(one.push(Buffer.from('data: [DO'))).toEqual([]);
    expect(one.push(Buffer.from('NE]'))).toEqual([]);
    expect(one.end()).toEqual([message('[DONE]')]);
  });
});

test.each(['x', 'data: x\n', 'data\n', 'data:\n', 'data: \n', ': x'])(
  'an event of many %j is limited',
  (text) => {
    const one = parser();
    expect(() => {
      for (let i = 0; i < 1002; i++) one.push(Buffer.from(text));
    }).toThrow('too long');
  },
);

test('any number of events below the limit pass', () => {
  const one = parser();
  const event = Buffer.from(`data: ${'x'.repeat(900)}\n\n`);
  for (let i = 0; i < 6; i++) expect(one.push(event)).toHaveLength(1);
  expect(one.push(Buffer.from('id: 5\n\n'.repeat(1000)))).toEqual([]);
  expect(one.lastId).toBe('5');
});
