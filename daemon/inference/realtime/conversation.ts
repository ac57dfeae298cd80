import type { ClientEvent } from '../../contract/realtime.ts';
import { clientError } from './client-event.ts';
import { addItem, completeItem, dropItem, tooLong, transcribeItem } from './item-list.ts';
import { type Item, itemFrom, replaceItem, spokenUntil, transcribedItem } from './items.ts';
import { entryAt, finishResponse, onItemFailed, onItemTranscribed } from './response.ts';
import type { Input, Step } from './step.ts';

export function createItem(step: Step, event: ClientEvent<'conversation.item.create'>) {
  const { item: input, event_id = null } = event;
  const refuse = (code: string, message: string, param: string) =>
    step.error(clientError(code, message, { param, event_id }));
  if (step.state.items.some(({ id }) => id === input.id))
    return refuse('item_create_duplicate_id', 'There is an item with this id.', 'item.id');
  const { item, sound } = itemFrom(input, input.id ?? step.newId('item'), step.newId('call'));
  if (tooLong([...step.state.items, item]))
    return refuse('conversation_too_large', 'The conversation is too long; delete items first.', 'item');
  if (!addItem(step, item, event.previous_item_id ?? null))
    return refuse(
      'item_create_invalid_previous_item_id',
      'There is no item with this id.',
      'previous_item_id',
    );
  completeItem(step, item);
  if (sound !== null) transcribeItem(step, item.id, sound);
}

const findItem = (step: Step, id: string) => step.state.items.find((item) => item.id === id);

function notFound(step: Step, verb: string, event_id: string | undefined) {
  const error = { param: 'item_id', event_id: event_id ?? null };
  step.error(clientError(`item_${verb}_invalid_item_id`, 'There is no item with this id.', error));
}

export function retrieveItem(step: Step, { item_id, event_id }: ClientEvent<'conversation.item.retrieve'>) {
  const item = findItem(step, item_id);
  if (item === undefined) return notFound(step, 'retrieve', event_id);
  step.send('conversation.item.retrieved', { item });
}

export function deleteItem(step: Step, { item_id, event_id }: ClientEvent<'conversation.item.delete'>) {
  const item = findItem(step, item_id);
  if (item === undefined) return notFound(step, 'delete', event_id);
  if (entryAt(step, item_id) !== undefined) {
    const error = { param: 'item_id', event_id: event_id ?? null };
    return step.error(
      clientError('item_delete_in_progress', 'The item is being made; cancel the response first.', error),
    );
  }
  dropItem(step, item);
  step.set({ transcribing: step.state.transcribing.filter((id) => id !== item_id) });
  onItemTranscribed(step, item_id, null);
}

/**
 * Truncates a response to what the listener has heard, so that the model does not assume that the rest was
 * heard.
 */
export function truncateItem(step: Step, event: ClientEvent<'conversation.item.truncate'>) {
  const { item_id, event_id, content_index, audio_end_ms } = event;
  const refuse = (message: string, param: string) =>
    step.error(clientError('invalid_value', message, { param, event_id: event_id ?? null }));
  if (findItem(step, item_id) === undefined) return notFound(step, 'truncate', event_id);
  if (entryAt(step, item_id) !== undefined)
    finishResponse(step, { status: 'cancelled', details: CLIENT_CANCELLED });
  const item = findItem(step, item_id);
  const part = item?.type === 'message' ? item.content[content_index] : undefined;
  if (item?.type !== 'message' || part?.type !== 'output_audio')
    return refuse('Only spoken answers can be truncated.', part === undefined ? 'content_index' : 'item_id');
  const spoken = step.state.spokenSentences[item_id] ?? [];
  const total = spoken.reduce((sum, { ms }) => sum + ms, 0);
  if (audio_end_ms > Math.ceil(total))
    return refuse(`The sound of this item is only ${Math.ceil(total)} ms long.`, 'audio_end_ms');
  const transcript = spokenUntil(spoken, audio_end_ms);
  const content = item.content.toSpliced(content_index, 1, { type: 'output_audio', transcript });
  step.set({
    items: replaceItem(step.state.items, { ...item, content }),
    spokenSentences: { ...step.state.spokenSentences, [item_id]: [{ text: transcript, ms: audio_end_ms }] },
  });
  step.send('conversation.item.truncated', { item_id, content_index, audio_end_ms });
}

const CLIENT_CANCELLED = { type: 'cancelled', reason: 'client_cancelled' };

/** Handles the transcript of an item. Sessions without transcription emit no event. */
export function onTranscribed(
  step: Step,
  { item: id, text, seconds, ms }: Extract<Input, { kind: 'transcribed' }>,
): void {
  const item = finishTranscribing(step, id);
  if (item === undefined) return;
  step.set({ items: replaceItem(step.state.items, transcribedItem(item, text)) });
  if (step.state.config.input.transcription !== null) {
    const at = { item_id: id, content_index: soundIndex(item) };
    if (text !== '') step.send('conversation.item.input_audio_transcription.delta', { ...at, delta: text });
    step.send('conversation.item.input_audio_transcription.completed', {
      ...at,
      transcript: text,
      usage: { type: 'duration', seconds },
    });
  }
  onItemTranscribed(step, id, ms);
}

export function onTranscriptionFailed(
  step: Step,
  { item: id, error }: Extract<Input, { kind: 'transcription_failed' }>,
): void {
  const item = finishTranscribing(step, id);
  if (item === undefined) return;
  step.set({ items: replaceItem(step.state.items, transcribedItem(item, '')) });
  step.send('conversation.item.input_audio_transcription.failed', {
    item_id: id,
    content_index: soundIndex(item),
    error: { type: error.type ?? 'server_error', code: error.code, message: error.message, param: null },
  });
  onItemFailed(step, id, error);
}

/** Returns the item that was being transcribed; undefined when it was deleted meanwhile. */
function finishTranscribing(step: Step, id: string): Item | undefined {
  if (!step.state.transcribing.includes(id)) return undefined;
  step.set({ transcribing: step.state.transcribing.filter((each) => each !== id) });
  return findItem(step, id);
}

const soundIndex = (item: Item): number =>
  item.type === 'message'
    ? Math.max(
        0,
        item.content.findIndex(({ type }) => type === 'input_audio'),
      )
    : 0;
