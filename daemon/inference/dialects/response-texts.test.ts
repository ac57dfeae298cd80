import { expect, test } from 'vitest';
import { answerTexts } from './response-texts.ts';

test('content parts keep their order; reasoning and refusals keep their kind', () => {
  const content = [
    {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'a' },
        { type: 'reference', reference_ids: [1] },
      ],
    },
    { type: 'thinking', thinking: 'b' },
    { type: 'text', text: 'c' },
    { type: 'text', text: '' },
    { type: 'refusal', refusal: 'd' },
    { type: 'image_url', image_url: 'e' },
    null,
  ];
  expect(answerTexts({ content })).toEqual([
    { type: 'reasoning', text: 'a' },
    { type: 'reasoning', text: 'b' },
    { type: 'text', text: 'c' },
    { type: 'refusal', text: 'd' },
  ]);
});

test('an empty reasoning field does not hide another one', () => {
  const thought = { type: 'reasoning', text: 'a' };
  expect(answerTexts({ reasoning_content: '', reasoning: 'a' })).toEqual([
    { ...thought, field: 'reasoning' },
  ]);
  expect(answerTexts({ reasoning_content: 'a', reasoning: 'a' })).toEqual([
    { ...thought, field: 'reasoning_content' },
  ]);
});

test.each([[{}], [{ content: null }], [{ content: [] }], [{ content: { text: 'a' } }], [{ refusal: 1 }]])(
  '%j contains no text',
  (message) => expect(answerTexts(message)).toEqual([]),
);
