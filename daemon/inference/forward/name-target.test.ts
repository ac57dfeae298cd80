import { expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../contract/errors.ts';
import { badAnswer } from '../images/engine-request.ts';
import {
  answerAborted,
  brokenResponse,
  connectionFailure,
  endedEarly,
  lineTooLong,
  RequestUnsent,
} from './failure.ts';
import { explainFailure, isTargetFailure, nameTarget } from './name-target.ts';

const SLOT = { slot: 'img', upstream: null };
const UPSTREAM = { slot: null, upstream: 'desk' };
const reset = new Error('ECONNRESET');
const ofEngine = (status: number, message: string) =>
  new GatewayError('upstream.error', { status, message, details: { upstream_status: status } });

it.each<[GatewayError, string, string]>([
  [
    connectionFailure(reset),
    'The engine of slot img could not be reached.',
    'Upstream desk could not be reached.',
  ],
  [
    brokenResponse(reset),
    'The engine of slot img broke off its answer.',
    'Upstream desk broke off its answer.',
  ],
  [endedEarly(), 'The engine of slot img ended its answer early.', 'Upstream desk ended its answer early.'],
  [
    answerAborted(),
    'The engine of slot img stopped before its answer was complete.',
    'Upstream desk stopped before its answer was complete.',
  ],
  [
    lineTooLong(),
    'The engine of slot img sent a line without an end.',
    'Upstream desk sent a line without an end.',
  ],
  [
    badAnswer('The response of the image engine has no job id.'),
    'The response of the image engine of slot img has no job id.',
    'The response of upstream desk has no job id.',
  ],
  [
    badAnswer('The image engine has lost the job.', undefined, 'lost', 404),
    'The image engine of slot img has lost the job.',
    'Upstream desk has lost the job.',
  ],
  [
    new GatewayError('upstream.auth_failed'),
    'Slot img: The upstream rejected the API key of the gateway.',
    'Upstream desk rejected the API key of the gateway.',
  ],
  // Words of the engine itself.
  [ofEngine(500, 'The engine is on fire.'), 'Slot img: The engine is on fire.', 'The engine is on fire.'],
  [ofEngine(500, 'slot img: no kernel'), 'slot img: no kernel', 'slot img: no kernel'],
  [
    ofEngine(400, 'The upstream prompt is odd.'),
    'The upstream prompt is odd.',
    'The upstream prompt is odd.',
  ],
])('%#: %s', (failure, ofSlot, ofUpstream) => {
  const named = nameTarget(failure, SLOT);
  expect([named.message, nameTarget(failure, UPSTREAM).message]).toEqual([ofSlot, ofUpstream]);
  expect(named.options.details).toMatchObject({ ...failure.options.details, slot: 'img' });
  expect(named).toMatchObject({ code: failure.code, status: failure.status });
  expect(nameTarget(named, SLOT)).toBe(named);
});

it.each<ErrorCode>(['slot.failed', 'slot.queue_full', 'request.invalid', 'context_length_exceeded'])(
  '%s stays as it is',
  (code) => {
    const failure = new GatewayError(code, { message: 'The engine of it.' });
    expect(nameTarget(failure, SLOT)).toBe(failure);
  },
);

it('without a target a failure stays as it is', () => {
  const failure = connectionFailure(reset);
  expect(nameTarget(failure, { slot: null, upstream: null })).toBe(failure);
});

it('keeps class, cause and stack', () => {
  const failure = new RequestUnsent(reset);
  const named = nameTarget(failure, SLOT);
  expect(named).toBeInstanceOf(RequestUnsent);
  expect([named.cause, named.stack, named.name]).toEqual([reset, failure.stack, failure.name]);
  expect(failure.message).toBe('The engine or upstream could not be reached.');
});

const killed = 'The engine was killed (SIGKILL), perhaps for lack of memory.';
it.each([
  [
    { reason: killed, lines: ['CUDA error'] },
    true,
    'Slot img failed while it served this request: the engine was killed (SIGKILL), perhaps for lack of memory.',
    { slot: 'img', reason: killed, log: ['CUDA error'] },
  ],
  [
    { reason: killed, lines: ['CUDA error'] },
    false,
    'Slot img failed while it served this request: the engine was killed (SIGKILL), perhaps for lack of memory.',
    { slot: 'img', reason: killed },
  ],
  [{ reason: null, lines: [] }, true, 'The engine of slot img could not be reached.', { slot: 'img' }],
])('a diagnosis of %j, log %s', (diagnosis, withLines, message, details) => {
  const failure = explainFailure(connectionFailure(reset), 'img', { diagnosis, withLines });
  expect([failure.message, failure.options.details]).toEqual([message, details]);
  expect([failure.code, failure.status]).toEqual(['dispatch.upstream_unavailable', 502]);
});

it.each([
  [connectionFailure(reset), true],
  [ofEngine(500, 'x'), true],
  [ofEngine(400, 'x'), false],
  [new GatewayError('slot.failed'), false],
  [new Error('x'), false],
])('%s is a failure of the target: %s', (failure, expected) => {
  expect(isTargetFailure(failure)).toBe(expected);
});
