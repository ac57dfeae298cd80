import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { BodyKind } from '../contract/routes.ts';
import { type ContentCoding, contentCoding } from './content-coding.ts';

/**
 * Maximum bytes of a body, by kind (docs/spec/contract.md#caps). `audio` bodies are streamed by their handler
 * under the same cap.
 */
export const BODY_CAPS: Record<BodyKind, number> = {
  none: 16 * 1024,
  auth: 16 * 1024,
  api: 1024 * 1024,
  inference: 64 * 1024 * 1024,
  audio: 200 * 1024 * 1024,
};

/**
 * Refuses a too large declared length before a byte is read, and a content coding that is not supported.
 * Returns the coding. Multipart takes none, because its bytes are forwarded as sent
 * (docs/spec/contract.md#content-coding).
 */
export function checkDeclared(req: IncomingMessage, kind: BodyKind): ContentCoding | null {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > BODY_CAPS[kind]) throw tooLarge(kind);
  return contentCoding(req, kind !== 'audio' && !isMultipart(req.headers['content-type']));
}

const isMultipart = (type: string | undefined): boolean => /^\s*multipart\//i.test(type ?? '');

export const tooLarge = (kind: BodyKind) =>
  new GatewayError('request.too_large', { details: { limit_bytes: BODY_CAPS[kind] } });

/** Whether the caller disconnected before its body was read. No event reports this any longer. */
export const isDisconnected = (req: IncomingMessage): boolean => req.destroyed && !req.readableEnded;

export const bodyAborted = () =>
  new GatewayError('request.malformed', { message: 'The connection closed before the whole body arrived.' });
