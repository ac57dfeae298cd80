import { type ReactElement, useId, useState } from 'react';
import {
  MAX_SENT_WORKFLOW_BYTES,
  parseWorkflow,
  proposeMapping,
  WORKFLOW_FILE_NAME,
  WORKFLOW_INPUTS,
  type WorkflowGraph,
  type WorkflowInput,
  type WorkflowMapping,
  workflowCandidates,
} from '../../../daemon/contract/workflow.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CheckBox } from '../../ui/check-box.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { Choice, TextInput } from '../../ui/inputs.tsx';
import { Note } from '../../ui/note.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import css from './slots.module.css';
import { useSlotAction } from './use-slot-action.ts';

/** Drawing may take as long as the gateway permits. */
const DRAW_LIMIT_MS = 610_000;

const LABELS: Record<WorkflowInput, string> = {
  prompt: 'Prompt',
  negative_prompt: 'Negative prompt',
  seed: 'Seed',
  steps: 'Steps',
  cfg: 'Guidance (cfg)',
  width: 'Width',
  height: 'Height',
  n: 'Number of images',
};

/** A file that was read, or why it cannot be used. */
type ReadFile =
  | { readonly name: string; readonly graph: WorkflowGraph }
  | { readonly name: string; readonly fault: string };

async function readWorkflow(file: File): Promise<ReadFile> {
  const { name } = file;
  if (file.size > MAX_SENT_WORKFLOW_BYTES)
    return {
      name,
      fault: `It is larger than ${MAX_SENT_WORKFLOW_BYTES / 1024} KiB. Put it beside the slot file and name it there.`,
    };
  try {
    return { name, graph: parseWorkflow(await file.text()) };
  } catch (error) {
    return { name, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns a permitted file name that is like the name of the chosen file. */
function fileNameOf(name: string): string {
  const stem = name
    .replace(/\.json$/i, '')
    .replace(/[^\w. -]+/g, '_')
    .replace(/^[^A-Za-z0-9_]+/, '');
  return `${stem.slice(0, 100) || 'workflow'}.json`;
}

const listOf = (targets: readonly string[] | undefined): string => (targets ?? []).join(', ');

function Mapping(props: {
  graph: WorkflowGraph;
  inputs: WorkflowMapping;
  onChange: (inputs: WorkflowMapping) => void;
}): ReactElement {
  const { graph, inputs, onChange } = props;
  const proposed = proposeMapping(graph);
  return (
    <fieldset className={css.mapping}>
      <legend>Inputs that take the settings of a request</legend>
      {WORKFLOW_INPUTS.map((name) => {
        const found = workflowCandidates(graph, name).map(
          ({ target, node }) => [target, `${node}: ${target}`] as const,
        );
        const several =
          (proposed[name] ?? []).length > 1
            ? [[listOf(proposed[name]), listOf(proposed[name])] as const]
            : [];
        return (
          <Choice
            key={name}
            label={LABELS[name]}
            value={listOf(inputs[name])}
            choices={[['', name === 'prompt' ? 'Choose an input' : 'As in the file'], ...several, ...found]}
            onChange={(value) => onChange({ ...inputs, [name]: value === '' ? [] : value.split(', ') })}
          />
        );
      })}
    </fieldset>
  );
}

function TestImage(props: { slot: string }): ReactElement {
  const [prompt, setPrompt] = useState('a lighthouse at dusk');
  const draw = useAction({
    send: (text: string) =>
      call(
        'v1.images',
        { body: { model: props.slot, prompt: text, response_format: 'b64_json' } },
        DRAW_LIMIT_MS,
      ),
  });
  const [row] = draw.data?.data ?? [];
  return (
    <section aria-label="Test image" className={css.mapping}>
      <TextInput label="Prompt of the test image" value={prompt} onChange={setPrompt} />
      <div className={dialog.actions}>
        <Button disabled={prompt.trim() === ''} busy={draw.isPending} onClick={() => draw.mutate(prompt)}>
          Draw test image
        </Button>
      </div>
      {draw.error === null ? null : <Failure error={draw.error} />}
      {row !== undefined && 'b64_json' in row ? (
        <img className={css.testImage} alt={prompt} src={`data:image/png;base64,${row.b64_json}`} />
      ) : null}
    </section>
  );
}

function ChooseFile(props: { onRead: (read: ReadFile) => void }): ReactElement {
  const id = useId();
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        Workflow file
      </label>
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        aria-describedby={`${id}-help`}
        // A browser does not report the choice of the same file again, which may have changed.
        onClick={(event) => {
          event.currentTarget.value = '';
        }}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file !== undefined) void readWorkflow(file).then(props.onRead);
        }}
      />
      <p id={`${id}-help`} className={field.help}>
        In ComfyUI: Workflow, then Export (API).
      </p>
    </div>
  );
}

/** Sets the workflow of a ComfyUI slot: reads the file, proposes its inputs, saves both, and draws a test image. */
export function WorkflowSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const [read, setRead] = useState<ReadFile | null>(null);
  const [file, setFile] = useState('');
  const [inputs, setInputs] = useState<WorkflowMapping>({});
  const [replace, setReplace] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const save = useSlotAction('slot.workflow', () => setSaved(true));
  const graph = read !== null && 'graph' in read ? read.graph : null;
  const isNamed = WORKFLOW_FILE_NAME.test(file);
  const hasPrompt = (inputs.prompt ?? []).length > 0;
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setSaved(false);
      set(value);
    };
  const onRead = (next: ReadFile) => {
    setSaved(false);
    save.reset();
    setRead(next);
    setFile(fileNameOf(next.name));
    const found = 'graph' in next ? proposeMapping(next.graph) : {};
    setInputs(Object.fromEntries(WORKFLOW_INPUTS.map((name) => [name, found[name] ?? []])));
  };
  return (
    <Sheet title={`Workflow of slot ${slot.name}`} onClose={onClose}>
      <ChooseFile onRead={onRead} />
      {read !== null && 'fault' in read ? (
        <Note tone="attention">
          <p role="alert">
            {read.name}: {read.fault}
          </p>
        </Note>
      ) : null}
      {graph === null ? null : (
        <>
          <TextInput
            label="Name beside the slot file"
            exact
            value={file}
            error={isNamed ? undefined : 'Use letters, digits, spaces, dots, - and _, and end with .json.'}
            onChange={change(setFile)}
          />
          <CheckBox on={replace} onChange={setReplace}>
            Replace a file of this name
          </CheckBox>
          <Mapping graph={graph} inputs={inputs} onChange={change(setInputs)} />
          {hasPrompt ? null : (
            <Note tone="attention">
              <p role="alert">No input takes the prompt. Choose one.</p>
            </Note>
          )}
          {save.error === null ? null : <Failure error={save.error} />}
          {isSaved ? (
            <Note tone="ok">
              <p role="status">
                Saved. Requests for <code>{slot.name}</code> use this workflow.
              </p>
            </Note>
          ) : null}
          <div className={dialog.actions}>
            <Button onClick={onClose}>Close</Button>
            <Button
              variant="main"
              disabled={!isNamed || !hasPrompt || isSaved}
              busy={save.isPending}
              onClick={() =>
                save.mutate({ name: slot.name, body: { file, workflow: graph, inputs, replace } })
              }
            >
              Save workflow
            </Button>
          </div>
          {isSaved ? <TestImage slot={slot.name} /> : null}
        </>
      )}
    </Sheet>
  );
}
