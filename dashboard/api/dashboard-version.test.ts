import { expect, test } from 'vitest';
import { compareEntries, entryOf } from './dashboard-version.ts';

const page = (entry: string): string =>
  `<head><script src="/assets/boot-1.js"></script><script type="module" crossorigin src="${entry}"></script></head>`;

test('the entry is the first module script', () => {
  expect(entryOf(page('/assets/index-a.js'))).toBe('/assets/index-a.js');
  expect(entryOf('<script src="/x.js"></script>')).toBeNull();
  expect(entryOf('<h1>Log in to the hotel network</h1>')).toBeNull();
});

test.each([
  ['/assets/index-a.js', page('/assets/index-a.js'), 'same'],
  ['/assets/index-a.js', page('/assets/index-b.js'), 'newer'],
  ['/assets/index-a.js', '<h1>Bad gateway</h1>', 'silent'],
  ['/assets/index-a.js', null, 'silent'],
  [null, page('/assets/index-b.js'), 'same'],
])('%#: a page with entry %s', (own, html, served) => expect(compareEntries(own, html)).toBe(served));
