import type { ItemInput } from '../../contract/realtime.ts';

export type ItemStatus = 'completed' | 'incomplete' | 'in_progress';

export type Part =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_audio'; readonly transcript: string | null }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail?: string | undefined }
  | { readonly type: 'output_text'; readonly text: string }
  | { readonly type: 'output_audio'; readonly transcript: string };

interface Common {
  readonly id: string;
  readonly object: 'realtime.item';
  readonly status: ItemStatus;
}
export interface MessageItem extends Common {
  readonly type: 'message';
  readonly role: 'user' | 'system' | 'assistant';
  readonly content: readonly Part[];
}
export interface CallItem extends Common {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}
export interface CallOutputItem extends Common {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string;
}
/** A part of the conversation, in the shape that callers see. */
export type Item = MessageItem | CallItem | CallOutputItem;

const common = (id: string): Common => ({ id, object: 'realtime.item', status: 'completed' });

/** An item of a caller under its id, and the sound in it that has to be heard first. */
export function itemFrom(input: ItemInput, id: string, callId: string): { item: Item; sound: Buffer | null } {
  if (input.type === 'function_call')
    return {
      item: {
        ...common(id),
        type: input.type,
        call_id: input.call_id ?? callId,
        name: input.name,
        arguments: input.arguments,
      },
      sound: null,
    };
  if (input.type === 'function_call_output')
    return {
      item: { ...common(id), type: input.type, call_id: input.call_id, output: input.output },
      sound: null,
    };
  const sounds: Buffer[] = [];
  const content = input.content.map((part): Part => {
    if (part.type === 'input_text' || part.type === 'input_image') return part;
    if ('text' in part) return { type: 'output_text', text: part.text };
    if (part.type !== 'input_audio') return { type: 'output_audio', transcript: part.transcript ?? '' };
    if (part.transcript == null && part.audio !== undefined) sounds.push(Buffer.from(part.audio, 'base64'));
    return { type: 'input_audio', transcript: part.transcript ?? null };
  });
  return {
    item: { ...common(id), type: 'message', role: input.role, content },
    sound: sounds.length === 0 ? null : Buffer.concat(sounds),
  };
}

/** What a part says; empty for a picture, and for sound in which nothing is understood. */
export function textOf(part: Part): string {
  if (part.type === 'input_image') return '';
  const text = 'text' in part ? part.text : part.transcript;
  return text === null || text.trim() === '' ? '' : text;
}

/** Whether a message holds neither words nor a picture. */
export const isEmpty = ({ content }: MessageItem): boolean =>
  content.every((part) => part.type !== 'input_image' && textOf(part) === '');

/** What somebody said, not understood yet. */
export const spokenItem = (id: string): MessageItem => ({
  ...common(id),
  type: 'message',
  role: 'user',
  content: [{ type: 'input_audio', transcript: null }],
});

/** The same item with what was heard in it. Sound in several parts of one item is heard as one; the first part shows it. */
export function transcribedItem(item: Item, transcript: string): Item {
  if (item.type !== 'message') return item;
  const first = item.content.findIndex((part) => part.type === 'input_audio' && part.transcript === null);
  const content = item.content.map((part, index) => {
    if (part.type !== 'input_audio' || part.transcript !== null) return part;
    return { ...part, transcript: index === first ? transcript : '' };
  });
  return { ...item, content };
}

/** Items in order, with `item` after the one named; null appends. Undefined when that one is not there. */
export function insertItem(
  items: readonly Item[],
  item: Item,
  after: string | null,
): { items: readonly Item[]; previous: string | null } | undefined {
  if (after === null) return { items: [...items, item], previous: items.at(-1)?.id ?? null };
  if (after === 'root') return { items: [item, ...items], previous: null };
  const at = items.findIndex(({ id }) => id === after);
  if (at === -1) return undefined;
  return { items: items.toSpliced(at + 1, 0, item), previous: after };
}

export const replaceItem = (items: readonly Item[], item: Item): readonly Item[] =>
  items.map((each) => (each.id === item.id ? item : each));

/** A sentence of an answer, and how long its sound is. */
export interface SpokenSentence {
  readonly text: string;
  readonly ms: number;
}

/** What of an answer was heard in `ms` milliseconds: whole sentences, then whole words by the share of their sentence. */
export function spokenUntil(said: readonly SpokenSentence[], ms: number): string {
  let left = ms;
  let text = '';
  for (const sentence of said) {
    if (left >= sentence.ms) {
      text += sentence.text;
      left -= sentence.ms;
      continue;
    }
    const part = sentence.text.slice(0, Math.floor((sentence.text.length * left) / sentence.ms));
    const end = /\s/.test(sentence.text[part.length] ?? '') ? part.length : part.lastIndexOf(' ') + 1;
    return (text + part.slice(0, end)).trimEnd();
  }
  return text;
}
