import type { IncomingMessage, ServerResponse } from 'node:http';
import { malformed } from './framing.ts';

/** What a request with an `Expect` header waits for. */
type Expectation = 'continue' | 'unknown';

const EXPECTATIONS = new WeakMap<IncomingMessage, Expectation>();

/** Marks a request that waits before it sends its body (`continue`) or wants something that nobody knows. */
export function markExpectation(req: IncomingMessage, what: Expectation): void {
  EXPECTATIONS.set(req, what);
}

/** Throws 417 for an expectation that the gateway can't meet (RFC 9110 section 10.1.1). */
export function checkExpectation(req: IncomingMessage): void {
  if (EXPECTATIONS.get(req) !== 'unknown') return;
  throw malformed('Only the expectation 100-continue is supported.', 417);
}

/** Asks for the body, once, if its sender waits for that: only when every guard has let the request pass. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (EXPECTATIONS.get(req) !== 'continue') return;
  EXPECTATIONS.delete(req);
  res.writeContinue();
}
