import { GatewayError } from '../contract/errors.ts';
import { EventStreamParser } from '../contract/event-stream.ts';
import { BadResponseError } from '../upstreams/query-upstream.ts';

/** Maximum length of an event, in characters. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/** Creates a parser for the event stream of an engine. `tooLong` replaces the `upstream.error` for an event above the limit. */
export function engineEvents(tooLong: () => Error = engineEventTooLong): EventStreamParser {
  return new EventStreamParser({ maxEventLength: MAX_EVENT_LENGTH, tooLong });
}

function engineEventTooLong(): GatewayError {
  return new GatewayError('upstream.error', {
    message: 'An event of the engine is too long.',
    cause: new BadResponseError('It sent an event that is too long.'),
  });
}
