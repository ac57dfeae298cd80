import type { Range } from '../../lib/json/byte-scanner.ts';
import type { OutboundBody, StoredBody } from '../../lib/net/outbound.ts';
import { SlabAllocator } from '../../lib/perf/slab-allocator.ts';
import type { BodyIndex, Member } from './body-index.ts';

type List = 'fields' | 'messages';

/** One change to a body in terms of its index. All offsets refer to the original bytes. */
export type Edit =
  | { readonly do: 'remove'; readonly list: List; readonly member: Member }
  | { readonly do: 'replace'; readonly at: Range; readonly with: string }
  /** Inserts a first member: `"name":value` among the fields, a value among the messages. */
  | { readonly do: 'insert'; readonly list: List; readonly text: string };

/** The result of most rules for most bodies. */
export const NO_EDITS: readonly Edit[] = Object.freeze([]);

export const remove = (list: List, member: Member): Edit => ({ do: 'remove', list, member });
export const replace = (at: Range, text: string): Edit => ({ do: 'replace', at, with: text });
export const insert = (list: List, text: string): Edit => ({ do: 'insert', list, text });
/** Inserts a first field. */
export const insertField = (name: string, value: unknown): Edit =>
  insert('fields', `${JSON.stringify(name)}:${JSON.stringify(value)}`);

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The parts of a longer body are not joined, which would copy megabytes. */
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * Applies the edits. Every byte outside them stays unchanged; without edits, returns the same Buffer. Edits
 * must not overlap.
 */
export function render(index: BodyIndex, edits: readonly Edit[]): Exclude<OutboundBody, StoredBody> {
  if (edits.length === 0) return index.bytes;
  const splices = replacements(edits);
  if (splices.length < edits.length) {
    splices.push(
      ...listSplices(edits, 'fields', index.open, index.members),
      ...listSplices(edits, 'messages', index.messagesOpen, index.messages.length),
    );
  }
  if (splices.length > 1) splices.sort((a, b) => a.start - b.start || a.end - b.end);
  return index.bytes.length > MAX_JOINED_BYTES ? inParts(index.bytes, splices) : joined(index.bytes, splices);
}

function inParts(bytes: Buffer, splices: readonly Splice[]): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of splices) {
    if (start < at) throw overlap();
    if (start > at) parts.push(bytes.subarray(at, start));
    if (text !== '') parts.push(Buffer.from(text));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return parts;
}

/** A sent body is held until its response has ended. */
const bodies = new SlabAllocator();

function joined(bytes: Buffer, splices: readonly Splice[]): Buffer {
  let { length } = bytes;
  for (const { start, end, text } of splices) length += Buffer.byteLength(text) - (end - start);
  const out = bodies.allocate(length);
  let [from, to] = [0, 0];
  for (const { start, end, text } of splices) {
    if (start < from) throw overlap();
    to += bytes.copy(out, to, from, start);
    to += out.write(text, to);
    from = end;
  }
  bytes.copy(out, to, from);
  return out;
}

const overlap = (): Error => new Error('edits of a body overlap');

function replacements(edits: readonly Edit[]): Splice[] {
  const splices: Splice[] = [];
  for (const edit of edits) {
    if (edit.do === 'replace') splices.push({ start: edit.at.start, end: edit.at.end, text: edit.with });
  }
  return splices;
}

/** Converts insertions and removals of one list to splices with the right commas. */
function listSplices(edits: readonly Edit[], list: List, open: number, count: number): Splice[] {
  const texts: string[] = [];
  const removed = new Map<number, Member>();
  for (const edit of edits) {
    if (edit.do === 'insert' && edit.list === list) texts.push(edit.text);
    if (edit.do === 'remove' && edit.list === list) removed.set(edit.member.index, edit.member);
  }
  const splices = removals(removed, count);
  if (texts.length > 0) {
    splices.push({ start: open, end: open, text: texts.join(',') + (removed.size < count ? ',' : '') });
  }
  return splices;
}

/**
 * A removed member takes one comma with it: the one before it, or the one after it when no remaining member
 * precedes it.
 */
function removals(removed: ReadonlyMap<number, Member>, count: number): Splice[] {
  let firstRemaining = 0;
  while (removed.has(firstRemaining)) firstRemaining++;
  return [...removed.values()].map(({ index, before, after }) => {
    if (index > firstRemaining) return { start: before - 1, end: after, text: '' };
    return { start: before, end: index < count - 1 ? after + 1 : after, text: '' };
  });
}
