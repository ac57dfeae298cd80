import type { ZodType, z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { ByteScanner } from '../../lib/json/byte-scanner.ts';
import { zodMessage } from '../../lib/text/zod-message.ts';

const MAX_FIELDS = 20;
/** Bytes of a body whose faults are all looked for. */
const ALL_FAULTS_CAP = 16 * 1024;

/** The first fault ends the reading: telling one for each element of a long list costs minutes and all of the memory. */
const FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/**
 * The body as `schema` reads it. Throws `request.invalid_json` for what the gateway takes for no JSON and `request.invalid`
 * with path and reason of each fault, of a large body of the first one only.
 */
export function readBody<T extends ZodType>(schema: T, body: Buffer): z.infer<T> {
  const scanner = new ByteScanner(body);
  scanner.value();
  scanner.end();
  const all = body.length <= ALL_FAULTS_CAP;
  const read = schema.safeParse(JSON.parse(body.toString('utf8')), all ? undefined : FIRST_FAULT);
  if (read.success) return read.data;
  const fields = read.error.issues
    .slice(0, MAX_FIELDS)
    .map((issue) => ({ path: issue.path.join('.'), reason: zodMessage(issue) }));
  throw new GatewayError('request.invalid', {
    param: fields[0]?.path || undefined,
    message: fields[0] ? `${fields[0].path || 'The body'}: ${fields[0].reason}` : undefined,
    details: { fields },
  });
}

/** A field that asks for what this gateway does not do. `status`: 422 unless clients expect another. */
export const invalidField = (path: string, reason: string, status?: number): GatewayError =>
  new GatewayError('request.invalid', {
    param: path,
    message: `${path}: ${reason}`,
    details: { fields: [{ path, reason }] },
    ...(status === undefined ? {} : { status }),
  });

/** Those of `fields` that a request has, as they are. */
export function pickFields(body: Readonly<Record<string, unknown>>, fields: readonly string[]) {
  return Object.fromEntries(
    fields.flatMap((field) =>
      body[field] === undefined || body[field] === null ? [] : [[field, body[field]]],
    ),
  );
}
