import type { IncomingMessage, ServerResponse } from 'node:http';
import { malformed } from './framing.ts';

/** What a request with an `Expect` header waits for. */
type Expectation = 'continue' | 'unknown';

const EXPECTATIONS = new WeakMap<IncomingMessage, Expectation>();

/** Marks a request that waits before it sends its body (`continue`) or has an unknown expectation. */
export function markExpectation(req: IncomingMessage, what: Expectation): void {
  EXPECTATIONS.set(req, what);
}

/** Throws 417 for an expectation that the gateway can't meet (RFC 9110 section 10.1.1). */
export function checkExpectation(req: IncomingMessage): void {
  if (EXPECTATIONS.get(req) !== 'unknown') return;
  throw malformed('Only the expectation 100-continue is supported.', 417);
}

/** Sends 100 Continue once, if the sender waits for it. Call this after all guards. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (EXPECTATIONS.get(req) !== 'continue') return;
  EXPECTATIONS.delete(req);
  res.writeContinue();
}
