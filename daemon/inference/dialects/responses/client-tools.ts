import { asList, asObject, type Json } from '../json.ts';
import type { KnownTool } from './tool-names.ts';

/** A tool whose calls have their own items and are run by the client. */
export interface ClientTool {
  /** The name of the function that the model is offered. */
  readonly name: 'local_shell' | 'shell' | 'apply_patch';
  readonly description: string;
  readonly parameters: Json;
}

const text = (description: string): Json => ({ type: 'string', description });
const whole = (description: string): Json => ({ type: 'integer', description });
const list = (description: string): Json => ({ type: 'array', items: { type: 'string' }, description });

const TOOLS: Readonly<Record<ClientTool['name'], ClientTool>> = {
  local_shell: {
    name: 'local_shell',
    description: 'Runs one command on the computer of the user and returns its output.',
    parameters: {
      type: 'object',
      properties: {
        command: list('The program and its arguments, for example ["bash", "-lc", "ls"].'),
        working_directory: text('The folder in which the command runs.'),
        timeout_ms: whole('Time limit in milliseconds.'),
      },
      required: ['command'],
    },
  },
  shell: {
    name: 'shell',
    description: 'Runs shell commands on the computer of the user and returns their output.',
    parameters: {
      type: 'object',
      properties: {
        commands: list('Shell commands. Each runs by itself.'),
        timeout_ms: whole('Time limit of all commands in milliseconds.'),
        max_output_length: whole('Maximum characters of output.'),
      },
      required: ['commands'],
    },
  },
  apply_patch: {
    name: 'apply_patch',
    description: 'Creates, updates or deletes one file on the computer of the user.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text('Path of the file, relative to the workspace.'),
        diff: text(
          'For create_file: the content, each line with a leading +. For update_file: hunks that begin with @@, ' +
            'then context lines with a leading space, removed lines with -, added lines with +.',
        ),
      },
      required: ['type', 'path'],
    },
  },
};

/** Returns the tool that the client runs; undefined for other types and for a shell in a provider's container. */
export function clientTool({ type, environment }: Json): ClientTool | undefined {
  const tool = Object.hasOwn(TOOLS, String(type)) ? TOOLS[type as ClientTool['name']] : undefined;
  return isInContainer(environment) ? undefined : tool;
}

/** Returns whether a shell runs in a container of a provider. */
export const isInContainer = (environment: unknown): boolean =>
  /^container/.test(String(asObject(environment)?.type ?? ''));

/** The tool as it is known from its calls. */
export const knownClientTool = ({ name }: ClientTool): KnownTool => ({ kind: name, name, namespace: null });

/** Returns the call of a shell from the arguments of the model. */
export function shellAction(args: Json | undefined, raw: string): Json {
  const commands = args?.commands ?? args?.command;
  return {
    commands: Array.isArray(commands)
      ? commands.map(String)
      : [typeof commands === 'string' ? commands : raw],
    timeout_ms: numberOf(args?.timeout_ms),
    max_output_length: numberOf(args?.max_output_length),
  };
}

/** Returns the call of a local shell from the arguments of the model. A text runs in a shell. */
export function localShellAction(args: Json | undefined, raw: string): Json {
  const { command, working_directory: folder } = args ?? {};
  const words = Array.isArray(command)
    ? command.map(String)
    : ['bash', '-lc', typeof command === 'string' ? command : raw];
  return {
    type: 'exec',
    command: words,
    env: {},
    timeout_ms: numberOf(args?.timeout_ms),
    user: null,
    working_directory: typeof folder === 'string' ? folder : null,
  };
}

/** Returns the operation of a patch from the arguments of the model. */
export function patchOperation(args: Json | undefined, raw: string): Json {
  const made = asObject(args?.operation) ?? args ?? {};
  const type = made.type === 'create_file' || made.type === 'delete_file' ? made.type : 'update_file';
  const path = typeof made.path === 'string' ? made.path : '';
  if (type === 'delete_file') return { type, path };
  return { type, path, diff: typeof made.diff === 'string' ? made.diff : args === undefined ? raw : '' };
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Returns what a model reads as the output of a shell. */
export function shellOutputText(output: string | readonly Json[]): string {
  if (typeof output === 'string') return output;
  return output
    .map(({ stdout, stderr, outcome }) => {
      const { type, exit_code: code } = asObject(outcome) ?? {};
      const end = type === 'timeout' ? 'timed out' : typeof code === 'number' ? `exit code ${code}` : '';
      return [stdout, stderr, end].filter((part) => typeof part === 'string' && part !== '').join('\n');
    })
    .join('\n');
}

/** Returns the arguments that the model would have written for the call of a shell. */
export function shellArguments({ action }: { readonly action: Json }): Json {
  const { commands, timeout_ms: timeout, max_output_length: most } = action;
  return { commands: asList(commands), ...present({ timeout_ms: timeout, max_output_length: most }) };
}

/** Returns the arguments that the model would have written for the call of a local shell. */
export function localShellArguments({ action }: { readonly action: Json }): Json {
  const { command, working_directory: folder, timeout_ms: timeout } = action;
  return { command: asList(command), ...present({ working_directory: folder, timeout_ms: timeout }) };
}

const present = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
