import { createParser } from 'eventsource-parser';
import { EventReader } from '../../../daemon/inference/dialects/event-reader.ts';
import { Blotter } from '../../../daemon/inference/forward/redact-stream.ts';
import { UsageTap } from '../../../daemon/inference/forward/usage-tap.ts';
import { chunked, promise, same } from '../assert.ts';

const SECRETS = ['sk-1', 'abcab'].map((secret) => Buffer.from(secret));

function blocks(chunks: readonly Buffer[]) {
  const reader = new EventReader();
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

/** The data of the events, read by the parser of a public client. */
function theirs(text: string): string[] {
  const seen: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => seen.push(data) });
  parser.feed(text);
  return seen;
}

function blotted(chunks: readonly Buffer[]): Buffer {
  const blotter = new Blotter(SECRETS);
  return Buffer.concat([...chunks.map((chunk) => blotter.push(chunk)), blotter.end()]);
}

function usage(chunks: readonly Buffer[]) {
  const tap = new UsageTap();
  for (const chunk of chunks) tap.push(chunk);
  return tap.read();
}

/** A stream of events is read, counted and blotted alike however it is cut, and read as a public parser reads it. */
export function fuzz(data: Buffer): void {
  const { whole, chunks } = chunked(data);
  const read = blocks([whole]);
  same(blocks(chunks), read, 'a stream and the same one in pieces');
  same(usage(chunks), usage([whole]), 'its usage');
  const clean = blotted([whole]);
  same(blotted(chunks), clean, 'what is blotted out of it');
  promise(clean.length === whole.length, 'blots that change a length');
  for (const secret of SECRETS) promise(!clean.includes(secret), 'a secret that is not blotted');
  const text = new TextDecoder().decode(whole);
  // A carriage return alone ends lines for the standard and not for us: no engine writes such streams.
  if (/\r(?!\n)/.test(text)) return;
  const ours = read.flatMap((block) => ('data' in block && block.data !== '' ? [block.data] : []));
  const others = theirs(`${text}\n\n`).filter((each) => each !== '');
  same(ours, others, 'our reading and that of a public parser');
}
