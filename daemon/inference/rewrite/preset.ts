import type { Preset } from '../../settings/name-tables.ts';
import type { InferenceCall } from '../call-context.ts';
import type { Json } from '../dialects/json.ts';
import { configuredName } from '../dispatch/resolve-name.ts';
import { createRoutingView, type RoutingSources } from '../dispatch/routing-view.ts';
import { type BodyIndex, fieldOf, modelOf, namesByLength, scanBody, type WantedNames } from './body-index.ts';
import { type Edit, insert, insertField, remove, render, replace } from './edits.ts';
import { dropDuplicates } from './one-value.ts';

/** Returns the fields of a body that a preset reads or changes. */
const wantedNames = ({ set, default: defaults, strip }: Preset): WantedNames =>
  namesByLength([...new Set(['model', 'messages', ...Object.keys(set), ...Object.keys(defaults), ...strip])]);

/**
 * Returns the call with the settings of its preset (docs/spec/contract.md#presets); the same call when its model is
 * no preset. A body that cannot be read stays as it is: its task refuses it. A multipart form is never changed.
 */
export function applyPreset(call: InferenceCall, sources: RoutingSources): InferenceCall {
  if (call.receive !== undefined || !sources.names().hasPresets) return call;
  const preset = presetOf(call, sources);
  if (preset === null) return call;
  const index = scanBody(call.body, wantedNames(preset));
  const edits = [...dropDuplicates(index), ...fieldEdits(index, preset)];
  const system = preset.system === '' ? null : systemEdit(index, preset.system);
  const made = render(index, system === null ? edits : [...edits, system.edit]);
  const body = Buffer.isBuffer(made) ? made : Buffer.concat(made);
  const { history } = call;
  return {
    ...call,
    body,
    bodyIndex: undefined,
    ...(history !== undefined &&
      system !== null && { history: { ...history, messages: system.of(history.messages) } }),
  };
}

function presetOf({ body, bodyIndex }: InferenceCall, sources: RoutingSources): Preset | null {
  try {
    const model = modelOf(bodyIndex?.bytes === body ? bodyIndex : scanBody(body));
    return model === null ? null : (configuredName(model, createRoutingView(sources))?.preset ?? null);
  } catch {
    return null;
  }
}

function fieldEdits(index: BodyIndex, { set, default: defaults, strip }: Preset): Edit[] {
  const values: Readonly<Record<string, unknown>> = { ...defaults, ...set };
  const isReplaced = (name: string): boolean => {
    const kind = fieldNamed(index, name)?.kind ?? 'null';
    return Object.hasOwn(set, name) || kind === 'null' || strip.includes(name);
  };
  const written = Object.keys(values).filter(isReplaced);
  const removed = strip.flatMap((name) => {
    const field = Object.hasOwn(values, name) ? undefined : fieldNamed(index, name);
    return field === undefined ? [] : [remove('fields', field)];
  });
  return [...removed, ...written.map((name) => withValue(index, name, values[name]))];
}

const fieldNamed = (index: BodyIndex, name: string) => fieldOf(index, name as Parameters<typeof fieldOf>[1]);

function withValue(index: BodyIndex, name: string, value: unknown): Edit {
  const field = fieldNamed(index, name);
  return field === undefined ? insertField(name, value) : replace(field.value, JSON.stringify(value));
}

interface SystemEdit {
  readonly edit: Edit;
  /** Makes the same change to the messages of a translated chat. */
  of(messages: readonly Json[]): readonly Json[];
}

/** Places a text before the system text of the caller; null for a body without messages. */
function systemEdit(index: BodyIndex, text: string): SystemEdit | null {
  if (fieldOf(index, 'messages')?.kind !== 'array') return null;
  const first = index.messages[0];
  const isSystem = first !== undefined && (first.role === 'system' || first.role === 'developer');
  const own = { role: 'system', content: text };
  if (!isSystem)
    return {
      edit: insert('messages', JSON.stringify(own)),
      of: (messages) => [own, ...messages],
    };
  const message = JSON.parse(index.bytes.toString('utf8', first.value.start, first.value.end)) as Json;
  const merged = { ...message, content: withText(message.content, text) };
  return {
    edit: replace(first.value, JSON.stringify(merged)),
    of: (messages) => [merged, ...messages.slice(1)],
  };
}

function withText(content: unknown, text: string): unknown {
  if (Array.isArray(content)) return [{ type: 'text', text }, ...content];
  return typeof content === 'string' && content !== '' ? `${text}\n\n${content}` : text;
}
