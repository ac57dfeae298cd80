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
/** Where each definition stands: texts and models, sound and pictures, Responses. */
const parts = ['schemas.json', 'media.json', 'responses.json'].map((name) => {
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
