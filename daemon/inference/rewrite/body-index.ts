import { GatewayError } from '../../contract/errors.ts';
import { invalidRequest } from '../../contract/invalid-request.ts';
import {
  type ArrayVisitor,
  ByteScanner,
  type JsonKind,
  type ObjectVisitor,
  type Range,
  stringAt,
} from '../../lib/json/byte-scanner.ts';
import { MAX_FIELD_CHARS } from '../../settings/name-tables.ts';

/** The top-level fields that the gateway reads; others are never changed. */
const GENERAL_FIELDS = [
  'model',
  'stream',
  'omni',
  'enable_thinking',
  'chat_template_kwargs',
  'messages',
  'stream_options',
  'n',
] as const;
/** The fields for a chat that was translated from another API. */
const TRANSLATED_FIELDS = [...GENERAL_FIELDS, 'max_tokens', 'reasoning_effort', 'tools'] as const;
/** The fields for speech. */
const SPEECH_FIELDS = ['model', 'input', 'voice', 'speed', 'response_format', 'stream_format'] as const;
/** The fields for embeddings. */
const EMBEDDING_FIELDS = ['model', 'input', 'encoding_format', 'dimensions'] as const;
export type WantedField =
  | (typeof TRANSLATED_FIELDS)[number]
  | (typeof SPEECH_FIELDS)[number]
  | (typeof EMBEDDING_FIELDS)[number];

/** Maximum number of messages in one body. */
const MAX_MESSAGES = 100_000;

/** One member of an object or element of an array, including its white space. */
export interface Member {
  /** Index among its siblings. */
  readonly index: number;
  /** Offset after the delimiter before it. */
  readonly before: number;
  readonly value: Range;
  readonly kind: JsonKind;
  /** Offset of the delimiter after it. */
  readonly after: number;
}

export interface Field extends Member {
  readonly name: WantedField;
}

export interface Message extends Member {
  /** The role if it is a string; the last one of duplicates, as parsers do. */
  readonly role: string | null;
  /** The range of the role's value. */
  readonly roleAt: Range | null;
  /** More than one `role`: parsers may disagree. */
  readonly isAmbiguous: boolean;
  /** The content is a list of parts. */
  readonly hasParts: boolean;
}

/** The byte ranges of the parts of a request body; copies no text. */
export interface BodyIndex {
  readonly bytes: Buffer;
  /** Offset after the opening brace, and the number of members. */
  readonly open: number;
  readonly members: number;
  /** Every occurrence of a wanted field, in order. */
  readonly fields: readonly Field[];
  readonly messages: readonly Message[];
  /** Offset after the opening bracket of `messages`. */
  readonly messagesOpen: number;
}

/**
 * Finds the wanted fields and each message's role in one linear walk.
 * Throws `request.invalid_json` for a body that is no JSON and `request.invalid` for one that is no object.
 */
export function scanBody(bytes: Buffer, wanted: WantedNames = GENERAL_NAMES): BodyIndex {
  const scanner = new ByteScanner(bytes);
  if (scanner.kind() !== 'object') {
    scanner.value();
    scanner.end();
    throw invalid('', 'must be an object');
  }
  const open = scanner.at + 1;
  const top = new TopLevel(scanner, wanted);
  scanner.object(top);
  scanner.end();
  const { members, fields, messageList } = top;
  return { bytes, open, members, fields, messages: messageList.messages, messagesOpen: messageList.open };
}

/** Collects the wanted fields of a body. */
class TopLevel implements ObjectVisitor {
  readonly fields: Field[] = [];
  members = 0;
  messageList: MessageList = { messages: [], open: 0 };
  readonly #scanner: ByteScanner;
  readonly #wanted: WantedNames;

  constructor(scanner: ByteScanner, wanted: WantedNames) {
    this.#scanner = scanner;
    this.#wanted = wanted;
  }

  member(before: number, keyStart: number, keyEnd: number): void {
    const scanner = this.#scanner;
    const index = this.members++;
    const name = wantedName(scanner.bytes, keyStart, keyEnd, this.#wanted);
    if (name === null) {
      scanner.value();
      return;
    }
    const start = scanner.at;
    const kind = scanner.kind();
    if (name === 'messages') this.messageList = { messages: [], open: 0 };
    if (name === 'messages' && kind === 'array') this.messageList = messagesOf(scanner);
    else scanner.value();
    this.fields.push({
      name,
      index,
      before,
      kind,
      value: { start, end: scanner.at },
      after: delimiter(scanner),
    });
  }
}

interface MessageList {
  readonly messages: Message[];
  readonly open: number;
}

function messagesOf(scanner: ByteScanner): MessageList {
  const open = scanner.at + 1;
  const { messages } = new MessageScanner(scanner).scan();
  return { messages, open };
}

/** Collects the messages of a body. */
class MessageScanner implements ArrayVisitor, ObjectVisitor {
  readonly messages: Message[] = [];
  readonly #scanner: ByteScanner;
  /** For the current message: the number of roles, and the range of the last one. */
  #roles = 0;
  #roleAt: Range | null = null;
  #hasParts = false;

  constructor(scanner: ByteScanner) {
    this.#scanner = scanner;
  }

  scan(): this {
    this.#scanner.array(this);
    return this;
  }

  element(before: number): void {
    const scanner = this.#scanner;
    const start = scanner.at;
    const kind = scanner.kind();
    this.#roles = 0;
    this.#roleAt = null;
    this.#hasParts = false;
    if (kind === 'object') scanner.object(this);
    else scanner.value();
    const value = { start, end: scanner.at };
    const roleAt = this.#roleAt;
    this.messages.push({
      index: this.messages.length,
      before,
      kind,
      value,
      roleAt,
      role: roleAt && roleOf(scanner.bytes, roleAt),
      isAmbiguous: this.#roles > 1,
      hasParts: this.#hasParts,
      after: delimiter(scanner),
    });
    if (this.messages.length > MAX_MESSAGES) throw new GatewayError('request.invalid_json');
  }

  member(_: number, keyStart: number, keyEnd: number): void {
    const scanner = this.#scanner;
    const name = nameAt(scanner.bytes, keyStart, keyEnd, MESSAGE_NAMES);
    const start = scanner.at;
    const kind = scanner.value();
    if (name === 'content') this.#hasParts = kind === 'array';
    if (kind !== 'string' || name !== 'role') return;
    this.#roles++;
    this.#roleAt = { start, end: scanner.at };
  }
}

/** Returns the offset of the delimiter after the value just consumed. */
function delimiter(scanner: ByteScanner): number {
  scanner.space();
  return scanner.at;
}

/** Names to search for, by length. */
export type WantedNames = ReadonlyMap<number, readonly EncodedName[]>;

interface EncodedName {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Returns names in the form that `scanBody` searches for. */
export function namesByLength(names: readonly string[]): WantedNames {
  const byLength = new Map<number, EncodedName[]>();
  for (const name of names) {
    const others = byLength.get(name.length) ?? [];
    byLength.set(name.length, [...others, { name, bytes: Buffer.from(name) }]);
  }
  return byLength;
}

const GENERAL_NAMES = namesByLength(GENERAL_FIELDS);
export const TRANSLATED_NAMES = namesByLength(TRANSLATED_FIELDS);
export const SPEECH_NAMES = namesByLength(SPEECH_FIELDS);
export const EMBEDDING_NAMES = namesByLength(EMBEDDING_FIELDS);
const MESSAGE_NAMES = namesByLength(['role', 'content']);
/** Roles that are recognised without creating a string. */
const ROLES = namesByLength(['system', 'developer', 'user', 'assistant', 'tool']);
/** Maximum length of a key that can spell a wanted name: every letter as a \u escape. */
const MAX_KEY_BYTES = MAX_FIELD_CHARS * 6;

function wantedName(bytes: Buffer, start: number, end: number, wanted: WantedNames): WantedField | null {
  return nameAt(bytes, start, end, wanted) as WantedField | null;
}

/** Returns the wanted name that a key (quotes included) spells, also with escapes; null for all others. */
function nameAt(bytes: Buffer, start: number, end: number, wanted: WantedNames): string | null {
  const length = end - start - 2;
  if (length > MAX_KEY_BYTES) return null;
  const plain = matchAt(bytes, start + 1, wanted.get(length));
  if (plain !== null) return plain;
  for (let at = start + 1; at < end - 1; at++) {
    if (bytes[at] !== 0x5c) continue;
    const name = stringAt(bytes, { start, end });
    return wanted.get(name.length)?.some((each) => each.name === name) ? name : null;
  }
  return null;
}

/** Returns the name that is at `from`, compared byte by byte. */
function matchAt(bytes: Buffer, from: number, names: readonly EncodedName[] | undefined): string | null {
  if (names === undefined) return null;
  for (const { name, bytes: letters } of names) {
    let same = 0;
    while (same < letters.length && bytes[from + same] === letters[same]) same++;
    if (same === letters.length) return name;
  }
  return null;
}

/** Returns the text of a role (quotes included in its range). */
const roleOf = (bytes: Buffer, at: Range): string =>
  matchAt(bytes, at.start + 1, ROLES.get(at.end - at.start - 2)) ?? stringAt(bytes, at);

/** Returns the effective occurrence of a field: the last one, as `JSON.parse` does. */
export function fieldOf(index: BodyIndex, name: WantedField): Field | undefined {
  const { fields } = index;
  for (let at = fields.length - 1; at >= 0; at--) if (fields[at]?.name === name) return fields[at];
  return undefined;
}

/**
 * Maximum bytes of `model`. Real names are far shorter, and searching for a huge one would block the event
 * loop.
 */
const MAX_MODEL_BYTES = 65_536;

/** Throws `request.invalid` for a model above the limit. */
export function assertModelLength(bytes: number): void {
  if (bytes > MAX_MODEL_BYTES) throw invalid('model', `must be at most ${MAX_MODEL_BYTES} bytes long`);
}

/**
 * Returns the value of `model`: null when absent, `null` or blank. Throws `request.invalid` for a value that
 * is not a string or exceeds the limit.
 */
export function modelOf(index: BodyIndex): string | null {
  const field = fieldOf(index, 'model');
  if (field === undefined || field.kind === 'null') return null;
  if (field.kind !== 'string') throw invalid('model', 'must be a string');
  assertModelLength(field.value.end - field.value.start);
  const text = stringAt(index.bytes, field.value);
  return text.trim() === '' ? null : text;
}

/** Returns whether the caller requests a stream; only boolean true does. */
export function wantsStream(index: BodyIndex): boolean {
  return fieldOf(index, 'stream')?.kind === 'true';
}

/** Returns the requested number of choices; 1 when it is absent or no number. */
export function choicesOf(index: BodyIndex): number {
  const field = fieldOf(index, 'n');
  if (field?.kind !== 'number') return 1;
  const value = Number(index.bytes.toString('latin1', field.value.start, field.value.end));
  return Number.isSafeInteger(value) && value > 1 ? value : 1;
}

/** Returns a 422 with one field and the reason, never its value. */
export function invalid(path: string, reason: string): GatewayError {
  return invalidRequest([{ path, reason }], { param: path || undefined });
}
