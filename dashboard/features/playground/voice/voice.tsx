import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../../api/api-error.ts';
import { queries } from '../../../api/queries.ts';
import { Card } from '../../../ui/card.tsx';
import { Failure } from '../../../ui/failure.tsx';
import { Choice, TextInput } from '../../../ui/inputs.tsx';
import { Note } from '../../../ui/note.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import form from '../parts/mode-form.module.css';
import { ModePage } from '../parts/mode-page.tsx';
import { modelsWith } from '../parts/models.ts';
import { useModels } from '../parts/use-models.ts';
import { MicNote } from '../sound/mic-note.tsx';
import { micAllowed } from '../sound/microphone.ts';
import { Controls, StartButtons } from './controls.tsx';
import { ConversationView } from './conversation-view.tsx';
import { type CallState, liveCall, useLiveCall } from './live-call.ts';
import { Stages } from './stages.tsx';
import { MessageForm, typed } from './text-input.tsx';
import css from './voice.module.css';
import { voiceCode } from './voice-code.ts';

const fields = new Fields('voice', { model: '', instructions: '', voice: '' });

/** Reports a missing speech-to-text or text-to-speech model; the rest works without it. */
function Lacking(): ReactElement | null {
  const { data } = useQuery(queries.allModels);
  const deaf = data !== undefined && modelsWith('transcription', data.data).length === 0;
  const mute = data !== undefined && modelsWith('speech', data.data).length === 0;
  if (!deaf && !mute) return null;
  return (
    <Note tone="attention">
      {deaf ? <p>No speech-to-text model: you can type instead.</p> : null}
      {mute ? <p>No text-to-speech model: answers are text only.</p> : null}
      <p>
        <Link href="/models">Open models</Link> · <Link href="/slots">Open slots</Link>
      </p>
    </Note>
  );
}

function Setup(props: { model: string; disabled: boolean }): ReactElement {
  const at = useFields(fields);
  const voices = useQuery(queries.voices('tts'));
  return (
    <div className={css.setup}>
      <div className={form.row}>
        <TextInput
          label="Instructions"
          value={at.instructions}
          placeholder="Answer in one short sentence."
          onChange={(instructions) => fields.set({ instructions })}
        />
        <Choice
          label="Voice"
          value={at.voice}
          choices={[
            ['', 'Default'],
            ...(voices.data?.voices ?? []).map(({ id, name }) => [id, name] as const),
          ]}
          onChange={(voice) => fields.set({ voice })}
        />
      </div>
      <StartButtons
        disabled={props.disabled}
        onStart={(microphone) => void liveCall.start({ ...at, model: props.model, microphone })}
      />
    </div>
  );
}

function Faults(props: { call: CallState }): ReactElement | null {
  const { failure, transcript } = props.call;
  if (failure !== null) return <Failure error={new ApiError(failure)} />;
  const { fault } = transcript;
  if (fault === null) return null;
  return (
    <Note tone="attention">
      <p>
        {fault.message} <code>{fault.code}</code>
      </p>
    </Note>
  );
}

/** The voice mode: a live conversation with transcript and latency. */
export function Voice(): ReactElement {
  const at = useFields(fields);
  const call = useLiveCall();
  const { text } = useFields(typed);
  const models = useModels('chat', at.model);
  const model = models.id;
  const running = call.phase === 'live' || call.phase === 'opening';
  const last = call.transcript.turns.findLast(({ times }) => times !== null)?.times ?? null;
  return (
    <ModePage
      ability="chat"
      models={models}
      onModel={(id) => fields.set({ model: id })}
      about="Talk to a model; you can interrupt it at any time. Uses the stt and tts slots."
      codeOf={(language, place) => voiceCode(language, place, model, text || 'Good morning!')}
    >
      {micAllowed() ? null : <MicNote instead="Type a message or upload a recording instead." />}
      <Lacking />
      <Card title="Conversation">
        {running ? <Controls call={call} /> : <Setup model={model} disabled={models.model === null} />}
        {running || models.lacks === null ? null : <p className={form.note}>{models.lacks}</p>}
        <Faults call={call} />
        <ConversationView call={call} />
        {call.phase === 'live' ? <MessageForm /> : null}
      </Card>
      {last === null ? null : <Stages times={last} firstSoundMs={call.firstSoundMs} />}
    </ModePage>
  );
}
