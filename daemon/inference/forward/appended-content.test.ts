import { expect, test } from 'vitest';
import { appendedContent } from './appended-content.ts';

const thought = (...texts: string[]) => ({
  type: 'thinking',
  thinking: texts.map((text) => ({ type: 'text', text })),
});
const text = (value: string) => ({ type: 'text', text: value });

test.each<[string, unknown[], unknown]>([
  ['texts', ['a', 'b'], 'ab'],
  ['nothing', [undefined, null], null],
  ['an empty text', [null, ''], ''],
  ['an empty list after a text', ['a', []], 'a'],
  ['an empty list before a text', [null, [], 'a'], 'a'],
  ['an empty list', [null, []], ''],
  [
    'thoughts, then text (Mistral)',
    ['', [thought('h')], [thought('m')], 'a', 'b'],
    [thought('hm'), text('ab')],
  ],
  ['thoughts within the text', ['a', [thought('h')], 'b'], [text('a'), thought('h'), text('b')]],
  [
    'thoughts as texts',
    [[{ type: 'thinking', thinking: 'h' }], [{ type: 'thinking', thinking: 'm' }]],
    [{ type: 'thinking', thinking: 'hm' }],
  ],
  [
    'several parts at once',
    [
      [thought('h'), text('a')],
      [text('b'), thought('m')],
    ],
    [thought('h'), text('ab'), thought('m')],
  ],
  [
    'fields of a later part',
    [[text('a')], [{ ...text('b'), closed: true }]],
    [{ ...text('ab'), closed: true }],
  ],
  [
    'a refusal',
    [[{ type: 'refusal', refusal: 'N' }], [{ type: 'refusal', refusal: 'o' }]],
    [{ type: 'refusal', refusal: 'No' }],
  ],
  [
    'other parts',
    [[{ type: 'image_url', image_url: {} }], [{ type: 'image_url', image_url: {} }]],
    [
      { type: 'image_url', image_url: {} },
      { type: 'image_url', image_url: {} },
    ],
  ],
])('appends %s', (_, contents, expected) => {
  expect(contents.reduce(appendedContent)).toEqual(expected);
});
