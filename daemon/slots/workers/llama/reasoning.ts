import { longestOpenEnd } from './stop-scanner.ts';

/** How a reasoning model separates its reasoning from its answer. */
export interface ThinkingMark {
  open: string;
  close: string;
}

export const THINKING_MARKS: readonly ThinkingMark[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '◁think▷', close: '◁/think▷' },
];

/** The marks, which a model may write as control tokens and which must be decoded as text. */
export const THINKING_TOKENS: readonly string[] = THINKING_MARKS.flatMap(({ open, close }) => [open, close]);

/** An answer that starts with more whitespace than this starts with no mark. */
const MAX_LEADING_SPACES = 256;

export interface Thought {
  type: 'text' | 'reasoning';
  text: string;
}

/** Splits a text stream into reasoning and answer. Whitespace around the reasoning belongs to neither. */
export interface ThoughtScanner {
  push(piece: string): Thought[];
  /** Returns the held-back text. Call this at the end of the stream. */
  end(): Thought[];
}

/** Returns the mark at the end of the prompt, in which case the answer starts inside the reasoning. */
export function openThinkingMark(prompt: string): ThinkingMark | null {
  const end = prompt.trimEnd();
  return THINKING_MARKS.find(({ open }) => end.endsWith(open)) ?? null;
}

/**
 * `opened` is the mark that the prompt opened. Without it, reasoning is recognised only at the start of the
 * answer.
 */
export function thoughtScanner(opened: ThinkingMark | null): ThoughtScanner {
  let place: 'start' | 'inside' | 'gap' | 'answer' = opened === null ? 'start' : 'inside';
  let mark = opened;
  let started = false;
  let held = '';
  let space = '';

  /** Emits reasoning without leading and trailing whitespace. */
  const reasoning = (text: string): Thought[] => {
    const trimmed = text.trimEnd();
    if (trimmed === '') {
      if (started) space += text;
      return [];
    }
    const shown = started ? space + trimmed : trimmed.trimStart();
    started = true;
    space = text.slice(trimmed.length);
    return [{ type: 'reasoning', text: shown }];
  };
  const inside = (text: string, { close }: ThinkingMark): Thought[] => {
    const at = text.indexOf(close);
    if (at < 0) {
      const keep = longestOpenEnd(text, [close]);
      held = text.slice(text.length - keep);
      return reasoning(text.slice(0, text.length - keep));
    }
    place = 'gap';
    return [...reasoning(text.slice(0, at)), ...gap(text.slice(at + close.length))];
  };
  const gap = (text: string): Thought[] => {
    const rest = text.trimStart();
    if (rest === '') return [];
    place = 'answer';
    return [{ type: 'text', text: rest }];
  };
  const start = (text: string): Thought[] => {
    const word = text.trimStart();
    mark = THINKING_MARKS.find(({ open }) => word.startsWith(open)) ?? null;
    if (mark !== null) {
      place = 'inside';
      return inside(word.slice(mark.open.length), mark);
    }
    if (text.length < MAX_LEADING_SPACES && THINKING_MARKS.some(({ open }) => open.startsWith(word))) {
      held = text;
      return [];
    }
    place = 'answer';
    return [{ type: 'text', text }];
  };
  return {
    push(piece) {
      if (place === 'answer') return [{ type: 'text', text: piece }];
      const text = held + piece;
      held = '';
      if (place === 'start') return start(text);
      return place === 'inside' && mark !== null ? inside(text, mark) : gap(text);
    },
    end() {
      const rest = held;
      held = '';
      if (rest === '') return [];
      return place === 'inside' ? reasoning(rest) : [{ type: 'text', text: rest }];
    },
  };
}
