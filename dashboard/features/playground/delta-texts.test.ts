import { expect, it } from 'vitest';
import { deltaTexts } from './delta-texts.ts';

it.each([
  [
    { content: 'a', reasoning_content: 'b' },
    { content: 'a', reasoning: 'b' },
  ],
  [
    { content: null, reasoning: 'b' },
    { content: '', reasoning: 'b' },
  ],
  [
    { reasoning_content: '', reasoning: 'b' },
    { content: '', reasoning: 'b' },
  ],
  [
    { reasoning_content: null, reasoning: null },
    { content: '', reasoning: '' },
  ],
  [{}, { content: '', reasoning: '' }],
  [undefined, { content: '', reasoning: '' }],
])('%j has the text %j', (delta, texts) => {
  expect(deltaTexts(delta)).toEqual(texts);
});

it('separates the parts of a content and omits non-text parts', () => {
  const content = [
    {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'Let ' },
        { type: 'reference', reference_ids: [1] },
      ],
    },
    { type: 'thinking', thinking: 'me see.' },
    { type: 'text', text: 'It is ' },
    { type: 'image_url', image_url: 'x' },
    null,
    { type: 'text', text: 'noon.' },
  ];
  expect(deltaTexts({ content })).toEqual({ content: 'It is noon.', reasoning: 'Let me see.' });
});
