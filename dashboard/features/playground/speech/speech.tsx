import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { ReactElement } from 'react';
import { queries } from '../../../api/queries.ts';
import { snippetOf } from '../../../api/snippets.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { count, duration } from '../../../ui/format.ts';
import { Choice, TextArea, TextInput } from '../../../ui/inputs.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { definedFields, numberFault, numberOf } from '../parts/numbers.ts';
import { type ResponseMeta, requestBytes } from '../parts/request.ts';
import { ResponseLine } from '../parts/response-line.tsx';
import { useModels } from '../parts/use-models.ts';
import { useObjectUrl } from '../sound/use-object-url.ts';
import css from './speech.module.css';

/** Maximum characters of a request, and maximum bytes of audio that this page holds. */
const MAX_CHARS = 65_536;
const MAX_BYTES = 256 * 1024 * 1024;

const FORMATS = [
  ['', 'Default'],
  ['mp3', 'mp3'],
  ['wav', 'wav'],
  ['opus', 'opus (ogg)'],
  ['flac', 'flac'],
  ['aac', 'aac'],
  ['pcm', 'pcm, 24 kHz'],
] as const;

/** File extensions by media type of the response. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/pcm': 'pcm',
};

interface Spoken {
  readonly sound: Blob;
  readonly firstMs: number;
  readonly meta: ResponseMeta;
}

const fields = new Fields('speech', {
  model: '',
  text: 'Good morning. The gateway is up, and everything is fine.',
  voice: '',
  format: '',
  speed: '',
});
const job = new Job<Spoken>();

/** Results that were played automatically; each plays only once, not again when the view reopens. */
const played = new WeakSet<Blob>();

function Player(props: { spoken: Spoken }): ReactElement {
  const { sound, firstMs, meta } = props.spoken;
  const url = useObjectUrl(sound);
  const type = sound.type.split(';')[0] ?? '';
  const ending = ENDINGS[type] ?? 'bin';
  return (
    <Card title="Audio">
      {ending === 'pcm' ? (
        <p>Raw PCM (16-bit, 24 kHz, mono) is for programs. Browsers cannot play it.</p>
      ) : url === null ? null : (
        // biome-ignore lint/a11y/useMediaCaption: the text is in the field above
        <audio
          className={css.player}
          controls
          autoPlay={!played.has(sound)}
          src={url}
          aria-label="Generated speech"
          onPlay={() => played.add(sound)}
        />
      )}
      {url === null ? null : (
        <div>
          <a className={buttonClass()} href={url} download={`speech.${ending}`}>
            <Download size={14} aria-hidden="true" /> Download {ending}, {count(Math.ceil(sound.size / 1024))}{' '}
            KiB
          </a>
        </div>
      )}
      <ResponseLine meta={meta} more={[`first audio ${duration(firstMs)}`]} />
    </Card>
  );
}

function VoiceChoice(props: { model: string | null; value: string }): ReactElement {
  const voices = useQuery({ ...queries.voices(props.model ?? ''), enabled: props.model !== null });
  const list = voices.data?.voices ?? [];
  const unknown = voices.isSuccess && list.length === 0;
  return (
    <Choice
      label="Voice"
      value={props.value}
      {...(unknown ? { help: 'This model does not list its voices.' } : {})}
      choices={[['', 'Default'], ...list.map(({ id, name }) => [id, name] as const)]}
      onChange={(voice) => fields.set({ voice })}
    />
  );
}

/** The speech mode: reads a text aloud. */
export function Speech(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('speech', at.model);
  const body = {
    model: models.id,
    input: at.text.trim(),
    ...definedFields({ voice: at.voice, response_format: at.format, speed: numberOf(at.speed) }),
  };
  const long =
    body.input.length > MAX_CHARS ? `The limit is ${count(MAX_CHARS)} characters per request.` : null;
  const empty = body.input === '' ? 'Enter some text.' : null;
  const lacks = models.lacks ?? empty ?? long ?? numberFault('Speed', at.speed, 0.25, 4, false);
  const send = (): void =>
    void job.run(async (signal) => {
      const { bytes, firstMs, meta } = await requestBytes('v1.speech', { body, signal }, MAX_BYTES);
      return { sound: bytes, firstMs, meta };
    });
  return (
    <ModePage
      ability="speech"
      models={models}
      onModel={(model) => fields.set({ model, voice: '' })}
      about="Reads your text aloud."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'speech', body })}
    >
      <ModeForm job={job} state={state} verb="Generate speech" lacks={lacks} onSend={send}>
        <TextArea label="Text" rows={4} value={at.text} onChange={(text) => fields.set({ text })} />
        <div className={form.row}>
          <VoiceChoice model={models.model?.id ?? null} value={at.voice} />
          <Choice
            label="Format"
            value={at.format}
            choices={FORMATS}
            onChange={(format) => fields.set({ format })}
          />
          <TextInput
            label="Speed"
            numeric
            value={at.speed}
            placeholder="default"
            onChange={(speed) => fields.set({ speed })}
          />
        </div>
      </ModeForm>
      {state.result === null ? null : <Player spoken={state.result} />}
    </ModePage>
  );
}
