import { SLOT_KEYS, type SlotKeyKind } from '../../../daemon/contract/slot-keys.ts';
import { type SlotSettingsView, SlotType } from '../../../daemon/contract/slots.ts';
import { type Draft, type FieldKind, type FieldRow, textOf } from '../../ui/form/draft.ts';

const LABELS: Readonly<Record<string, string>> = {
  enabled: 'Enabled',
  type: 'Type',
  engine: 'Engine',
  model: 'Model',
  device: 'Device',
  context: 'Context',
  parallel: 'Parallel requests',
  autoload: 'Load at start',
  pinned: 'Pinned',
  priority: 'Priority',
  idle_unload: 'Unload when idle',
  enable_thinking: 'Reasoning',
  'voice.voice': 'Voice',
  'voice.speed': 'Speech speed',
  'voice.response_format': 'Audio format',
};
const KINDS: Record<SlotKeyKind, FieldKind> = {
  flag: 'flag',
  number: 'number',
  text: 'text',
  duration: 'duration',
};
/** Fields that are always shown; the others are under "More settings". */
const FIRST: ReadonlySet<string> = new Set(['model', 'type', 'device', 'context', 'parallel', 'autoload']);
const NAME: FieldRow = {
  key: 'name',
  label: 'Name',
  kind: 'text',
  help: 'a-z, 0-9, - and _, at most 32; clients may use it as a model name',
  required: true,
  placeholder: 'such as writer',
};

/** Form fields of a slot, built from the key table of the daemon. */
export function slotRows(models: readonly string[], create: boolean): { rows: FieldRow[]; more: FieldRow[] } {
  const all = Object.entries(SLOT_KEYS).map(([key, { kind, help }]): FieldRow => {
    const row = { key, label: LABELS[key] ?? key, help, kind: KINDS[kind] };
    if (key === 'type') return { ...row, kind: 'choice', choices: SlotType.options, help: 'Kind of model' };
    if (key === 'model') return { ...row, suggestions: models };
    return row;
  });
  const first = all.filter(({ key }) => FIRST.has(key));
  return {
    rows: [...(create ? [NAME] : []), ...first],
    more: all.filter(({ key }) => !FIRST.has(key)),
  };
}

type Setting = SlotSettingsView['settings'][number];

const ORIGINS: Record<Setting['from'], string> = {
  file: 'from the file',
  default: 'default',
  automatic: 'chosen automatically',
  swap: 'set by a swap, until restart',
  model: 'from the model file',
};

/** Formats seconds as in a slot file. */
export const spanText = (seconds: number): string =>
  seconds > 0 && seconds % 60 === 0 ? `${seconds / 60} min` : String(seconds);

const valueText = ({ key, value }: Setting): string =>
  key === 'idle_unload' && typeof value === 'number' ? spanText(value) : textOf(value);

/** The current settings of the slot as field values. */
export const slotBaseline = ({ settings }: SlotSettingsView): Draft =>
  Object.fromEntries(
    settings.filter(({ editable }) => editable).map((setting) => [setting.key, valueText(setting)]),
  );

/** Adds the source of each value to the fields. */
export const withOrigins = (rows: readonly FieldRow[], { settings }: SlotSettingsView): FieldRow[] =>
  rows.map((row) => {
    const setting = settings.find(({ key }) => key === row.key);
    return setting === undefined ? row : { ...row, origin: ORIGINS[setting.from] };
  });

/** Settings that only the file can set and that it does set, read-only. */
export const fileOnly = ({ settings }: SlotSettingsView): [key: string, value: string][] =>
  settings
    .filter(({ editable, from }) => !editable && from === 'file')
    .map(({ key, value }) => [key, Array.isArray(value) ? value.join(' ') : textOf(value)]);

/** Defaults of requests that the model file recommends, read-only. */
export const ofModel = ({ settings }: SlotSettingsView): [key: string, value: string][] =>
  settings
    .filter(({ from }) => from === 'model')
    .map(({ key, value }) => [key.replace(/^sampling\./, ''), textOf(value)]);
