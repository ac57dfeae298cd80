/** One option of the command line, for the parser, the help and the completion. */
export interface OptionRow {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly help: string;
  /** Whether every command accepts it. */
  readonly everywhere?: true;
  /** The accepted values, if they are limited. */
  readonly words?: readonly string[];
}

/** All options. */
export const OPTIONS = {
  json: { type: 'boolean', help: 'Print what the gateway answers as JSON', everywhere: true },
  url: { type: 'string', value: 'ADDRESS', help: 'Address of the gateway, else SVC_URL', everywhere: true },
  help: { type: 'boolean', short: 'h', help: 'Print the help of a command', everywhere: true },
  version: { type: 'boolean', help: 'Print the version of svcctl', everywhere: true },
  wide: { type: 'boolean', help: 'Do not truncate columns to the terminal width' },
  evidence: {
    type: 'boolean',
    help: 'Also show which probe found what, and what is unknown',
  },
  quiet: { type: 'boolean', short: 'q', help: 'Print names only' },
  force: { type: 'boolean', help: 'Skip confirmation and overwrite existing files' },
  model: { type: 'string', value: 'ID', help: 'Name or id of a model' },
  path: { type: 'string', value: 'PATH', help: 'Route of the request, else chat completions' },
  output: { type: 'string', short: 'o', value: 'FILE', help: 'File to write' },
  voice: { type: 'string', value: 'NAME', help: 'Voice, else that of the slot' },
  format: { type: 'string', value: 'FORMAT', help: 'Format of the audio or the transcript' },
  language: { type: 'string', value: 'CODE', help: 'Language that is spoken, such as en' },
  size: { type: 'string', value: 'WxH', help: 'Size of the image, else that of the model' },
  projector: {
    type: 'boolean',
    help: 'Also download the vision projector, if any',
  },
  revision: { type: 'string', value: 'REV', help: 'Branch, tag or commit, else the main branch' },
  'with-keys': { type: 'boolean', help: 'Include the keys' },
  'self-test': { type: 'boolean', help: 'Also test the built-in engine with a chat' },
  once: { type: 'boolean', help: 'Do not write the model into the slot file' },
  wait: { type: 'boolean', help: 'Wait for the outcome; this is the default' },
  'no-wait': { type: 'boolean', help: 'Return as soon as the action has started' },
  follow: { type: 'boolean', short: 'f', help: 'Follow new lines until Ctrl-C' },
  lines: { type: 'string', short: 'n', value: 'N', help: 'Number of past lines, at most 1000' },
  level: {
    type: 'string',
    value: 'LEVEL',
    help: 'Least severe level to show',
    words: ['debug', 'info', 'warn', 'error'],
  },
  days: { type: 'string', value: 'N', help: 'Days back, today included, at most 366' },
  state: { type: 'string', value: 'STATE', help: 'running or done', words: ['running', 'done'] },
  limit: { type: 'string', value: 'N', help: 'Rows at most, up to 1000' },
  before: { type: 'string', value: 'ID', help: 'Only those before this request' },
} as const satisfies Record<string, OptionRow>;

export type OptionName = keyof typeof OPTIONS;

/** The row of an option, without what is particular to it. */
export const optionRow = (name: OptionName): OptionRow => OPTIONS[name];

type ValueOf<R> = R extends { type: 'boolean' } ? boolean : string | undefined;

/** The given options: false or undefined for those that are absent. */
export type Flags = { readonly [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> };

/** `-n, --lines N`, as the help and the manual show it. */
export function optionUsage(name: OptionName): string {
  const { short, value } = optionRow(name);
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}

/** Returns the options of a command, its own first. */
export const optionsOf = (own: readonly OptionName[] = []): OptionName[] => {
  const everywhere = (Object.keys(OPTIONS) as OptionName[]).filter((name) => optionRow(name).everywhere);
  return [...own, ...everywhere];
};
