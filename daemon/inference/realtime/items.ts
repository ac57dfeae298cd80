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
/** An item of the conversation, in the form that callers see. */
export type Item = MessageItem | CallItem | CallOutputItem;

const common = (id: string): Common => ({ id, object: 'realtime.item', status: 'completed' });

/** Converts a caller's item, and returns the audio in it that must be transcribed first. */
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

/** Returns the text of a part; empty for an image, and for audio without speech. */
export function textOf(part: Part): string {
  if (part.type === 'input_image') return '';
  const text = 'text' in part ? part.text : part.transcript;
  return text === null || text.trim() === '' ? '' : text;
}

/** Returns whether a message has neither text nor an image. */
export const isEmpty = ({ content }: MessageItem): boolean =>
  content.every((part) => part.type !== 'input_image' && textOf(part) === '');

/** Creates an item of recorded speech without a transcript. */
export const spokenItem = (id: string): MessageItem => ({
  ...common(id),
  type: 'message',
  role: 'user',
  content: [{ type: 'input_audio', transcript: null }],
});

/**
 * Returns the item with its transcript. Audio in several parts of one item is transcribed as one; the first
 * part shows the text.
 */
export function transcribedItem(item: Item, transcript: string): Item {
  if (item.type !== 'message') return item;
  const first = item.content.findIndex((part) => part.type === 'input_audio' && part.transcript === null);
  const content = item.content.map((part, index) => {
    if (part.type !== 'input_audio' || part.transcript !== null) return part;
    return { ...part, transcript: index === first ? transcript : '' };
  });
  return { ...item, content };
}

/** Inserts `item` after the given one; null appends. Returns undefined when that one does not exist. */
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

/** A sentence of a response and the duration of its audio. */
export interface SpokenSentence {
  readonly text: string;
  readonly ms: number;
}

/** Returns the text heard within `ms` milliseconds: whole sentences, then whole words in proportion. */
export function spokenUntil(spoken: readonly SpokenSentence[], ms: number): string {
  let left = ms;
  let text = '';
  for (const sentence of spoken) {
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
