import { TomlError } from 'smol-toml';
import { GatewayError } from '../../contract/errors.ts';
import { invalidFieldsMessage } from '../../contract/invalid-request.ts';
import type { SlotSettingsBody } from '../../contract/slots.ts';
import type { WorkflowMapping } from '../../contract/workflow.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { ConfigEditError, setInConfigFile } from '../../settings/config-file.ts';
import { removeKey, setRootKey } from '../../settings/root-keys.ts';
import type { SlotConfig } from './slot-config.ts';
import { readSlotFile } from './slot-file.ts';

type Value = boolean | number | string | null | undefined;

/** Undefined leaves a key unchanged, null removes it. */
function withKey(text: string, key: string, value: Value): string {
  if (value === undefined) return text;
  return value === null ? removeKey(text, key) : setRootKey(text, key, value);
}

function withVoice(text: string, voice: SlotSettingsBody['voice']): string {
  if (voice === undefined) return text;
  if (voice === null) return removeKey(text, 'voice');
  return Object.entries(voice).reduce((edited, [key, value]: [string, Value]) => {
    if (value === undefined) return edited;
    return value === null ? removeKey(edited, 'voice', key) : setInConfigFile(edited, `voice.${key}`, value);
  }, text);
}

/**
 * Returns the text of a slot file with these keys changed. Comments and unknown keys stay. Throws ConfigEditError
 * for invalid TOML, or when the key cannot be changed without touching other keys.
 */
export function editSlotText(text: string, { voice, ...settings }: SlotSettingsBody): string {
  try {
    const plain = Object.entries(settings).reduce(
      (edited, [key, value]) => withKey(edited, key, value),
      text,
    );
    return withVoice(plain, voice);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new ConfigEditError(`the slot file is not valid TOML (line ${cause.line}); correct it first`);
  }
}

/**
 * Returns the text of a slot file with this workflow in place of any other. Throws ConfigEditError like `editSlotText`.
 */
export function editWorkflow(text: string, file: string, inputs: WorkflowMapping): string {
  const value = { file, inputs: Object.fromEntries(Object.entries(inputs)) };
  try {
    return setRootKey(removeKey(text, 'workflow'), 'workflow', value);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new ConfigEditError(`the slot file is not valid TOML (line ${cause.line}); correct it first`);
  }
}

/** Returns the text of a workflow file with a line for each node. Indented any further, it may become many times as large. */
export function workflowText(workflow: Readonly<Record<string, unknown>>): string {
  const nodes = Object.entries(workflow).map(
    ([id, node]) => `  ${JSON.stringify(id)}: ${JSON.stringify(node)}`,
  );
  return `{\n${nodes.join(',\n')}\n}\n`;
}

/** Returns 422 `slot.invalid` with path and reason of each field, never its value. */
export const invalidSlot = (
  slot: string,
  fields: readonly { path: string; reason: string }[],
): GatewayError =>
  new GatewayError('slot.invalid', {
    message: invalidFieldsMessage(fields),
    details: { slot: truncate(slot, 64), fields },
  });

/**
 * Returns the settings of a slot file with this text. `objection` returns a problem that begins with the key, or
 * null. Throws 422 `slot.invalid`.
 */
export function checkedSlot(
  name: string,
  text: string,
  objection: (config: SlotConfig) => string | null,
): SlotConfig {
  const { config, problems } = readSlotFile(`${name}.toml`, text);
  if (config === null)
    throw invalidSlot(
      name,
      problems.map(({ message }) => field(message)),
    );
  const problem = objection(config);
  if (problem !== null) throw invalidSlot(name, [field(problem)]);
  return config;
}

function field(message: string): { path: string; reason: string } {
  const [, path = '', reason = message] = /^([\w.]+): (.*)$/s.exec(message) ?? [];
  return { path, reason };
}
