import { writeFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { Outbound } from '../../lib/net/outbound.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { type ComfyStandIn, comfyStandIn } from '../../test/harness/comfy-stand-in.ts';
import { CallScope, ClientDisconnected } from '../forward/call-scope.ts';
import { until } from '../testing/client.ts';
import { parseImageHead, parseImageRequest } from './checks.ts';
import { Images } from './images.ts';

let comfy: ComfyStandIn;
let outbound: Outbound;
let root: string;
let events: GatewayEvents['image'][];

beforeEach(async () => {
  comfy = await comfyStandIn();
  outbound = new Outbound({ connectMs: () => 1_000 });
  root = scratch();
  events = [];
});
afterEach(async () => {
  await outbound.close();
  await comfy.stop();
});

function open(limitMs?: number): Images {
  const bus = new EventBus<GatewayEvents>();
  bus.subscribe(({ name, payload }) => {
    if (name === 'image') events.push(payload as GatewayEvents['image']);
  });
  const log = pino({ level: 'silent' });
  return new Images({ folder: join(root, 'images'), outbound, bus, log, limitMs });
}

const newScope = () => new CallScope(new ServerResponse(new IncomingMessage(new Socket())));

function job(prompt: string, scope = newScope(), more: object = {}) {
  const model = curatedModel('sd15') as ImageModel;
  const body = { prompt, model: 'sd15', size: '64x64', steps: 2, ...more };
  return {
    requestId: 'r1',
    request: parseImageRequest(parseImageHead(body), model),
    slot: 'img',
    provider: 'img',
    engine: 'comfyui',
    endpoint: { origin: comfy.url, headers: {}, connectMs: 1_000 },
    base: '/v1',
    engineModel: null,
    scope: scope,
    onUnstoppable: () => {},
  };
}

const failure = (promise: Promise<unknown>): Promise<GatewayError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: GatewayError) => error,
  );

test('a hanging job ends at its limit and is cancelled before the caller gets the error', async () => {
  const error = await failure(open(2_000).generate(job('HANG')));
  expect([error.status, error.code]).toEqual([504, 'dispatch.upstream_timeout']);
  expect(comfy.interrupted).toHaveLength(1);
  expect(comfy.queued()).toEqual([]);
  expect(events.at(-1)).toMatchObject({ state: 'failed', progress: null, request: 'r1' });
});

test('an engine that disappears fails the job', async () => {
  const outcome = failure(open().generate(job('HANG')));
  await until(() => comfy.queued().length === 1);
  await comfy.stop();
  const error = await outcome;
  expect([error.status, error.code]).toEqual([502, 'dispatch.upstream_unavailable']);
}, 20_000);

test('a client disconnect before the start sends nothing to the engine', async () => {
  const scope = newScope();
  scope.end(new ClientDisconnected());
  expect(await failure(open().generate(job('a cat', scope)))).toBeInstanceOf(ClientDisconnected);
  expect(comfy.requests.filter((each) => each.startsWith('POST'))).toEqual([]);
});

test('settled resolves after the engines were stopped', async () => {
  const images = open();
  const scope = newScope();
  const outcome = failure(images.generate(job('HANG', scope)));
  await until(() => comfy.queued().length === 1);
  scope.end(new ClientDisconnected());
  await images.settled();
  expect(comfy.interrupted).toHaveLength(1);
  expect(await outcome).toBeInstanceOf(ClientDisconnected);
});

test('an image that cannot be stored is 503, and base64 needs no storage', async () => {
  writeFileSync(join(root, 'images'), 'in the way');
  const images = open();
  expect(await failure(images.generate(job('a cat')))).toMatchObject({
    code: 'image.no_room',
    status: 503,
  });
  const outcome = await images.generate(job('a cat', newScope(), { response_format: 'b64_json', n: 3 }));
  expect(outcome.data).toHaveLength(3);
  expect(events.at(-1)).toMatchObject({ state: 'done', progress: 1, model: 'sd15', slot: 'img' });
});
