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
/** The published schemas: text and models, audio and images, Responses, Realtime. */
const parts = ['schemas.json', 'media.json', 'responses.json', 'realtime.json'].map((name) => {
  const part = JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as Part;
  ajv.addSchema(part, part.$id);
  return part;
});
const partOf = (definition: string) => parts.find(({ $defs }) => definition in $defs);

/** Returns every violation of a published definition, as `path reason`; empty when `value` is valid. */
export function breaches(definition: string, value: unknown): string[] {
  const check = ajv.getSchema(`${partOf(definition)?.$id}#/$defs/${definition}`);
  if (check === undefined) throw new Error(`there is no definition ${definition}`);
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Returns the keys of a response that its published definition does not have. */
export const extensions = (definition: string, value: object): string[] =>
  Object.keys(value)
    .filter((key) => !(key in (partOf(definition)?.$defs[definition]?.properties ?? {})))
    .sort();

const REALTIME = 'RealtimeServerEvent';

/** The definition of each Realtime event by its type. */
const ofEvent = new Map(
  parts.flatMap(({ $defs }) =>
    Object.entries($defs).flatMap(([definition, { properties }]) => {
      const { enum: types = [] } = (properties?.type ?? {}) as { enum?: string[] };
      return definition.startsWith(REALTIME) ? types.map((type) => [type, definition] as const) : [];
    }),
  ),
);

/** Removes members that are null: OpenAI's own server sends null for absent values, which its schema omits. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(present.map(([name, each]) => [name, withoutNulls(each)]));
}

/** Returns every violation of the published schema of a Realtime event. An unpublished event is a violation. */
export function eventBreaches(event: { readonly type: string }): string[] {
  const definition = ofEvent.get(event.type);
  if (definition === undefined) return [`no event ${event.type}`];
  if (breaches(definition, event).length === 0) return [];
  return breaches(definition, withoutNulls(event));
}
