import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

interface Definition {
  properties?: Record<string, unknown>;
}

const text = readFileSync(join(import.meta.dirname, 'schemas.json'), 'utf8');
const { $defs: definitions } = JSON.parse(text) as { $defs: Record<string, Definition> };
const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
ajv.addSchema(JSON.parse(text) as object, 'openai');

/** Every breach of a published definition, as `path reason`; empty when `value` keeps to it. */
export function breaches(definition: string, value: unknown): string[] {
  const check = ajv.getSchema(`openai#/$defs/${definition}`);
  if (check === undefined) throw new Error(`there is no definition ${definition}`);
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Keys of an answer that its published definition does not know: extensions. */
export const extensions = (definition: string, value: object): string[] =>
  Object.keys(value)
    .filter((key) => !(key in (definitions[definition]?.properties ?? {})))
    .sort();
