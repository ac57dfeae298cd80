import { addItem, completeItem } from './item-list.ts';
import type { ItemStatus } from './items.ts';
import { type ActiveResponse, type Entry, entryItem } from './response-state.ts';
import { msOf } from './sound-format.ts';
import type { Input, Step } from './step.ts';

const NEW = {
  index: 0,
  callId: '',
  name: '',
  text: '',
  sent: 0,
  sound: [],
  sentences: [],
  open: false,
} as const;

function update(step: Step, change: (response: ActiveResponse) => Partial<ActiveResponse>): void {
  const { response } = step.state;
  if (response !== null) step.set({ response: { ...response, ...change(response) } });
}

const replace = (step: Step, at: number, entry: Entry): void =>
  update(step, ({ entries }) => ({ entries: entries.with(at, entry) }));

/** Returns the index of the entry that `matches`; adds one made by `make` if there is none. */
function entryIndex(step: Step, matches: (entry: Entry) => boolean, make: () => Entry): number {
  const entries = step.state.response?.entries ?? [];
  const at = entries.findIndex(matches);
  if (at !== -1) return at;
  const entry = make();
  update(step, (response) => ({ entries: [...response.entries, entry] }));
  return entries.length;
}

const entryOf = (step: Step, at: number): Entry => step.state.response?.entries[at] as Entry;

const messageIndex = (step: Step): number =>
  entryIndex(
    step,
    ({ kind }) => kind === 'message',
    () => ({ ...NEW, kind: 'message', itemId: step.newId('item') }),
  );

/** Adds text from the engine. */
export function addText(step: Step, { text }: Extract<Input, { kind: 'text' }>): void {
  const at = messageIndex(step);
  replace(step, at, { ...entryOf(step, at), text: entryOf(step, at).text + text });
  advance(step);
}

/** Starts a function call, or adds to its arguments. */
export function addCall(
  step: Step,
  { index, name, arguments: more }: Extract<Input, { kind: 'call' }>,
): void {
  const at = entryIndex(
    step,
    (entry) => entry.kind === 'call' && entry.index === index,
    () => ({ ...NEW, kind: 'call', index, itemId: step.newId('item'), callId: step.newId('call') }),
  );
  const entry = entryOf(step, at);
  replace(step, at, { ...entry, name: entry.name || name, text: entry.text + more });
  advance(step);
}

/** Starts a sentence of the voice. */
export function startSentence(step: Step, { text }: Extract<Input, { kind: 'sentence' }>): void {
  const at = messageIndex(step);
  const entry = entryOf(step, at);
  replace(step, at, { ...entry, sentences: [...entry.sentences, { text, ms: 0 }] });
}

/** Adds audio of the current sentence. */
export function addSound(step: Step, { bytes }: Extract<Input, { kind: 'sound' }>): void {
  const voice = step.state.response?.voice;
  if (!voice || bytes.length === 0) return;
  const at = messageIndex(step);
  const entry = entryOf(step, at);
  const last = entry.sentences.at(-1) ?? { text: '', ms: 0 };
  const sentences = [
    ...entry.sentences.slice(0, -1),
    { ...last, ms: last.ms + msOf(voice.format, bytes.length) },
  ];
  replace(step, at, { ...entry, sentences, sound: [...entry.sound, bytes] });
  advance(step);
}

/** Sends what can be sent: everything of the head entry, and of the next ones when it is complete. */
export function advance(step: Step): void {
  for (;;) {
    const { response } = step.state;
    const entry = response?.entries[response.head];
    if (!response || entry === undefined) return;
    if (entry.kind === 'call' && entry.name === '' && response.answered === null) return;
    if (!entry.open) open(step, response, entry);
    flush(step);
    if (!complete(response, entry)) return;
    close(step, 'completed');
  }
}

/** Returns whether an entry is complete. A call is complete when the next one begins. */
function complete({ answered, spoken, modality, entries }: ActiveResponse, entry: Entry): boolean {
  if (entry.kind === 'message') return answered !== null && (modality === 'text' || spoken !== null);
  return answered !== null || entries.some(({ kind, index }) => kind === 'call' && index > entry.index);
}

/**
 * Closes the open entry and discards those not started: the response ends here. With `spokenOnly` the item
 * keeps only spoken sentences, because the listener has not heard what the model generated beyond them.
 */
export function closeEntries(step: Step, status: ItemStatus, spokenOnly: boolean): void {
  const { response } = step.state;
  const entry = response?.entries[response.head];
  if (entry?.open) close(step, status, spokenOnly && response?.modality === 'audio');
}

const positionOf = (response: ActiveResponse, entry: Entry) => ({
  response_id: response.id,
  item_id: entry.itemId,
  output_index: response.head,
});

function open(step: Step, response: ActiveResponse, entry: Entry): void {
  const { response_id, output_index } = positionOf(response, entry);
  const empty = entryItem({ ...entry, text: '' }, response.modality, 'in_progress');
  const item = empty.type === 'message' ? { ...empty, content: [] } : empty;
  step.send('response.output_item.added', { response_id, output_index, item });
  if (response.isInConversation) addItem(step, item, null);
  if (entry.kind === 'message')
    step.send('response.content_part.added', {
      ...positionOf(response, entry),
      content_index: 0,
      part: part(response, ''),
    });
  replace(step, response.head, { ...entry, open: true });
}

const part = ({ modality }: ActiveResponse, text: string): object =>
  modality === 'text' ? { type: 'text', text } : { type: 'audio', transcript: text };

const TEXT_EVENTS = { text: 'response.output_text', audio: 'response.output_audio_transcript' } as const;

/** Sends the unsent part of the head entry. */
function flush(step: Step): void {
  const { response } = step.state;
  const entry = response?.entries[response.head];
  if (!response || !entry) return;
  const where = positionOf(response, entry);
  const delta = entry.text.slice(entry.sent);
  if (delta !== '' && entry.kind === 'call')
    step.send('response.function_call_arguments.delta', { ...where, call_id: entry.callId, delta });
  else if (delta !== '')
    step.send(`${TEXT_EVENTS[response.modality]}.delta`, { ...where, content_index: 0, delta });
  for (const bytes of entry.sound)
    step.send('response.output_audio.delta', { ...where, content_index: 0, delta: bytes.toString('base64') });
  replace(step, response.head, { ...entry, sent: entry.text.length, sound: [] });
}

/**
 * Closes the head entry with events in the order that clients rely on. The final events contain everything
 * that was sent.
 */
function close(step: Step, status: ItemStatus, spokenOnly = false): void {
  const { response } = step.state;
  const entry = response?.entries[response.head];
  if (!response || !entry) return;
  const where = positionOf(response, entry);
  if (entry.kind === 'call') {
    const { callId: call_id, name, text } = entry;
    step.send('response.function_call_arguments.done', { ...where, call_id, name, arguments: text });
  } else closeMessage(step, response, entry);
  const finalEntry = spokenOnly && entry.kind === 'message' ? spokenOf(entry) : entry;
  const item = entryItem(finalEntry, response.modality, status);
  if (response.isInConversation) completeItem(step, item);
  const { response_id, output_index } = where;
  step.send('response.output_item.done', { response_id, output_index, item });
  update(step, ({ head, output }) => ({ head: head + 1, output: [...output, item] }));
  if (response.isInConversation && finalEntry.sentences.length > 0)
    step.set({ spokenSentences: { ...step.state.spokenSentences, [entry.itemId]: finalEntry.sentences } });
}

/** Returns the spoken part of a message: up to the last sentence with audio. */
function spokenOf(entry: Entry): Entry {
  const spoken = entry.sentences.slice(0, entry.sentences.findLastIndex(({ ms }) => ms > 0) + 1);
  return { ...entry, sentences: spoken, text: spoken.map(({ text }) => text).join('') };
}

function closeMessage(step: Step, response: ActiveResponse, entry: Entry): void {
  const where = { ...positionOf(response, entry), content_index: 0 };
  const { text } = entry;
  if (response.modality === 'text') step.send('response.output_text.done', { ...where, text });
  else {
    step.send('response.output_audio.done', where);
    step.send('response.output_audio_transcript.done', { ...where, transcript: text });
  }
  step.send('response.content_part.done', { ...where, part: part(response, text) });
}
