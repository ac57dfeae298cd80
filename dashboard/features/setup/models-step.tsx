import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { SetupChoiceView, SetupView } from '../../../daemon/contract/setup.ts';
import { speedFeeling, speedText } from '../../../daemon/contract/speed-text.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { byteSize, count } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FilePath } from './file-path.tsx';
import { Folders } from './folders.tsx';
import css from './setup.module.css';
import {
  CHOICES,
  downloadOf,
  isClosed,
  itemFacts,
  leftOutSentences,
  machineSentences,
  PURPOSES,
  workBadge,
} from './setup-words.ts';
import { Step } from './step.tsx';
import { useApply, useProbe } from './use-setup.ts';
import { WorkList } from './work-list.tsx';

type Machine = NonNullable<SetupView['hardware']>;
type ModelSet = NonNullable<SetupView['set']>;

function Found(props: { machine: Machine }): ReactElement {
  const probe = useProbe();
  return (
    <>
      <ul className={css.found} aria-label="Detected hardware">
        {machineSentences(props.machine).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <div>
        <Button busy={probe.isPending} onClick={() => probe.mutate()}>
          Rescan
        </Button>
      </div>
      {probe.isError ? <Failure error={probe.error} /> : null}
    </>
  );
}

function SetItem(props: {
  item: ModelSet['items'][number];
  machine: Machine;
  on: boolean;
  onChange: (on: boolean) => void;
}): ReactElement {
  const { item } = props;
  return (
    <li>
      <label className={css.item}>
        <input
          type="checkbox"
          checked={props.on}
          onChange={(event) => props.onChange(event.target.checked)}
        />
        <span>
          <span className={css.itemHead}>
            <b>{PURPOSES[item.purpose]}</b>
            <span>{item.name}</span>
          </span>
          <span className={css.soft}>{item.note}</span>
          <span className={css.soft}>{itemFacts(item, props.machine)}</span>
          {item.smaller_window && item.context !== null ? (
            <span className={css.soft}>
              Context limited to {count(item.context)} tokens to fit in memory.
            </span>
          ) : null}
        </span>
      </label>
    </li>
  );
}

/** The size of the chat model: smaller ones answer faster, larger ones better. */
function ChatSize(props: {
  set: ModelSet;
  size: SetupChoiceView['id'];
  onChange: (size: SetupChoiceView['id']) => void;
}): ReactElement {
  return (
    <fieldset className={css.set}>
      <legend>Size of the chat model</legend>
      <ul>
        {props.set.chat.map(({ id, item }) => (
          <li key={id}>
            <label className={css.item}>
              <input
                type="radio"
                name="chat-size"
                checked={props.size === id}
                onChange={() => props.onChange(id)}
              />
              <span>
                <span className={css.itemHead}>
                  <b>{CHOICES[id]}</b>
                  <span>{item.name}</span>
                </span>
                <span className={css.soft}>
                  {byteSize(item.size_bytes)}
                  {item.speed === undefined ? '' : ` · ${speedText(item.speed)}, ${speedFeeling(item.speed)}`}
                </span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

/** A small model for a first try. Renders nothing when slot agent has a model. */
function QuickStart(props: { set: ModelSet }): ReactElement | null {
  const item = props.set.quick_start;
  const apply = useApply();
  if (item === null) return null;
  return (
    <Note tone="idle">
      <p>
        <b>Quick start:</b> {item.name} ({byteSize(item.size_bytes)}) is usable within a minute. It is a first
        try, not a recommendation; you can choose a better model afterwards.
      </p>
      <p>
        <Button
          busy={apply.isPending}
          onClick={() => apply.mutate({ models: [{ slot: item.slot, model: item.model }] })}
        >
          Try {item.name} first
        </Button>
      </p>
      {apply.isError ? <Failure error={apply.error} /> : null}
    </Note>
  );
}

function DiskLine(props: { bytes: number; set: ModelSet }): ReactElement {
  const { disk_free_bytes: free, disk_kept_bytes: reserve } = props.set;
  const short = free !== null && props.bytes > free - reserve;
  const freeSpace = free === null ? '' : ` ${byteSize(free)} free on disk.`;
  return (
    <p>
      {props.bytes === 0 ? 'Nothing to download.' : `Total download: ${byteSize(props.bytes)}.${freeSpace}`}
      {short ? ` Not enough disk space: ${byteSize(reserve)} must stay free. Deselect a model.` : ''}
    </p>
  );
}

function RecommendedSet(props: { set: ModelSet; machine: Machine }): ReactElement {
  const { set, machine } = props;
  const [without, setWithout] = useState<ReadonlySet<string>>(new Set());
  const [size, setSize] = useState<SetupChoiceView['id']>('best');
  const apply = useApply();
  const chat = set.chat.find(({ id }) => id === size)?.item;
  const items = set.items.map((item) => (item.purpose === 'chat' ? (chat ?? item) : item));
  const chosen = items.filter(({ slot }) => !without.has(slot));
  // By slot: the chosen chat model may also be recommended for small tasks.
  const toggle = (slot: string, on: boolean): void => {
    const next = new Set(without);
    if (on) next.delete(slot);
    else next.add(slot);
    setWithout(next);
  };
  const begin = (): void =>
    apply.mutate({
      models: chosen.map(({ slot, model }) => ({ slot, model })),
      steps: { models: 'done' },
    });
  return (
    <>
      {set.chat.length < 2 ? null : <ChatSize set={set} size={size} onChange={setSize} />}
      <fieldset className={css.set}>
        <legend>Recommended for this machine</legend>
        <ul>
          {items.map((item) => (
            <SetItem
              key={item.slot}
              item={item}
              machine={machine}
              on={!without.has(item.slot)}
              onChange={(on) => toggle(item.slot, on)}
            />
          ))}
        </ul>
      </fieldset>
      {leftOutSentences(set.left_out).map((sentence) => (
        <p key={sentence} className={css.soft}>
          {sentence}
        </p>
      ))}
      <DiskLine bytes={downloadOf(chosen)} set={set} />
      <p className={css.soft}>
        All of these fit into three quarters of the memory at the same time. Sizes and speeds are approximate
        (list of {set.as_of}). By downloading a model you accept its licence (see its Hugging Face page).
      </p>
      {apply.isError ? <Failure error={apply.error} /> : null}
      <div>
        <Button variant="main" busy={apply.isPending} disabled={chosen.length === 0} onClick={begin}>
          {chosen.length === 1
            ? 'Download and start this model'
            : `Download and start these ${chosen.length} models`}
        </Button>
      </div>
    </>
  );
}

function Empty(props: { set: ModelSet }): ReactElement {
  return (
    <Note tone="idle">
      {props.set.left_out.length === 0 ? (
        <p>You have a model for every task.</p>
      ) : (
        leftOutSentences(props.set.left_out).map((sentence) => <p key={sentence}>{sentence}</p>)
      )}
    </Note>
  );
}

const isOffline = ({ error }: SetupView['work'][number]): boolean => error?.code === 'pull.hub_unreachable';

function Offline(props: { demo: boolean }): ReactElement {
  return (
    <Note tone="attention">
      <p>
        This machine can’t reach the model hub, so nothing can be downloaded now. Everything else works: add a
        model file that you copied here
        {props.demo ? ', or try the built-in demo model.' : '.'} If you use a mirror, set{' '}
        <code>HF_ENDPOINT</code> in <code>api.env</code>.
      </p>
      {props.demo ? (
        <p>
          <Link className={buttonClass()} href="/playground">
            Try the demo model
          </Link>
        </p>
      ) : null}
    </Note>
  );
}

/** The models step: detected hardware, recommended models, and models of other programs. */
export function ModelsStep(props: { view: SetupView; number: number }): ReactElement {
  const { view } = props;
  const state = view.steps.find(({ id }) => id === 'models')?.state ?? 'open';
  const hasEverything = view.set !== null && view.set.items.length === 0 && view.set.left_out.length === 0;
  return (
    <Step
      id="models"
      number={props.number}
      title="Models for this machine"
      state={state}
      progress={workBadge(view.work) ?? (hasEverything ? { tone: 'ok', word: 'Done' } : null)}
      summary={
        view.work.length === 0 ? undefined : (
          <>
            {view.work.some(isOffline) ? <Offline demo={!view.real_model && !isClosed(view)} /> : null}
            <WorkList work={view.work} />
          </>
        )
      }
    >
      {view.hardware === null || view.set === null ? (
        <Skeleton lines={4} what="hardware" />
      ) : (
        <>
          <Found machine={view.hardware} />
          <QuickStart set={view.set} />
          {view.set.items.length === 0 ? (
            <Empty set={view.set} />
          ) : (
            <RecommendedSet set={view.set} machine={view.hardware} />
          )}
        </>
      )}
      <Folders view={view} />
      {isClosed(view) ? null : <FilePath />}
    </Step>
  );
}
