import type { ChatVocabulary } from './chat-vocabulary.ts';

/** The most likely successors of each token, best first. */
export type Successors = ReadonlyMap<number, readonly number[]>;

const byte = (character: string): number => character.charCodeAt(0);
const RUNS = ['az', 'AZ', '09'] as const;

/**
 * Defines the behaviour of the tiny chat model. Every byte leads into the reply. With `runs`, a letter or
 * digit leads to the next one (`z` to `a`), so that a completion of `abc` never ends. Structural characters
 * of JSON have successors that let a grammar finish.
 */
export function chatSuccessors(words: ChatVocabulary, runs: boolean): Successors {
  const first = words.reply[0] ?? words.end;
  const next = new Map<number, readonly number[]>();
  for (let i = 0; i < 256; i++) next.set(i, [first]);
  for (const run of RUNS) addRun(next, run, runs ? [] : [first]);
  for (const [from, to] of jsonSteps(words)) next.set(from, runs ? to : [first, ...to]);
  next.set(words.ok, [byte('"'), words.end]);
  for (const control of [words.bos, words.start, words.end, ...words.control.values()])
    next.set(control, [first]);
  addChain(next, words.reply, words.end);
  addChain(next, [words.call, ...words.toolCall], words.end);
  next.set(words.merged, [words.end]);
  return next;
}

function addRun(
  next: Map<number, readonly number[]>,
  run: (typeof RUNS)[number],
  before: readonly number[],
): void {
  const from = byte(run);
  const to = run.charCodeAt(1);
  const closers = run === '09' ? [byte('}'), byte(',')] : [byte('"')];
  for (let c = from; c <= to; c++) next.set(c, [...before, c === to ? from : c + 1, ...closers]);
}

function addChain(next: Map<number, readonly number[]>, chain: readonly number[], end: number): void {
  chain.forEach((token, i) => {
    next.set(token, [chain[i + 1] ?? end]);
  });
}

function jsonSteps({ end, ok }: ChatVocabulary): [number, number[]][] {
  return [
    [byte('{'), [byte('"'), byte('}')]],
    [byte('['), [byte(']'), byte('1')]],
    [byte('}'), [end, byte('}')]],
    [byte(']'), [byte('}'), end]],
    [byte('"'), [ok, byte('}'), byte(',')]],
    [byte(':'), [byte('"'), byte('1'), byte('t')]],
    [byte(','), [byte('"'), byte('1')]],
  ];
}
