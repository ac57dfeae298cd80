import { expect } from 'vitest';
import { asList, asObject, type Json } from '../dialects/json.ts';
import { MESSAGES, RESPONSES } from './dialects.ts';

/** The texts and calls of a message, without generated ids. */
export interface Content {
  text: string;
  reasoning: string;
  calls: { id: string; name: string; args: unknown }[];
}
/** Ids that the gateway made are different in each answer. */
const withoutMadeIds = <T extends { id: string }>(call: T): T =>
  /^call_[0-9a-f]{32}$/.test(call.id) ? { ...call, id: 'call_made' } : call;

const byId = (content: Content): Content => ({
  ...content,
  calls: content.calls.map(withoutMadeIds).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

/** Reads a message as a client of the Messages API does. Checks that blocks follow each other. */
export function messageOf(events: readonly Json[]): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  let open: { index: number; args: string; call: Content['calls'][number] | null } | null = null;
  let blocks = 0;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      expect(open).toBeNull();
      expect(event.index).toBe(blocks++);
      const { type, id, name } = event.content_block as Json;
      const call = type === 'tool_use' ? { id: String(id), name: String(name), args: {} as unknown } : null;
      if (call) content.calls.push(call);
      open = { index: event.index as number, args: '', call };
    } else if (event.type === 'content_block_delta') {
      expect(open?.index).toBe(event.index);
      const delta = event.delta as Record<string, string>;
      content.text += delta.text ?? '';
      content.reasoning += delta.thinking ?? '';
      if (open) open.args += delta.partial_json ?? '';
    } else if (event.type === 'content_block_stop') {
      if (open?.call && open.args.trim() !== '') open.call.args = JSON.parse(open.args);
      open = null;
    }
  }
  expect(events.at(-1)?.type).toBe('message_stop');
  return byId(content);
}

/** Reads a response as a client of the Responses API does. Checks that items follow each other. */
export function responseOf(events: readonly Json[]): Content {
  let open: unknown = null;
  const deltas = new Map<unknown, string>();
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      expect(open).toBeNull();
      open = event.output_index;
    } else if (event.type === 'response.output_item.done') {
      expect(event.output_index).toBe(open);
      open = null;
      const { type, id, arguments: text } = event.item as Json;
      if (type === 'function_call') expect(deltas.get(id)).toBe(text);
    } else if (event.type === 'response.function_call_arguments.delta') {
      expect(event.output_index).toBe(open);
      deltas.set(event.item_id, (deltas.get(event.item_id) ?? '') + String(event.delta));
    }
  }
  const last = events.at(-1);
  expect(last?.type).toBe('response.completed');
  return outputOf(asList(asObject(last?.response)?.output));
}

export function outputOf(output: readonly unknown[]): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  for (const item of output as Record<string, string>[]) {
    if (item.type === 'function_call')
      content.calls.push({
        id: item.call_id ?? '',
        name: item.name ?? '',
        args: JSON.parse(item.arguments ?? ''),
      });
    for (const part of asList(item.content) as Record<string, string>[])
      content[item.type === 'reasoning' ? 'reasoning' : 'text'] += part.text ?? '';
  }
  return byId(content);
}

export function blocksOf(message: Json): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  for (const block of asList(message.content) as Record<string, string>[]) {
    content.text += block.text ?? '';
    content.reasoning += block.thinking ?? '';
    if (block.type === 'tool_use')
      content.calls.push({ id: block.id ?? '', name: block.name ?? '', args: asObject(block.input) });
  }
  return byId(content);
}

/** Reads the events of a stream. */
export const READERS = { [RESPONSES]: responseOf, [MESSAGES]: messageOf } as const;
