import { z } from 'zod';
import { SLOT_KEYS } from '../../daemon/contract/slot-keys.ts';
import { SlotFile } from '../../daemon/slots/config/slot-file.ts';
import { DEFAULTS_IN_WORDS, FILE_ONLY_KEYS } from '../../daemon/slots/config/slot-file-keys.ts';
import { row } from './markdown.ts';

/** The parts of a JSON schema that the page shows. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The permitted values of a key, in words. */
function kindOf(key: string, schema: Schema): string {
  if (SLOT_KEYS[key]?.kind === 'duration') return 'seconds, or a text such as `"15 min"`';
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(', ');
  if (schema.type === 'array') return `list of ${schema.items?.type === 'integer' ? 'numbers' : 'texts'}`;
  if (schema.type === 'object') return 'table';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'boolean') return '`true` or `false`';
  const { minimum, maximum } = schema;
  const whole = schema.type === 'integer' ? 'whole number' : 'number';
  return minimum === undefined ? whole : `${whole} ${minimum}–${maximum}`;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0);

const defaultOf = (key: string, { default: value }: Schema): string =>
  DEFAULTS_IN_WORDS[key] ?? (isEmpty(value) ? 'none' : `\`${String(value)}\``);

/** Returns the keys with their schemas; those of a sub-table as `table.key`. */
function flat(properties: Readonly<Record<string, Schema>>): [string, Schema][] {
  return Object.entries(properties).flatMap(([key, schema]) =>
    schema.properties === undefined
      ? [[key, schema] as [string, Schema]]
      : Object.entries(schema.properties).map(([name, inner]): [string, Schema] => [`${key}.${name}`, inner]),
  );
}

function line([key, schema]: [string, Schema]): string {
  const help = SLOT_KEYS[key]?.help ?? FILE_ONLY_KEYS[key] ?? '';
  const where = key in SLOT_KEYS ? 'file, API, dashboard' : 'file';
  return row(`\`${key}\``, kindOf(key, schema), defaultOf(key, schema), where, help);
}

/** Every key of a slot file, from its schema. */
export function slotFilesPage(): string {
  const { properties = {} } = z.toJSONSchema(SlotFile, { io: 'input', unrepresentable: 'any' }) as Schema;
  return `<!-- Made by npm run docs from daemon/slots/config/slot-file.ts, slot-file-keys.ts and daemon/contract/slot-keys.ts. Do not edit. -->

# Slot files

For everyone who configures slots: the keys of \`slots/NAME.toml\` in the configuration folder. The file name is the name of
the slot: \`a-z\`, \`0-9\`, \`-\` and \`_\`, at most 32 characters. Every key is optional. [Engines](../guide/engines.md) shows examples.

- A change of a running slot takes effect at its next start.
- An unknown key is ignored and reported. A wrong value means that the slot does not exist until the file is corrected; the
  log and \`GET /api/settings\` name the file, the line and the reason.
- Keys in \`voice\` belong in the table \`[voice]\`.

${row('key', 'value', 'default', 'set in', 'meaning')}
${row('---', '---', '---', '---', '---')}
${flat(properties).map(line).join('\n')}
`;
}
