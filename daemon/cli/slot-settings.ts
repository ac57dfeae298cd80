import { SLOT_KEYS, type SlotKeyKind } from '../contract/slot-keys.ts';
import { suggestions } from '../lib/text/suggestions.ts';
import { truncate } from '../lib/text/truncate.ts';
import { CliError, EXIT } from './exit-codes.ts';

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

const notASetting = () => new CliError('a setting has the form KEY=VALUE, such as context=8192', EXIT.usage);

/**
 * Converts a value to the type of its key. Text that does not fit is sent as it is, so that the gateway
 * reports the error.
 */
function typed(text: string, kind: SlotKeyKind): unknown {
  if (kind === 'flag') return FLAGS[text.toLowerCase()] ?? text;
  if ((kind === 'number' || kind === 'duration') && NUMBER.test(text)) return Number(text);
  return text;
}

/** Keys that a slot file may have and no request sets. The gateway says so. */
const FILE_KEYS: ReadonlySet<string> = new Set([
  ...['runner', 'batch', 'extra_args', 'env', 'command', 'health', 'image', 'pull', 'port', 'url', 'key_env'],
  'dimensions',
]);

/** Returns the error for a key that no slot has, with those that it may mean. */
function unknownKey(key: string): CliError {
  const known = Object.keys(SLOT_KEYS);
  const near = suggestions(key, known);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Settings: ${known.join(', ')}.`;
  return new CliError(`there is no setting "${truncate(key, 64)}". ${hint}`, EXIT.usage);
}

/**
 * Converts `KEY=VALUE …` to the body of a slot change. `KEY=` removes the key from the slot file. Keys that only
 * the file may have are sent too, so that the gateway refuses them. Throws CliError for another form, for an unknown
 * key and for no setting.
 */
export function slotSettings(words: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  if (words.length === 0) throw notASetting();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals < 1) throw notASetting();
    const [key, text] = [word.slice(0, equals), word.slice(equals + 1)];
    if (!Object.hasOwn(SLOT_KEYS, key) && !FILE_KEYS.has(key.split('.')[0] ?? key)) throw unknownKey(key);
    const value = text === '' ? null : typed(text, SLOT_KEYS[key]?.kind ?? 'text');
    const [outer = '', inner] = key.split('.', 2);
    if (inner === undefined) body[outer] = value;
    else body[outer] = { ...(body[outer] as object | undefined), [inner]: value };
  }
  return body;
}
