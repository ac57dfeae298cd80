import type { Json } from '../json.ts';

/** The function that a model is offered for a tool whose schema Anthropic's models know by heart. */
export interface ClientTool {
  readonly description: string;
  readonly parameters: Json;
}

const text = (description: string): Json => ({ type: 'string', description });
const line = (description: string): Json => ({ type: 'integer', description });
const range: Json = {
  type: 'array',
  items: { type: 'integer' },
  description: 'For view: first and last line, counted from 1; -1 is the last line of the file.',
};

const commands = (description: string, names: readonly string[], properties: Json): ClientTool => ({
  description,
  parameters: {
    type: 'object',
    properties: { command: { type: 'string', enum: names }, ...properties },
    required: ['command', 'path'],
  },
});

const BASH: ClientTool = {
  description: 'Runs a command in a bash session that stays open between calls, and returns its output.',
  parameters: {
    type: 'object',
    properties: {
      command: text('The command to run. Required unless restart is true.'),
      restart: { type: 'boolean', description: 'True starts a new session.' },
    },
  },
};

const FILE_FIELDS = {
  path: text('Absolute path of the file or directory.'),
  file_text: text('For create: the content of the file.'),
  old_str: text('For str_replace: the text to replace. It must occur exactly once.'),
  insert_line: line('For insert: the line after which the text is inserted; 0 is the start of the file.'),
  view_range: range,
};

const REPLACEMENT = 'For str_replace: the new text.';
const INSERTION = 'For insert: the text to insert.';
const EDITS = 'Views, creates and edits text files.';

/** The names of the fields are those that the models of each version send. */
const editor = (names: readonly string[], insertion: 'new_str' | 'insert_text'): ClientTool =>
  commands(EDITS, names, {
    ...FILE_FIELDS,
    ...(insertion === 'new_str'
      ? { new_str: text(`${REPLACEMENT} ${INSERTION}`) }
      : { new_str: text(REPLACEMENT), insert_text: text(INSERTION) }),
  });

const EDIT_COMMANDS = ['view', 'create', 'str_replace', 'insert'];

const MEMORY: ClientTool = {
  description: 'Reads and writes files below /memories, which outlast the conversation.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: [...EDIT_COMMANDS, 'delete', 'rename'] },
      ...FILE_FIELDS,
      path: text('Path of the file or directory, for example /memories/notes.md. Not used by rename.'),
      new_str: text(REPLACEMENT),
      insert_text: text(INSERTION),
      old_path: text('For rename: the present path.'),
      new_path: text('For rename: the new path.'),
    },
    required: ['command'],
  },
};

/** Types without their date. The newest version of a family also serves versions that are not listed. */
const TOOLS: readonly [type: RegExp, tool: ClientTool][] = [
  [/^bash_\d+$/, BASH],
  [/^text_editor_2024\d+$|^text_editor_20250124$/, editor([...EDIT_COMMANDS, 'undo_edit'], 'new_str')],
  [/^text_editor_20250429$/, editor(EDIT_COMMANDS, 'new_str')],
  [/^text_editor_\d+$/, editor(EDIT_COMMANDS, 'insert_text')],
  [/^memory_\d+$/, MEMORY],
];

/** Returns the function for a tool of Anthropic that the client runs; undefined for any other type. */
export const clientTool = (type: string): ClientTool | undefined =>
  TOOLS.find(([pattern]) => pattern.test(type))?.[1];
