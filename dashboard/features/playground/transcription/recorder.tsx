import { Mic, Square } from 'lucide-react';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import field from '../../../ui/field.module.css';
import { steadyDuration } from '../../../ui/format.ts';
import { useNow } from '../../../ui/now.ts';
import { State } from '../../../ui/state-badge.tsx';
import { MicNote } from '../sound/mic-note.tsx';
import { type Microphone, micAllowed, openMicrophone } from '../sound/microphone.ts';
import { wavFile } from '../sound/pcm.ts';
import css from './transcription.module.css';

/** Half an hour: 86 MB of samples in the page. */
const MOST_PIECES = 30 * 60 * 25;

interface Recording {
  readonly microphone: Microphone;
  readonly pieces: Int16Array<ArrayBuffer>[];
  readonly since: number;
}

function Running(props: { since: number }): ReactElement {
  return <State tone="busy">Recording for {steadyDuration(useNow() - props.since)}</State>;
}

/** Records from the microphone into a WAV file, which every gateway understands without further programs. */
export function Recorder(props: { onFile: (file: File) => void }): ReactElement {
  const [now, setNow] = useState<Recording | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const open = useRef<Microphone | null>(null);
  useEffect(() => () => open.current?.stop(), []);
  if (!micAllowed()) return <MicNote instead="Choose a recording from this device instead." />;
  const start = async (): Promise<void> => {
    setFault(null);
    const pieces: Int16Array<ArrayBuffer>[] = [];
    try {
      const microphone = await openMicrophone((samples) => {
        if (pieces.length < MOST_PIECES) pieces.push(samples);
      });
      open.current = microphone;
      setNow({ microphone, pieces, since: Date.now() });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  const stop = (): void => {
    if (now === null) return;
    now.microphone.stop();
    open.current = null;
    setNow(null);
    if (now.pieces.length === 0) setFault('Nothing was heard.');
    else props.onFile(new File([wavFile(now.pieces)], 'recording.wav', { type: 'audio/wav' }));
  };
  return (
    <div className={css.recorder}>
      {now === null ? (
        <Button onClick={() => void start()}>
          <Mic size={14} aria-hidden="true" /> Record
        </Button>
      ) : (
        <Button look="danger" onClick={stop}>
          <Square size={14} aria-hidden="true" /> Stop recording
        </Button>
      )}
      {now === null ? null : <Running since={now.since} />}
      {fault === null ? null : (
        <p className={field.error} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}
