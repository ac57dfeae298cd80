import { Download } from 'lucide-react';
import { type ReactElement, useId, useMemo, useRef, useState } from 'react';
import { send } from '../../../api/client.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copy } from '../../../ui/copy.tsx';
import field from '../../../ui/field.module.css';
import { count } from '../../../ui/format.ts';
import { Choice, TextInput } from '../../../ui/inputs.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { definedFields } from '../parts/numbers.ts';
import { type ResponseMeta, responseMeta } from '../parts/request.ts';
import { ResponseLine } from '../parts/response-line.tsx';
import { useModels } from '../parts/use-models.ts';
import { useObjectUrl } from '../sound/use-object-url.ts';
import { Recorder } from './recorder.tsx';
import css from './transcription.module.css';
import { transcriptionCode } from './transcription-code.ts';

const FORMATS = [
  ['text', 'plain text'],
  ['srt', 'subtitles, srt'],
  ['vtt', 'subtitles, vtt'],
  ['json', 'json'],
  ['verbose_json', 'json with times'],
] as const;

interface TranscriptionResult {
  readonly text: string;
  readonly format: string;
  readonly meta: ResponseMeta;
}

const fields = new Fields('transcription', { model: '', format: 'text', language: '' });
const job = new Job<TranscriptionResult>();
/** The selected file; a reload loses it. */
let chosen: File | null = null;

async function transcribe(
  file: File,
  requestFields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<TranscriptionResult> {
  const sent = new FormData();
  for (const [name, value] of Object.entries(requestFields)) sent.append(name, value);
  sent.append('file', file, file.name);
  const began = performance.now();
  const answer = await send('v1.transcriptions', { form: sent, signal }, null);
  const raw = await answer.text();
  const format = requestFields.response_format ?? 'text';
  const text = format.endsWith('json') ? JSON.stringify(JSON.parse(raw), null, 2) : raw.trim();
  return { text, format, meta: responseMeta(answer.headers, began) };
}

function Transcript(props: { result: TranscriptionResult }): ReactElement {
  const { text, format, meta } = props.result;
  const shown = useRef<HTMLPreElement>(null);
  const file = useMemo(() => new Blob([text], { type: 'text/plain' }), [text]);
  const url = useObjectUrl(file);
  const ending = format === 'text' ? 'txt' : format.endsWith('json') ? 'json' : format;
  return (
    <Card title="Transcript" aside={<Copy text={text} shown={shown} what="the transcript" />}>
      <pre ref={shown} className={format === 'text' ? css.words : css.source}>
        {text === '' ? 'No speech was recognised.' : text}
      </pre>
      {url === null ? null : (
        <div>
          <a className={buttonClass()} href={url} download={`transcript.${ending}`}>
            <Download size={14} aria-hidden="true" /> Download {ending}
          </a>
        </div>
      )}
      <ResponseLine meta={meta} />
    </Card>
  );
}

function SoundFile(props: { file: File | null; onFile: (file: File) => void }): ReactElement {
  const id = useId();
  const url = useObjectUrl(props.file);
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        Audio file
      </label>
      <input
        id={id}
        type="file"
        accept="audio/*,video/webm,video/mp4,.wav,.mp3,.flac,.ogg,.opus,.m4a,.webm"
        className={`${field.input} ${css.file}`}
        aria-describedby={`${id}-help`}
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) props.onFile(file);
        }}
      />
      <p id={`${id}-help`} className={field.help}>
        {props.file === null
          ? 'wav, mp3, flac, ogg, m4a or webm, up to 200 MiB.'
          : `${props.file.name}, ${count(Math.ceil(props.file.size / 1024))} KiB.`}
      </p>
      {url === null ? null : (
        // biome-ignore lint/a11y/useMediaCaption: the transcript is the result of this page
        <audio className={css.player} controls src={url} aria-label="Playback of the recording" />
      )}
    </div>
  );
}

/** The transcription mode: turns speech into text. */
export function Transcription(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('transcription', at.model);
  const [file, setFile] = useState(chosen);
  const take = (next: File): void => {
    chosen = next;
    setFile(next);
  };
  const requestFields = {
    model: models.id,
    response_format: at.format,
    ...definedFields({ language: at.language.trim() }),
  } as Record<string, string>;
  return (
    <ModePage
      ability="transcription"
      models={models}
      onModel={(model) => fields.set({ model })}
      about="Transcribe a file or a recording."
      codeOf={(language, place) => transcriptionCode(language, place, requestFields)}
    >
      <ModeForm
        job={job}
        state={state}
        verb="Transcribe"
        lacks={models.lacks ?? (file === null ? 'Choose a file or make a recording.' : null)}
        onSend={() => {
          if (file !== null) void job.run((signal) => transcribe(file, requestFields, signal));
        }}
      >
        <SoundFile file={file} onFile={take} />
        <Recorder onFile={take} />
        <div className={form.row}>
          <Choice
            label="Format"
            value={at.format}
            choices={FORMATS}
            onChange={(format) => fields.set({ format })}
          />
          <TextInput
            label="Spoken language"
            value={at.language}
            placeholder="Auto-detect"
            help="A code such as en or de, for multilingual models."
            onChange={(language) => fields.set({ language })}
          />
        </div>
      </ModeForm>
      {state.result === null ? null : <Transcript result={state.result} />}
    </ModePage>
  );
}
