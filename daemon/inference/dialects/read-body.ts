import type { ZodType, z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { zodMessage } from '../../contract/zod-message.ts';
import { ByteScanner } from '../../lib/json/byte-scanner.ts';

const MAX_FIELDS = 20;
/** Maximum bytes of a body whose faults are all reported. */
const ALL_FAULTS_CAP = 16 * 1024;

/** Stops at the first fault: one issue per element of a long list would take minutes and exhaust memory. */
const FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/**
 * Parses the body with `schema`. Throws `request.invalid_json` for invalid JSON, and `request.invalid` with
 * path and reason of each fault, or of the first fault for a large body.
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

/**
 * Returns the error for a field that requests an unsupported feature. `status` is 422 unless clients expect
 * another.
 */
export const invalidField = (path: string, reason: string, status?: number): GatewayError =>
  new GatewayError('request.invalid', {
    param: path,
    message: `${path}: ${reason}`,
    details: { fields: [{ path, reason }] },
    ...(status === undefined ? {} : { status }),
  });

/** Returns those of `fields` that a request has, unchanged. */
export function pickFields(body: Readonly<Record<string, unknown>>, fields: readonly string[]) {
  return Object.fromEntries(
    fields.flatMap((field) =>
      body[field] === undefined || body[field] === null ? [] : [[field, body[field]]],
    ),
  );
}
