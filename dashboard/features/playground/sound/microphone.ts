import workletUrl from './mic-worklet.ts?worker&url';

/** Why there is no sound from a microphone, in words for who tries. */
export class NoMicrophone extends Error {}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The browser was not allowed to use the microphone. Allow it in the address bar and try again.',
  NotFoundError: 'This device has no microphone.',
  NotReadableError: 'The microphone is used by another program, or could not be opened.',
};

/** Whether this page may ask for a microphone at all: browsers give one to HTTPS and to this machine only. */
export const micAllowed = (): boolean => isSecureContext && navigator.mediaDevices !== undefined;

const WANTED: MediaTrackConstraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** Tells what a stream hears until the signal ends it. */
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
    // Pieces that were on their way when it ended are nobody's any more.
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
 * Opens the microphone and tells what it hears, in pieces of 40 ms of 16-bit samples at the rate of live voice, until
 * the signal ends it: also one that is handed out later, when somebody answers the browser's question at last. Call it
 * from a click. Throws NoMicrophone with the reason.
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
