import workletUrl from './mic-worklet.ts?worker&url';

/** The microphone cannot be used; the message is for the user. */
export class NoMicrophone extends Error {}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The browser has no permission to use the microphone. Allow it in the address bar and try again.',
  NotFoundError: 'This device has no microphone.',
  NotReadableError: 'The microphone is in use by another program or could not be opened.',
};

/** Whether this page can use a microphone: browsers allow it only on HTTPS and localhost. */
export const micAllowed = (): boolean => isSecureContext && navigator.mediaDevices !== undefined;

const WANTED: MediaTrackConstraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** Reports samples of a stream until the signal aborts. */
async function listen(
  stream: MediaStream,
  onSound: (samples: Int16Array<ArrayBuffer>) => void,
  signal: AbortSignal,
): Promise<void> {
  const context = new AudioContext();
  const close = (): void => void context.close().catch(() => undefined);
  signal.addEventListener('abort', close, { once: true });
  try {
    await context.audioWorklet.addModule(workletUrl);
    await context.resume();
    signal.throwIfAborted();
    const tap = new AudioWorkletNode(context, 'mic-tap', { numberOfOutputs: 0 });
    // Drop samples that arrive after the abort.
    tap.port.onmessage = (event: MessageEvent<Int16Array<ArrayBuffer>>) => {
      if (!signal.aborted) onSound(event.data);
    };
    context.createMediaStreamSource(stream).connect(tap);
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Opens the microphone and reports 40 ms blocks of 16-bit samples at the rate of live voice until the signal aborts. The
 * abort also releases a microphone that the browser grants only later. Call it from a click. Throws NoMicrophone.
 */
export async function openMicrophone(
  onSound: (samples: Int16Array<ArrayBuffer>) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!micAllowed()) throw new NoMicrophone('The microphone needs HTTPS or localhost.');
  const stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED }).catch((error: Error) => {
    throw new NoMicrophone(REASONS[error.name] ?? error.message);
  });
  const release = (): void => {
    for (const track of stream.getTracks()) track.stop();
  };
  signal.addEventListener('abort', release, { once: true });
  try {
    signal.throwIfAborted();
    await listen(stream, onSound, signal);
  } catch (error) {
    release();
    throw new NoMicrophone(error instanceof Error ? error.message : String(error));
  }
}
