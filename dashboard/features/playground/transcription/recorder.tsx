import { Mic, Square } from 'lucide-react';
import { type ReactElement, useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from '../../../ui/button.tsx';
import field from '../../../ui/field.module.css';
import { steadyDuration } from '../../../ui/format.ts';
import { useNow } from '../../../ui/now.ts';
import { State } from '../../../ui/state-badge.tsx';
import { MicNote } from '../sound/mic-note.tsx';
import { micAllowed } from '../sound/microphone.ts';
import { Recording } from './recording.ts';
import css from './transcription.module.css';

function Running(props: { since: number }): ReactElement {
  return <State tone="busy">Recording for {steadyDuration(useNow() - props.since)}</State>;
}

/** Records from the microphone into a file. Unmounting stops the recording. */
export function Recorder(props: { onFile: (file: File) => void }): ReactElement {
  const [recording] = useState(() => new Recording());
  const now = useSyncExternalStore(recording.subscribe, recording.get);
  useEffect(() => () => recording.drop(), [recording]);
  if (!micAllowed()) return <MicNote instead="Choose a recording from this device instead." />;
  const stop = (): void => {
    const file = recording.stop();
    if (file !== null) props.onFile(file);
  };
  return (
    <div className={css.recorder}>
      {now.phase === 'running' ? (
        <Button variant="danger" onClick={stop}>
          <Square size={14} aria-hidden="true" /> Stop recording
        </Button>
      ) : (
        <Button busy={now.phase === 'opening'} onClick={() => void recording.start()}>
          <Mic size={14} aria-hidden="true" /> Start recording
        </Button>
      )}
      {now.phase === 'running' ? <Running since={now.since} /> : null}
      {now.fault === null ? null : (
        <p className={field.error} role="alert">
          {now.fault}
        </p>
      )}
    </div>
  );
}
