import { Hand, Keyboard, Mic, MicOff, PhoneOff } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../../../ui/button.tsx';
import { State } from '../../../ui/state-badge.tsx';
import { micAllowed } from '../sound/microphone.ts';
import type { CallState } from './live-call.ts';
import { liveCall } from './live-call.ts';
import css from './voice.module.css';

function Level(props: { level: number }): ReactElement {
  return (
    <span className={css.level} aria-hidden="true">
      <span style={{ width: `${Math.round(props.level * 100)}%` }} />
    </span>
  );
}

function words({ phase, transcript, microphone }: CallState): string {
  if (phase === 'opening') return 'Connecting…';
  if (transcript.speaking) return 'Hearing you';
  if (transcript.response !== null) return 'Answering';
  if (microphone === 'muted') return 'Microphone off';
  return microphone === 'on' ? 'Listening' : 'Ready';
}

/** Buttons that start a session, with or without a microphone. */
export function StartButtons(props: {
  disabled: boolean;
  onStart: (microphone: boolean) => void;
}): ReactElement {
  return (
    <div className={css.buttons}>
      {micAllowed() ? (
        <Button variant="main" disabled={props.disabled} onClick={() => props.onStart(true)}>
          <Mic size={14} aria-hidden="true" /> Start talking
        </Button>
      ) : null}
      <Button
        variant={micAllowed() ? 'plain' : 'main'}
        disabled={props.disabled}
        onClick={() => props.onStart(false)}
      >
        <Keyboard size={14} aria-hidden="true" /> Start without a microphone
      </Button>
    </div>
  );
}

/** Controls and status of a running session. */
export function Controls(props: { call: CallState }): ReactElement {
  const { call } = props;
  const muted = call.microphone === 'muted';
  return (
    <div className={css.buttons}>
      <Button variant="danger" onClick={() => liveCall.stop()}>
        <PhoneOff size={14} aria-hidden="true" /> End call
      </Button>
      {call.microphone === 'off' ? null : (
        <Button aria-pressed={muted} onClick={() => liveCall.mute()}>
          {muted ? <Mic size={14} aria-hidden="true" /> : <MicOff size={14} aria-hidden="true" />}
          {muted ? 'Microphone on' : 'Microphone off'}
        </Button>
      )}
      <Button disabled={call.phase !== 'live'} onClick={() => liveCall.interrupt()}>
        <Hand size={14} aria-hidden="true" /> Interrupt
      </Button>
      <span role="status">
        <State tone={call.transcript.response === null ? 'ok' : 'busy'}>{words(call)}</State>
      </span>
      {call.microphone === 'on' ? <Level level={call.level} /> : null}
    </div>
  );
}
