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

export interface Microphone {
  stop(): void;
}

const WANTED: MediaTrackConstraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/**
 * Opens the microphone and tells what it hears, in pieces of 40 ms of 16-bit samples at the rate of live voice, until
 * it is stopped. Call it from a click. Throws NoMicrophone with the reason.
 */
export async function openMicrophone(
  onSound: (samples: Int16Array<ArrayBuffer>) => void,
): Promise<Microphone> {
  if (!micAllowed()) throw new NoMicrophone('The microphone needs HTTPS or localhost.');
  const stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED }).catch((error: Error) => {
    throw new NoMicrophone(REASONS[error.name] ?? error.message);
  });
  const context = new AudioContext();
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop();
    void context.close().catch(() => undefined);
  };
  try {
    await context.audioWorklet.addModule(workletUrl);
    await context.resume();
    const tap = new AudioWorkletNode(context, 'mic-tap', { numberOfOutputs: 0 });
    tap.port.onmessage = (event: MessageEvent<Int16Array<ArrayBuffer>>) => onSound(event.data);
    context.createMediaStreamSource(stream).connect(tap);
    return { stop };
  } catch (error) {
    stop();
    throw new NoMicrophone(error instanceof Error ? error.message : String(error));
  }
}
