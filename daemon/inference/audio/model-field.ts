import { GatewayError } from '../../contract/errors.ts';
import { invalid } from '../rewrite/body-picture.ts';

const MAX_PARTS = 64;
const MAX_PART_HEAD = 8 * 1024;
const MAX_VALUE = 512;

/**
 * The `model` field of a multipart form, read from its raw bytes (spec "Transcriptions deviations"): only a part whose
 * own header names it counts, never a text inside another part. Null when there is none or it is blank.
 * Throws `request.unsupported_type` for anything but multipart/form-data and `request.invalid` for two models.
 */
export function modelField(body: Buffer, contentType: string): string | null {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`);
  const values: string[] = [];
  let at = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
    ? delimiter.length - 2
    : after(body.indexOf(delimiter), delimiter.length);
  for (let part = 0; at > 0 && part < MAX_PARTS && !isLast(body, at); part++) {
    const headEnd = body.indexOf('\r\n\r\n', at);
    const next = headEnd < 0 ? -1 : body.indexOf(delimiter, headEnd + 2);
    if (next < 0 || headEnd - at > MAX_PART_HEAD) break;
    if (namesModel(body.toString('latin1', at, headEnd))) {
      const start = Math.min(headEnd + 4, next);
      values.push(body.toString('utf8', start, Math.min(next, start + MAX_VALUE)).trim());
    }
    at = next + delimiter.length;
  }
  if (new Set(values).size > 1) throw invalid('model', 'must be given once');
  return values[0] || null;
}

const after = (index: number, length: number): number => (index < 0 ? -1 : index + length);

/** Two hyphens after a delimiter end the form. */
const isLast = (body: Buffer, at: number): boolean => body[at] === 0x2d && body[at + 1] === 0x2d;

function boundaryOf(contentType: string): string {
  const match = /^\s*multipart\/form-data\s*;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType,
  );
  const boundary = match?.[1] ?? match?.[2];
  if (boundary !== undefined) return boundary;
  throw new GatewayError('request.unsupported_type', {
    message: 'This route takes multipart/form-data.',
  });
}

function namesModel(head: string): boolean {
  const line = head.split('\r\n').find((each) => /^content-disposition\s*:/i.test(each));
  return line !== undefined && /;\s*name=(?:"model"|model)\s*(?:;|$)/i.test(line);
}
