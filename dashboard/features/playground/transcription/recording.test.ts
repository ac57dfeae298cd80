import { beforeEach, expect, it, vi } from 'vitest';
import { openMicrophone } from '../sound/microphone.ts';
import { Recording } from './recording.ts';

vi.mock('../sound/microphone.ts', () => ({ openMicrophone: vi.fn() }));
const opened = vi.mocked(openMicrophone);

/** STAND-IN for a microphone that waits for the permission of the user. */
let allow: () => void;
beforeEach(() => {
  opened.mockReset();
  opened.mockImplementation(
    () =>
      new Promise((resolve) => {
        allow = resolve;
      }),
  );
});

const signalOf = (at: number): AbortSignal | undefined => opened.mock.calls[at]?.[1];

it('opens one microphone for repeated clicks while permission is pending', async () => {
  const recording = new Recording();
  const first = recording.start();
  expect(recording.get().phase).toBe('opening');
  await recording.start();
  expect(opened).toHaveBeenCalledTimes(1);
  allow();
  await first;
  expect(recording.get().phase).toBe('running');
  opened.mock.calls[0]?.[0](new Int16Array([1, 2]));
  expect(recording.stop()?.size).toBe(48);
  expect(signalOf(0)?.aborted).toBe(true);
  expect(recording.get()).toMatchObject({ phase: 'idle', fault: null });
});

it('releases a microphone that is granted after the view was left', async () => {
  const recording = new Recording();
  const first = recording.start();
  const allowFirst = allow;
  recording.drop();
  expect(signalOf(0)?.aborted).toBe(true);
  const second = recording.start();
  allowFirst();
  await first;
  expect(recording.get().phase).toBe('opening');
  expect(signalOf(1)?.aborted).toBe(false);
  allow();
  await second;
  expect(recording.get().phase).toBe('running');
  recording.drop();
});

it('reports why there is no microphone, and an empty recording', async () => {
  const recording = new Recording();
  opened.mockRejectedValueOnce(new Error('This device has no microphone.'));
  await recording.start();
  expect(recording.get()).toMatchObject({ phase: 'idle', fault: 'This device has no microphone.' });
  const again = recording.start();
  allow();
  await again;
  expect(recording.stop()).toBeNull();
  expect(recording.get()).toMatchObject({ phase: 'idle', fault: 'No sound was recorded.' });
});
