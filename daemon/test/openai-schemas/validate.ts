import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

interface Definition {
  properties?: Record<string, unknown>;
}
interface Part {
  $id: string;
  $defs: Record<string, Definition>;
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
/** Where each definition stands: texts and models, sound and pictures, Responses, live voice. */
const parts = ['schemas.json', 'media.json', 'responses.json', 'realtime.json'].map((name) => {
  const part = JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as Part;
  ajv.addSchema(part, part.$id);
  return part;
});
const partOf = (definition: string) => parts.find(({ $defs }) => definition in $defs);

/** Every breach of a published definition, as `path reason`; empty when `value` keeps to it. */
export function breaches(definition: string, value: unknown): string[] {
  const check = ajv.getSchema(`${partOf(definition)?.$id}#/$defs/${definition}`);
  if (check === undefined) throw new Error(`there is no definition ${definition}`);
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Keys of an answer that its published definition does not know: extensions. */
export const extensions = (definition: string, value: object): string[] =>
  Object.keys(value)
    .filter((key) => !(key in (partOf(definition)?.$defs[definition]?.properties ?? {})))
    .sort();

const REALTIME = 'RealtimeServerEvent';

/** The definition of each event of live voice by the event's type. */
const ofEvent = new Map(
  parts.flatMap(({ $defs }) =>
    Object.entries($defs).flatMap(([definition, { properties }]) => {
      const { enum: types = [] } = (properties?.type ?? {}) as { enum?: string[] };
      return definition.startsWith(REALTIME) ? types.map((type) => [type, definition] as const) : [];
    }),
  ),
);

/** The same without members that are null: OpenAI's own server writes null for what is not there, and its description forgets it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const told = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(told.map(([name, each]) => [name, withoutNulls(each)]));
}

/** Every breach of what OpenAI publishes of this event of live voice; an event that is not published is one. */
export function eventBreaches(event: { readonly type: string }): string[] {
  const definition = ofEvent.get(event.type);
  if (definition === undefined) return [`no event ${event.type}`];
  if (breaches(definition, event).length === 0) return [];
  return breaches(definition, withoutNulls(event));
}
