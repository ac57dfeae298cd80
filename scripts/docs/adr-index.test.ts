import { expect, it } from 'vitest';
import { adrHeaders, adrIndex, readAdrHeader } from './adr-index.ts';

const record = (front: string, heading = '# ADR-0001: A title') => `---\n${front}\n---\n\n${heading}\n`;
const FRONT = 'title: A title\ndate: 2026-11-21\narea: http\nstatus: accepted';

it('reads the front matter of a record', () => {
  expect(readAdrHeader('0001-a-title.md', record(FRONT))).toEqual({
    file: '0001-a-title.md',
    number: '0001',
    title: 'A title',
    date: '2026-11-21',
    area: 'http',
    status: 'accepted',
  });
});

it.each([
  ['a missing field', '0001-a.md', record(FRONT.replace('status: accepted', ''))],
  ['a bad date', '0001-a.md', record(FRONT.replace('2026-11-21', 'yesterday'))],
  ['an unknown area', '0001-a.md', record(FRONT.replace('http', 'cooking'))],
  ['another heading', '0001-a.md', record(FRONT, '# ADR-0001: Another title')],
  ['a bad file name', 'a.md', record(FRONT)],
])('refuses a record with %s', (_, file, text) => {
  expect(() => readAdrHeader(file, text)).toThrow(file);
});

it('lists every record once, with consecutive numbers', () => {
  const headers = adrHeaders();
  expect(headers.map(({ number }) => Number(number))).toEqual(headers.map((_, index) => index + 1));
  for (const { file } of headers) expect(adrIndex().split(`](${file})`)).toHaveLength(2);
});
