import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, type Json } from '../dialects/json.ts';
import { invalidField } from '../dialects/read-body.ts';
import { type BodyIndex, scanBody } from '../rewrite/body-index.ts';
import { wantsOmni } from '../rewrite/omni.ts';

/** A chat that opted into the tool loop. */
export interface OmniRequest {
  /** What each round asks with, beside messages and tools. */
  readonly base: Json;
  readonly messages: readonly Json[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Tools of the caller, as sent; their calls go back to it. */
  readonly tools: readonly unknown[];
  readonly names: ReadonlySet<string>;
  readonly choice: unknown;
  readonly model: string | null;
}

/** Where the parts of a chat lie; null for a body that can't be read: whoever serves it says why. */
export function tryScanBody(body: Buffer): BodyIndex | null {
  try {
    return scanBody(body);
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The chat, or null for one that did not opt in. Throws `request.invalid`. */
export function parseOmniRequest(body: Buffer, index: BodyIndex): OmniRequest | null {
  if (!wantsOmni(index)) return null;
  const chat = asObject(JSON.parse(body.toString('utf8'))) ?? {};
  if (!Array.isArray(chat.messages)) throw invalidField('messages', 'must be an array');
  if (typeof chat.n === 'number' && chat.n > 1) throw invalidField('n', 'must be 1 with omni');
  const { omni: _, messages, tools, tool_choice, stream, stream_options, ...base } = chat;
  const own = asList(tools);
  return {
    base,
    messages: chat.messages.map((each) => asObject(each) ?? invalidMessage()),
    stream: stream === true,
    includeUsage: asObject(stream_options)?.include_usage === true,
    tools: own,
    names: new Set(own.map((tool) => String(asObject(asObject(tool)?.function)?.name ?? ''))),
    choice: tool_choice,
    model: typeof chat.model === 'string' && chat.model.trim() !== '' ? chat.model : null,
  };
}

function invalidMessage(): never {
  throw invalidField('messages', 'must hold objects');
}
