import { expect, test } from 'vitest';
import { cuts } from '../testing/cuts.ts';
import { openThinkingMark, type ThinkingMark, thoughtScanner } from './reasoning.ts';

const THINK = { open: '<think>', close: '</think>' };

function read(pieces: readonly string[], opened: ThinkingMark | null = null) {
  const scanner = thoughtScanner(opened);
  const all = [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()];
  const of = (type: string) =>
    all
      .filter((thought) => thought.type === type)
      .map((thought) => thought.text)
      .join('');
  return { reasoning: of('reasoning'), text: of('text') };
}

test.each([
  ['<think>\nFirst, add.\n\nThen – stop.\n</think>\n\nIt is 4. ', 'First, add.\n\nThen – stop.', 'It is 4. '],
  ['\n<think>\n\n</think>\n\nHi', '', 'Hi'],
  ['[THINK]Hm, müde.[/THINK]So.', 'Hm, müde.', 'So.'],
  ['<|START_THINKING|>a<|END_THINKING|>b', 'a', 'b'],
  ['◁think▷nach◁/think▷vor', 'nach', 'vor'],
  ['<seed:think>a</seed:think>b', 'a', 'b'],
  ['<think>cut off in the mid', 'cut off in the mid', ''],
  ['<think>a < b </thi', 'a < b </thi', ''],
  ['No thoughts <think>here</think>.', '', 'No thoughts <think>here</think>.'],
  ['<thin air', '', '<thin air'],
  ['<think', '', '<think'],
  ['  spaced', '', '  spaced'],
])('splits %j at any cut', (output, reasoning, text) => {
  for (const pieces of cuts(output))
    expect(read(pieces), JSON.stringify(pieces)).toEqual({ reasoning, text });
});

test.each([
  ['Well.\n</think>\n\nYes', 'Well.', 'Yes'],
  ['Well, I stop here', 'Well, I stop here', ''],
])('continues %j when the prompt opened the reasoning', (output, reasoning, text) => {
  for (const pieces of cuts(output)) expect(read(pieces, THINK)).toEqual({ reasoning, text });
});

test('detects the mark at the end of a prompt', () => {
  expect(openThinkingMark('<|im_start|>assistant\n<think>\n')).toEqual(THINK);
  expect(openThinkingMark('<|im_start|>assistant\n<think>\n\n</think>\n\n')).toBeNull();
  expect(openThinkingMark('<think> about it')).toBeNull();
});

test('does not hold back endless whitespace', () => {
  const scanner = thoughtScanner(null);
  let text = '';
  for (let i = 0; i < 1_000; i++)
    text += scanner
      .push('\n')
      .map((thought) => thought.text)
      .join('');
  expect(text.length).toBeGreaterThan(900);
});
