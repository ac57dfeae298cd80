import { expect, test } from 'vitest';
import { chatLogprobs, LogprobQueue, textLogprobs, tokenLogprob } from './logprobs.ts';

const HALF = 5;
const spelling = {
  spell: (token: number) => (token === HALF ? '\ufffd' : `<${token}>`),
  bytes: (token: number) => (token === HALF ? [0xc3] : null),
};

test("an entry has the token's logarithm and the most likely tokens", () => {
  const positions = new Map([
    [7, 0.5],
    [8, 0.25],
    [9, 0],
  ]);
  expect(tokenLogprob(8, positions, 1, spelling)).toEqual({
    token: '<8>',
    logprob: Math.log(0.25),
    top: [{ token: '<7>', logprob: Math.log(0.5) }],
  });
  expect(tokenLogprob(9, positions, 0, spelling)).toEqual({ token: '<9>', logprob: -9999, top: [] });
  expect(tokenLogprob(99, positions, 0, spelling).logprob).toBe(-9999);
});

test('a token that is part of a character has its own bytes', () => {
  const positions = new Map([
    [HALF, 0.5],
    [7, 0.25],
  ]);
  const entries = [tokenLogprob(7, positions, 2, spelling), tokenLogprob(HALF, positions, 0, spelling)];
  expect(chatLogprobs(entries)).toMatchObject({
    content: [
      {
        token: '<7>',
        bytes: [60, 55, 62],
        top_logprobs: [{ token: '\ufffd', bytes: [0xc3] }, { bytes: [60, 55, 62] }],
      },
      { token: '\ufffd', bytes: [0xc3], top_logprobs: [] },
    ],
  });
  const unknown = tokenLogprob(HALF, positions, 0, { ...spelling, bytes: () => null });
  expect(chatLogprobs([unknown])).toMatchObject({ content: [{ token: '\ufffd', bytes: null }] });
});

test('returns entries with the text they belong to', () => {
  const queue = new LogprobQueue();
  const entry = (token: string) => ({ token, logprob: 0, top: [] });
  queue.add(entry('a'), 'a');
  queue.add(entry('half'), '');
  queue.add(entry('whole'), 'é');
  queue.add(entry('held'), 'x');
  expect(queue.flushText('a').map((one) => one.token)).toEqual(['a']);
  expect(queue.flushText('é').map((one) => one.token)).toEqual(['half', 'whole']);
  expect(queue.flushText('')).toEqual([]);
  expect(queue.flushAll().map((one) => one.token)).toEqual(['held']);
});

interface Content {
  content: { token: string; bytes: number[] | null }[];
}

/** Splits a text into tokens of these lengths in bytes. The rest is one token. */
function tokensOf(text: string, lengths: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  let at = 0;
  return [...lengths, bytes.length].map((length) => {
    const start = at;
    at += length;
    return bytes.subarray(start, at);
  });
}

// Byte-level vocabularies split characters that are rare in their training text.
test.each<[string, string, number[], number[]]>([
  ['an emoji in four tokens', 'a😄b', [1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 3]],
  ['an emoji in two tokens', '😄!', [3, 1], [0, 0, 2]],
  ['a Chinese character in three tokens', '好的', [1, 1, 1], [0, 0, 0, 1]],
  ['a token with a letter and half a character', 'né!', [2, 1], [0, 1, 2]],
  ['a token with the end of one and the start of the next character', 'éß', [1, 2, 1], [0, 0, 1, 2]],
  ['a flag of two code points', '🇩🇪', [4, 2, 2], [0, 2, 2, 4]],
  ['a family joined by zero width joiners', '👩‍👩', [4, 1, 2], [0, 2, 2, 3]],
  ['a combining accent', 'e\u0301x', [1, 1, 1], [0, 1, 1, 2]],
  ['whole characters', 'abc', [1, 1], [0, 1, 2]],
])('the tokens of a text have its bytes and offsets: %s', (_, text, lengths, offsets) => {
  const tokens = tokensOf(text, lengths).filter(({ length }) => length > 0);
  const own = {
    spell: (token: number) => tokens[token]?.toString('utf8') ?? '',
    bytes: (token: number) => [...(tokens[token] ?? [])],
  };
  const queue = new LogprobQueue();
  const decoder = new TextDecoder();
  for (const [token, bytes] of tokens.entries())
    queue.add(tokenLogprob(token, new Map(), 0, own), decoder.decode(bytes, { stream: true }));
  const entries = queue.flushAll();
  const { content } = chatLogprobs(entries) as Content;
  expect(Buffer.from(content.flatMap(({ bytes }) => bytes ?? [])).toString('utf8')).toBe(text);
  expect(textLogprobs(entries, 5)).toMatchObject({
    text_offset: offsets.slice(0, tokens.length).map((offset) => offset + 5),
  });
});

test('a first token without its space keeps the offsets of the text', () => {
  const queue = new LogprobQueue();
  const entry = (token: string) => ({ token, logprob: 0, top: [] });
  queue.add(entry(' Hello'), 'Hello');
  queue.add(entry(' you'), ' you');
  expect(textLogprobs(queue.flushText('Hello you'), 0)).toMatchObject({ text_offset: [0, 5] });
});
