import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openMicrophone } from './microphone.ts';

vi.mock('./mic-worklet.ts?worker&url', () => ({ default: '/mic-worklet.js' }));

/** STAND-IN for a microphone of the browser. */
const track = { stop: vi.fn() };
const stream = { getTracks: () => [track] };
/** The port of the newest worklet. */
let port: { onmessage: ((event: { data: Int16Array }) => void) | null };
let allow: () => void;
let module: Promise<void>;
const close = vi.fn(async () => {});

beforeEach(() => {
  vi.clearAllMocks();
  module = Promise.resolve();
  const permission = new Promise((resolve) => {
    allow = () => resolve(stream);
  });
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => permission } });
  vi.stubGlobal(
    'AudioContext',
    class {
      audioWorklet = { addModule: () => module };
      resume = async () => {};
      createMediaStreamSource = () => ({ connect: () => {} });
      close = close;
    },
  );
  vi.stubGlobal(
    'AudioWorkletNode',
    class {
      port = { onmessage: null };
      constructor() {
        port = this.port;
      }
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

it('reports samples until the signal aborts, and none afterwards', async () => {
  const microphone = new AbortController();
  const onSamples = vi.fn();
  const opening = openMicrophone(onSamples, microphone.signal);
  allow();
  await opening;
  port.onmessage?.({ data: new Int16Array(1) });
  expect(onSamples).toHaveBeenCalledTimes(1);
  microphone.abort();
  port.onmessage?.({ data: new Int16Array(1) });
  expect(onSamples).toHaveBeenCalledTimes(1);
  expect(track.stop).toHaveBeenCalled();
  expect(close).toHaveBeenCalled();
});

it('is released when the browser grants it after the abort', async () => {
  const microphone = new AbortController();
  const opening = openMicrophone(() => {}, microphone.signal);
  microphone.abort();
  allow();
  await expect(opening).rejects.toThrow();
  expect(track.stop).toHaveBeenCalled();
});

it('is released when the abort comes while its worklet is loading', async () => {
  let fetched = (): void => {};
  module = new Promise((resolve) => {
    fetched = resolve;
  });
  const microphone = new AbortController();
  const opening = openMicrophone(() => {}, microphone.signal);
  allow();
  await new Promise(setImmediate);
  microphone.abort();
  expect(track.stop).toHaveBeenCalled();
  fetched();
  await expect(opening).rejects.toThrow();
});
