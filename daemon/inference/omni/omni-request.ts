import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, type Json } from '../dialects/json.ts';
import { invalidField } from '../dialects/read-body.ts';
import { type BodyIndex, scanBody } from '../rewrite/body-index.ts';
import { wantsOmni } from '../rewrite/omni.ts';

/** A chat that opted into the tool loop. */
export interface OmniRequest {
  /** The common fields of each round, in addition to messages and tools. */
  readonly base: Json;
  readonly messages: readonly Json[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Tools of the caller, as sent; their calls are returned to the caller. */
  readonly tools: readonly unknown[];
  readonly names: ReadonlySet<string>;
  readonly choice: unknown;
  readonly model: string | null;
}

/** Returns the index of a chat body; null for an unreadable body, which its task reports. */
export function tryScanBody(body: Buffer): BodyIndex | null {
  try {
    return scanBody(body);
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** Parses the chat; null without opt-in. Throws `request.invalid`. */
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
  throw invalidField('messages', 'must contain objects');
}
