import { GatewayError } from '../../../contract/errors.ts';
import type { IgnoredNames } from '../../../contract/ignored.ts';
import { invalidField } from '../read-body.ts';
import { type InputItem, ITEM_TYPES, inputItem, type ResponsesBody } from './request-schema.ts';
import type { CallerMemory } from './response-memory.ts';
import { isOfProvider, typeOf } from './unreadable.ts';

/** The items of a conversation. */
export interface ResolvedInput {
  readonly items: readonly InputItem[];
  /** The number of items from `previous_response_id`, before those of the request. */
  readonly earlier: number;
  /** The items of the request. */
  readonly own: readonly InputItem[];
}

/** The fields that the schema names. */
type NamedFields = { [K in keyof ResponsesBody as string extends K ? never : K]: ResponsesBody[K] };

/** A request and its items, with references resolved. */
export type Conversation = Omit<NamedFields, 'input'> & { readonly input: ResolvedInput };

/**
 * Resolves `item_reference` and `previous_response_id` from the memory. Throws `request.unknown_reference`
 * for what the memory no longer has, and `request.invalid` for a last item of an unknown type.
 */
export function resolveInput(
  { input, previous_response_id: previous }: Pick<ResponsesBody, 'input' | 'previous_response_id'>,
  memory: CallerMemory | null,
): ResolvedInput {
  assertKnownLast(input);
  const own = input.map((item, at) =>
    item.type === 'item_reference' ? referred(memory?.item(item.id), `input.${at}.id`) : item,
  );
  if (typeof previous !== 'string') return { items: own, earlier: 0, own };
  const before = memory?.conversation(previous);
  if (before === undefined) throw unknownReference('previous_response_id');
  const items = before.map((item) => referred(item, 'previous_response_id'));
  return { items: [...items, ...own], earlier: items.length, own };
}

/** Returns the path of an item in the request. */
export const itemPath = ({ earlier }: Pick<ResolvedInput, 'earlier'>, at: number): string =>
  at < earlier ? 'previous_response_id' : `input.${at - earlier}`;

/** Names the items that are left out. */
export function nameUnreadable({ items }: ResolvedInput, ignored: IgnoredNames): void {
  for (const item of items) if (item.type === 'svc_unreadable') ignored.add(typeOf(item));
}

function referred(stored: unknown, path: string): InputItem {
  const read = stored === undefined ? undefined : inputItem.safeParse(stored);
  if (!read?.success || read.data.type === 'item_reference') throw unknownReference(path);
  return read.data;
}

function assertKnownLast(input: readonly InputItem[]): void {
  const last = input.at(-1);
  if (last?.type === 'svc_unreadable' && !isOfProvider(last))
    throw invalidField(`input.${input.length - 1}.type`, `items must be one of: ${ITEM_TYPES}`);
}

function unknownReference(path: string): GatewayError {
  const reason =
    'refers to output that is no longer in memory: send the whole conversation as input, with store: false';
  return new GatewayError('request.unknown_reference', {
    param: path,
    message: `${path}: ${reason}.`,
    details: { fields: [{ path, reason }] },
  });
}
